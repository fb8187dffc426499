"""Tries a model's solutions on this machine: builds them, and runs visible tests or a function's sample call."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from threading import Event

from podium.evaluation.hardware import local_hardware
from podium.evaluation.inputs import skip_reason
from podium.evaluation.judges import local_judges
from podium.evaluation.run import TRIES, limits_of
from podium.generation.errors import CannotGenerate, TrialFailed
from podium.generation.held_out import stand_ins, without_held_out
from podium.generation.outcomes import TrialEnding, TrialOutcome, trimmed
from podium.generation.turns import SolutionToTry
from problems.formats.compute_eval.packs import PackRecord
from problems.spec.command.problem import CommandProblem
from problems.spec.hardware import Hardware
from problems.spec.kinds import SITE_KINDS
from problems.spec.record import ProblemRecord, SolutionRules
from problems.spec.solution import FileSolution
from runners.agent.devices.gpus import UnknownGpu
from runners.agent.devices.tool import ToolUnavailable
from runners.agent.ground.errors import Cancelled, SandboxFault, SandboxUnavailable, UnusableProblem
from runners.agent.ground.events import Progress
from runners.agent.ground.locks import Once
from runners.agent.job.building import printed_by
from runners.agent.job.job import BuildPolicy, Job, why_invalid
from runners.agent.job.toolchain import cores
from runners.agent.judges.registry import Judges
from runners.agent.judges.report import Finished
from runners.wire.job import JobPurpose, JobRules, Sides
from runners.wire.protocol import Audience, CaseReport, Verdict

NOT_RUN = frozenset({Verdict.INVALID, Verdict.SOURCE_REFERENCE_MISSING})
"""Verdicts that the judge reaches before anything runs."""
REFERENCE_FAILS = "The problem's own reference does not pass a trial."


@dataclass(frozen=True)
class _Problem:
    """A problem that can be tried, whole and as trials see it."""

    whole: ProblemRecord
    seen: ProblemRecord

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.seen.to_line()).hexdigest()

    @cached_property
    def rules(self) -> SolutionRules:
        return self.whole.rules()

    @property
    def withheld(self) -> tuple[str, ...]:
        """Paths that a run is not given."""
        standing_in = stand_ins(self.whole) if isinstance(self.whole, CommandProblem) else ()
        return tuple(sorted({*(self.whole.withheld or ()), *(file.path for file in standing_in)}))


class Trials:
    """Several threads may try solutions at once, while `open` holds."""

    def __init__(self, records: Mapping[str, PackRecord], sandbox: str | None, at_a_time: int | None) -> None:
        self.at_a_time = at_a_time or cores()
        self._sandbox = sandbox
        self._hardware = local_hardware()
        self.why_not = {task: why for task, one in records.items() if (why := _why_not(one, self._hardware))}
        """Reasons why problems cannot be tried here, by task_id."""
        triable = {task: one.problem for task, one in records.items() if task not in self.why_not}
        self._problems = {task: _Problem(one, without_held_out(one)) for task, one in triable.items()}
        self._references: Once[str, bool] = Once(len(records))
        self._cancelled = Event()
        self._judges: Judges | None = None

    @property
    def digests(self) -> dict[str, str]:
        """Digests of everything an outcome depends on besides the solution, for each problem that can be tried."""
        machine = [self._sandbox, repr(self._hardware)]
        parts = {task: json.dumps([one.sha256, *machine]).encode() for task, one in self._problems.items()}
        return {task: hashlib.sha256(part).hexdigest() for task, part in parts.items()}

    @contextmanager
    def open(self) -> Iterator[None]:
        """Raises CannotGenerate where this machine lacks the sandbox."""
        with ExitStack() as stack:
            try:
                self._judges = stack.enter_context(local_judges(self._sandbox, self.at_a_time, bounded=False))
            except (SandboxUnavailable, ToolUnavailable, UnknownGpu) as error:
                raise CannotGenerate(str(error)) from error
            yield

    def stop(self) -> None:
        """End the trials that run, and begin no more."""
        self._cancelled.set()

    def outcome_of(self, attempt: SolutionToTry) -> TrialOutcome | None:
        """Waits for the trial's outcome; None after `stop`. Raises TrialFailed for a fault of this machine."""
        problem = self._problems[attempt.task_id]
        try:
            found = self._judged(problem, attempt.solution, why_invalid(problem.whole, attempt.solution, problem.rules))
            verdict = found.report.verdict
            if verdict is Verdict.PASSED:
                return TrialOutcome(TrialEnding.PASSED, verdict.value)
            if verdict not in NOT_RUN and not self._reference_passes(problem):
                return TrialOutcome(TrialEnding.UNTRIED, reason=REFERENCE_FAILS)
        except UnusableProblem as error:
            return TrialOutcome(TrialEnding.UNTRIED, reason=str(error))
        except Cancelled:
            return None
        return TrialOutcome(TrialEnding.FAILED, verdict.value, trimmed(found.report.reason), trimmed(_output(found)))

    def _reference_passes(self, problem: _Problem) -> bool:
        """Whether a trial can be passed at all: some builds need a held-out file."""
        reference = problem.whole.reference
        if not isinstance(reference, FileSolution):
            return True

        def passes() -> bool:
            return self._judged(problem, reference, "").report.verdict is Verdict.PASSED

        return self._references.get(problem.whole.task_id, passes, self._cancelled)

    def _judged(self, problem: _Problem, solution: FileSolution, invalid_reason: str) -> Finished:
        assert self._judges, "the trials are open"
        if self._cancelled.is_set():
            raise Cancelled
        job = self._job(self._judges, problem, solution, invalid_reason)
        for left in reversed(range(TRIES)):
            try:
                return self._judges.judge(job, Progress(cancelled=self._cancelled))
            except (SandboxFault, OSError) as error:
                if self._cancelled.is_set():
                    raise Cancelled from error
                if not left:
                    words = f"{problem.whole.task_id} could not be tried: {type(error).__name__}: {error}"
                    raise TrialFailed(words) from error
        raise AssertionError("unreachable: the last try returns or raises")

    def _job(self, judges: Judges, problem: _Problem, solution: FileSolution, invalid_reason: str) -> Job:
        capability = self._hardware.compute_capability
        return Job(
            problem=problem.seen,
            problem_sha256=problem.sha256,
            solution=solution,
            rules=JobRules(
                purpose=JobPurpose.SAMPLE,
                sides=Sides.NONE,
                limits=limits_of(problem.whole),
                withheld=problem.withheld,
            ),
            image=judges.environment.image_for(""),
            build_policy=BuildPolicy.for_capability(f"{capability[0]}.{capability[1]}" if capability else ""),
            invalid_reason=invalid_reason,
            tenant="trials",
        )


def _why_not(record: PackRecord, hardware: Hardware) -> str:
    """Returns the reason why a problem cannot be tried on this machine, or "". Whether a build alone works is seen
    when it is tried."""
    problem = record.problem
    if problem.kind in SITE_KINDS:
        return "questions are not tried"
    if not isinstance(problem, CommandProblem) or problem.trial_runs_tests:
        reason = skip_reason(record, hardware)
        return f"this machine cannot run them: each {reason}" if reason else ""
    nothing = not problem.build_command or printed_by(problem.build_command) is not None
    return "nothing is built and no test is visible" if nothing else ""


def _output(found: Finished) -> str:
    """The output of the last command, and the details of a function's cases for their author."""
    parts = [_case(one) for one in found.report.cases]
    if found.report.steps:
        log = found.report.steps[-1].log
        parts.append(found.blobs[log.blob.sha256].decode() if log.blob else log.text)
    return "\n".join(text for part in parts if (text := part.strip("\n")))


def _case(case: CaseReport) -> str:
    shown = [f"{one.name}: {one.value}" for one in case.fields if one.audience is Audience.TEAM]
    return "\n".join([f"Case {case.name}: {case.verdict.value}", *shown])
