"""What the pipeline is asked to do and what it hands back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Event
from typing import Protocol

from problems.formats.compute_eval.timing import PerformanceMetrics
from problems.spec.problem import CommandProblem
from problems.spec.solution import FileSolution, PatchSolution, Solution, SourceFile
from problems.spec.workspace_rules import WorkspaceRules
from runners.agent.nvcc import AS_WRITTEN, BuildPolicy
from runners.agent.slots import ANYWHERE, Place
from runners.agent.workspace import normal_path
from runners.protocol import Profiler, Report, ResourceLimits, Stage, TimingPolicy, WorkStage

PATCH_REFUSED = "a patch cannot be graded: send whole files (type `file`)"
PLAIN_MODES = frozenset({"process", "custom"})
"""Timing modes that need no profiler."""


class Watcher(Protocol):
    """Told how the work goes; asked whether to stop."""

    cancelled: Event

    def enter(self, stage: WorkStage) -> None:
        """The work has reached this stage."""
        ...

    def output(self, chunk: bytes) -> None:
        """The build printed this."""
        ...


class Unwatched:
    """A watcher that nobody looks at."""

    def __init__(self, cancelled: Event | None = None) -> None:
        self.cancelled = cancelled or Event()

    def enter(self, stage: WorkStage) -> None:
        pass

    def output(self, chunk: bytes) -> None:
        pass


@dataclass(frozen=True)
class Subject:
    """One solution to one problem, and what its commands run with."""

    problem: CommandProblem
    problem_sha256: str
    files: tuple[SourceFile, ...]
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    build_only: tuple[str, ...] = ()
    image: str = ""
    build_policy: BuildPolicy = AS_WRITTEN
    place: Place = ANYWHERE
    trusted: bool = False
    """Whether the files are the problem's own reference: what its build leaves in shared caches may be believed."""

    @cached_property
    def inputs(self) -> dict[str, bytes]:
        """All files by path, in ComputeEval's order: context, tests, solution; a later one replaces an earlier."""
        own = [*self.problem.context_files, *self.problem.test_files]
        files = {normal_path(file.path): file.content.encode() for file in own}
        return files | {file.path: file.content.encode() for file in self.files}

    @property
    def run_inputs(self) -> dict[str, bytes]:
        """What a run finds: all but the files needed only to build."""
        withheld = frozenset(map(normal_path, self.build_only))
        return {path: content for path, content in self.inputs.items() if path not in withheld}

    @property
    def test_paths(self) -> frozenset[str]:
        return frozenset(normal_path(file.path) for file in self.problem.test_files)

    @property
    def reference(self) -> "Subject | None":
        """The same with the problem's own reference solution."""
        baseline = self.problem.baseline_solution
        return replace(self, files=tuple(baseline.files), trusted=True) if isinstance(baseline, FileSolution) else None

    @property
    def shared_key(self) -> tuple[object, ...]:
        """Equal where the reference need not be built and tested again."""
        return self.problem_sha256, self.build_only, self.image, self.build_policy, self.limits.model_dump_json()


@dataclass(frozen=True)
class Task:
    """One attempt's work. Where `skip_reason` or `invalid_reason` is set, nothing runs."""

    subject: Subject
    skip_reason: str = ""
    invalid_reason: str = ""
    stage: Stage = Stage.BOTH
    timing_policy: TimingPolicy = TimingPolicy.QUICK
    profiler: Profiler = Profiler.NONE
    timed_modes: frozenset[str] = PLAIN_MODES
    try_withholding: tuple[str, ...] = ()
    needs_baseline: bool = True
    artefact: bytes | None = None
    artefact_key: str = ""
    devices: tuple[str, ...] = ()
    """GPUs, by UUID, of the kind that its track is for; empty: any."""
    tenant: str = ""
    """Whose submission this is: a GPU is scrubbed between tenants."""


def why_invalid(problem: CommandProblem, solution: Solution, rules: WorkspaceRules | None = None) -> str:
    """Why a solution may not be graded, or ""; `rules` saves working them out for every sample."""
    if solution.task_id != problem.task_id:
        return f"the solution is for task `{solution.task_id}`, not `{problem.task_id}`"
    if isinstance(solution, PatchSolution):
        return PATCH_REFUSED
    return (rules or WorkspaceRules.of(problem)).why_bad(solution.files)


def files_of(solution: Solution) -> tuple[SourceFile, ...]:
    """A solution's files; of a path given twice the last counts. A patch has none."""
    if isinstance(solution, PatchSolution):
        return ()
    return tuple({file.path: file for file in solution.files}.values())


@dataclass(frozen=True)
class Outputs:
    """What a graded row needs beyond the report: texts as ComputeEval makes them, times in milliseconds."""

    build: str | None = None
    test: str | None = None
    benchmark_error: str | None = None
    solution_ms: float | None = None
    solution_metrics: PerformanceMetrics | None = None
    baseline_ms: float | None = None
    baseline_metrics: PerformanceMetrics | None = None
    baseline_error: str | None = None
    """Set where the baseline's own benchmark failed: no sample of this problem has a time then."""


@dataclass(frozen=True)
class Finished:
    """A report, the blobs that it names, and the outputs in full."""

    report: Report
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    outputs: Outputs = field(default_factory=Outputs)


def missing_files(subject: Subject, withheld: Sequence[str]) -> Subject:
    """The same, with more files withheld from runs."""
    return replace(subject, build_only=tuple(dict.fromkeys([*subject.build_only, *withheld])))
