"""The result of every judge, as plain values, and the stages that judges of all kinds share."""

from dataclasses import dataclass
from typing import Protocol

from problems.formats.compute_eval.timing import PerformanceMetrics
from runners.agent.ground.events import Progress
from runners.agent.job.artefact import EMPTY
from runners.agent.job.build_cache import Build
from runners.agent.job.building import BuildOrder, build, why_out_of_time
from runners.agent.job.environment import NodeEnvironment
from runners.agent.job.job import Job
from runners.agent.judges.texts import how_it_ended
from runners.agent.sandbox.policy import Outcome
from runners.wire.protocol import CaseReport, FlagScope, MeasurementReport, Stage, Verdict, Witness


@dataclass(frozen=True)
class Step:
    """One finished command of the solution."""

    name: str
    ended: Outcome | Build
    limit_seconds: float


@dataclass(frozen=True)
class Finding:
    """An observation about a result that a person should review: a flag's code and its text."""

    code: str
    detail: str
    scope: FlagScope = FlagScope.TIME


@dataclass(frozen=True)
class Ending:
    """A verdict and its reason."""

    verdict: Verdict = Verdict.PASSED
    reason: str = ""

    @property
    def has_passed(self) -> bool:
        return self.verdict is Verdict.PASSED


PASSED = Ending()


@dataclass(frozen=True)
class Texts:
    """The further fields of a row in ComputeEval's graded file, worded as ComputeEval does. Times are milliseconds."""

    build: str | None = None
    test: str | None = None
    benchmark_error: str | None = None
    solution_ms: float | None = None
    solution_metrics: PerformanceMetrics | None = None
    baseline_ms: float | None = None
    baseline_metrics: PerformanceMetrics | None = None
    baseline_error: str | None = None
    """Set if the baseline's own benchmark failed. Then no sample of this problem has a time."""


NO_TEXTS = Texts()


@dataclass(frozen=True)
class Judgement:
    """The result of a job."""

    ending: Ending
    steps: tuple[Step, ...] = ()
    measurements: tuple[MeasurementReport, ...] = ()
    cases: tuple[CaseReport, ...] = ()
    """Verdicts of single cases, if the kind of problem has several."""
    findings: tuple[Finding, ...] = ()
    witness: Witness = Witness.UNAVAILABLE
    device: str = ""
    """UUID of the GPU that ran the job."""
    build: Build | None = None
    """The solution's build. Its product is sent to the site if the job asked only for the build."""
    profiler: str = ""
    """Name and version of the timer."""
    profile: bytes | None = None
    """The profiler's own report."""
    listing: bytes | None = None
    """The machine code of the solution's program as gzipped text."""
    withheld: tuple[str, ...] | None = None
    """If the job's rules name no withheld files: those that runs did not see, because the reference passes without."""
    texts: Texts = NO_TEXTS


class Judge(Protocol):
    """Judges solutions to problems of one kind on this node. Several threads may call it at once."""

    def judge(self, job: Job, progress: Progress) -> Judgement:
        """Judge one solution.

        Raises Cancelled, SandboxFault if the sandbox failed, UnusableProblem and ProfilerUnavailable if the job cannot
        be done here. None of these is the contestant's fault.
        """
        ...


def refusal(job: Job) -> Ending:
    """The end of a job for which nothing needs to run; `PASSED` for any other."""
    if job.skip_reason:
        return Ending(Verdict.SKIPPED, f"The problem {job.skip_reason}.")
    return Ending(Verdict.INVALID, job.invalid_reason) if job.invalid_reason else PASSED


@dataclass(frozen=True)
class Built:
    """A built solution, or the end of its build."""

    product: bytes = EMPTY
    build: Build | None = None
    """None if nothing was built here."""
    steps: tuple[Step, ...] = ()
    ending: Ending = PASSED


def built_by(environment: NodeEnvironment, job: Job, order: BuildOrder | None, progress: Progress) -> Built:
    """Build the solution, or take the product of another node's build. `order` is None if nothing is to be built.

    Raises as `build`.
    """
    if order is None or job.rules.stage is Stage.RUN:
        return Built(job.product or EMPTY)
    found = build(environment, order, progress)
    late = why_out_of_time(environment, order, found) if found.timed_out else ""
    memory_bytes = job.rules.limits.memory_bytes
    ending = PASSED if found.succeeded else failure("build", found, late, memory_bytes, Verdict.BUILD_FAILED)
    return Built(found.product, found, (Step("build", found, order.seconds),), ending)


def failure(step: str, ended: Outcome | Build, late: str, memory_bytes: int, verdict: Verdict) -> Ending:
    """The end by a failed command. `late` names the time limit that it reached; `verdict` is for all other ends."""
    if ended.timed_out:
        return Ending(Verdict.TIMED_OUT, f"The {step} did not end {late}.")
    if ended.memory_exceeded:
        return Ending(Verdict.MEMORY_EXCEEDED, f"The {step} used more than {memory_bytes >> 20} MiB of memory.")
    return Ending(verdict, f"The {step} {how_it_ended(ended)}.")
