"""The judges of a node by kind of problem. A new kind adds its folder and one line here."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from runners.agent.ground.errors import UnusableProblem
from runners.agent.ground.events import Progress
from runners.agent.job.environment import NodeEnvironment
from runners.agent.job.job import Job
from runners.agent.judges.command.judge import CommandJudge
from runners.agent.judges.function.judge import FunctionJudge
from runners.agent.judges.judgement import Judge
from runners.agent.judges.report import Finished, finished

KINDS: Mapping[str, Callable[[NodeEnvironment], Judge]] = {"command": CommandJudge, "function": FunctionJudge}


class Judges:
    """Judges samples on one machine. Several threads may call it at once."""

    def __init__(self, environment: NodeEnvironment) -> None:
        self.environment = environment
        self._judges = {kind: make(environment) for kind, make in KINDS.items()}

    def judge(self, job: Job, progress: Progress | None = None) -> Finished:
        """Judge one solution and return its report. Raises as `Judge.judge`, and UnusableProblem for unknown kinds.

        A problem with values that no machine can keep is skipped: the next attempt would meet them, too.
        """
        judge = self._judges.get(job.problem.kind)
        if judge is None:
            raise UnusableProblem(f"this node cannot judge problems of kind {job.problem.kind!r}; update it")
        started_at = datetime.now(UTC)
        if unusable := job.problem.unusable:
            job = replace(job, skip_reason=job.skip_reason or unusable)
        judgement = judge.judge(job, progress or Progress())
        return finished(judgement, job, self.environment, started_at)
