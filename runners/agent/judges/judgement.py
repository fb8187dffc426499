"""The input and the result of every judge. Both are plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from problems.formats.compute_eval.timing import PerformanceMetrics
from problems.spec.record import ProblemRecord
from problems.spec.solution import Solution
from runners.agent.ground.events import Progress
from runners.agent.job.build_cache import Build
from runners.agent.job.nvcc import AS_WRITTEN, BuildPolicy
from runners.agent.sandbox.policy import Outcome
from runners.wire.protocol import (
    CaseReport,
    FlagScope,
    MeasurementReport,
    Profiler,
    ResourceLimits,
    Stage,
    TimingPolicy,
    Verdict,
    Witness,
)

PLAIN_MODES = frozenset({"process", "custom"})
"""Timing modes that need no profiler."""


@dataclass(frozen=True)
class Assignment:
    """The values of one job: a solution to a problem, and how it is to be judged.

    If `skip_reason` or `invalid_reason` is set, nothing runs.
    """

    problem: ProblemRecord
    problem_sha256: str
    solution: Solution
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    skip_reason: str = ""
    invalid_reason: str = ""
    stage: Stage = Stage.BOTH
    timing_policy: TimingPolicy = TimingPolicy.QUICK
    profiler: Profiler = Profiler.NONE
    timed_modes: frozenset[str] = PLAIN_MODES
    build_only: tuple[str, ...] = ()
    """Files withheld from runs."""
    try_withholding: tuple[str, ...] = ()
    """Used by verification: the judge reports whether the solution also passes without these files."""
    withhold_unneeded: bool = False
    """Used without a site: the test files are withheld from runs if the reference passes without all of them."""
    needs_baseline: bool = True
    timed_cases: tuple[str, ...] | None = None
    """The cases of a function that are timed. None if the first baseline of the problem decides."""
    verifies: bool = False
    """Whether the solution is the problem's reference, which verifies the problem. A function judge then reports which
    wrong answers the problem's check accepts."""
    image: str = ""
    """Image by digest or id for the docker sandbox, as `NodeEnvironment.image_for` gives it."""
    build_policy: BuildPolicy = AS_WRITTEN
    product: bytes | None = None
    """The product of a build on another node; set if this job only tests and times."""
    build_key: str = ""
    """The key of that build."""
    devices: tuple[str, ...] = ()
    """UUIDs of the GPUs that may run the job, all of the track's kind; empty allows any GPU."""
    is_trial: bool = False
    """Whether this is a trial: it builds the solution, runs only the visible tests and times nothing."""
    is_sample: bool = False
    """Whether a function's trial makes only a call of its smallest case and shows that call's values."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Own sizes for a function's trial, by the name of a scalar; empty for those of the smallest case."""
    is_timed: bool = True
    """Whether a command's solution is timed once it passes its test."""
    is_rerun: bool = False
    """Whether the sample has a result already. No failure that this node has kept is used again."""
    tenant: str = ""
    """The owner of the submission. A GPU's memory is scrubbed between tenants."""


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


@dataclass
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


@dataclass
class Judgement:
    """The result of an assignment. A judge fills it in step by step. After it is returned, nothing changes it."""

    verdict: Verdict = Verdict.PASSED
    reason: str = ""
    steps: list[Step] = field(default_factory=list)
    measurements: list[MeasurementReport] = field(default_factory=list)
    cases: list[CaseReport] = field(default_factory=list)
    """Verdicts of single cases, if the kind of problem has several."""
    findings: list[Finding] = field(default_factory=list)
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
    withheld: list[str] | None = None
    """With `try_withholding`, the files without which the solution still passes. With `withhold_unneeded`, the files
    that runs did not see because the reference passes without them."""
    texts: Texts = field(default_factory=Texts)

    def ended(self, verdict: Verdict, reason: str) -> "Judgement":
        """Set the final verdict and its reason; returns the judgement."""
        self.verdict, self.reason = verdict, reason
        return self


class Judge(Protocol):
    """Judges solutions to problems of one kind on this node. Several threads may call it at once."""

    def judge(self, assignment: Assignment, progress: Progress) -> Judgement:
        """Judge one solution.

        Raises Cancelled, SandboxFault if the sandbox failed, UnusableProblem and ProfilerUnavailable if the job cannot
        be done here. None of these is the contestant's fault.
        """
        ...
