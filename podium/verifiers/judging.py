"""Grades single replies on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from podium.evaluation.hardware import local_hardware
from podium.evaluation.inputs import SampleToGrade, read_problems, skip_reason
from podium.evaluation.judges import local_judges
from podium.evaluation.questions import is_question, settled
from podium.evaluation.run import Options, SampleGrader
from podium.generation.asked import of_record
from podium.generation.replies import solution_of
from podium.verifiers.rulings import JudgingFault, Ruling, ruling, without_files
from problems.formats.bounded import DEFAULT_LIMITS
from problems.formats.catalogue import Catalogue
from problems.formats.compute_eval.packs import ProblemPack
from problems.formats.errors import PackRefused
from problems.formats.incoming import SampleJudge
from problems.spec.profile import Profile
from runners.agent.devices.gpus import UnknownGpu
from runners.agent.devices.tool import ToolUnavailable
from runners.agent.ground.errors import Cancelled, SandboxFault, UnusableProblem
from runners.agent.ground.events import Progress
from runners.agent.job.job import BuildPolicy
from runners.agent.sandbox import SandboxUnavailable
from runners.wire.protocol import Profiler, TimingPolicy

GradingRefused = (PackRefused, SandboxUnavailable, ToolUnavailable, UnknownGpu)


class LocalJudge:
    """This machine's judges, as `podium evaluate` uses them, without times."""

    def __init__(self, pack: ProblemPack, grader: SampleGrader, workers: int) -> None:
        strict = pack.profile is Profile.COMPUTE_EVAL
        self.asked = {record.problem.task_id: of_record(record.problem, is_strict=strict) for record in pack.records}
        self.workers = workers
        self._records = {record.problem.task_id: record for record in pack.records}
        self._catalogue = Catalogue.of_pack(pack)
        self._grader = grader
        self._hardware = local_hardware()

    def rule(self, task_id: str, reply: str, finish_reason: str) -> Ruling:
        """Raises JudgingFault."""
        solution = solution_of(self.asked[task_id], reply, finish_reason, "")
        if not solution.files:
            return without_files(solution)
        record = self._records[task_id]
        incoming = SampleJudge(self._catalogue, DEFAULT_LIMITS).of_files(task_id, solution.files)
        sample = SampleToGrade("rollouts", incoming, record, skip_reason(record, self._hardware), "")
        try:
            row = (settled(sample) if is_question(sample) else self._grader.one(sample)).row
        except (SandboxFault, UnusableProblem, OSError, Cancelled) as error:
            raise JudgingFault(f"{type(error).__name__}: {error}") from error
        found = row.podium or {}
        return ruling(found["verdict"], found["reason"], found["flags"])


@contextmanager
def local_judge(problems: Path, sandbox: str | None, workers: int | None) -> Iterator[LocalJudge]:
    """Raises PackRefused, SandboxUnavailable, ToolUnavailable, UnknownGpu."""
    pack = read_problems(problems, [])
    with local_judges(sandbox, workers, bounded=False) as judges:
        capability = local_hardware().compute_capability
        policy = BuildPolicy.for_capability(f"{capability[0]}.{capability[1]}" if capability else "")
        options = Options(TimingPolicy.QUICK, Profiler.NONE, frozenset(), build_policy=policy)
        slots = judges.environment.lanes.run_slots
        yield LocalJudge(pack, SampleGrader(judges, options, slots, Progress()), slots)
