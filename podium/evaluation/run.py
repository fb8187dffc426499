"""Grades samples on several threads, task by task in the pack's order, and returns rows as they become final."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from hashlib import sha256

from podium.evaluation.inputs import SampleToGrade
from podium.evaluation.rows import Graded, TaskRows, graded
from problems.spec.command.problem import CommandProblem
from problems.spec.record import ProblemRecord
from problems.spec.solution import FileSolution
from runners.agent.ground.errors import Cancelled, SandboxFault, UnusableProblem
from runners.agent.ground.events import Progress
from runners.agent.job.job import AS_WRITTEN, BuildPolicy, Job
from runners.agent.judges.registry import Judges
from runners.agent.judges.report import Finished
from runners.agent.profilers import timer_for
from runners.wire.job import JobRules, Sides
from runners.wire.protocol import Profiler, ResourceLimits, TimingPolicy

TRIES = 2
"""Number of attempts per sample, because a fault of this machine may pass."""
AHEAD = {TimingPolicy.QUICK: 64, TimingPolicy.RANKED: 8}
"""Number of samples beyond those that run: built, being built, or waiting for their reference's build.

The products of their builds are kept in memory. A `ranked` timing has its device alone for long, so that few builds are
enough, and an interrupted run loses all samples that are under way.
"""


@dataclass(frozen=True)
class Options:
    """Settings of the grading."""

    timing: TimingPolicy
    profiler: Profiler
    timed_modes: frozenset[str]
    image: str = ""
    build_policy: BuildPolicy = AS_WRITTEN
    timed_cases: tuple[str, ...] | None = None
    """The cases of a function that are timed; None: those of its first baseline."""

    @property
    def digest(self) -> str:
        modes = ",".join(sorted(self.timed_modes))
        return f"{self.timing.value} {self.profiler.value} {modes} {self.image} {self.build_policy.arch}".rstrip()


@dataclass(frozen=True)
class GradingFault:
    """A sample that this machine could not grade, with the reason."""

    sample: SampleToGrade
    reason: str


Report = Callable[[SampleToGrade, list[Graded]], None]


class SampleGrader:
    """Passes samples to the judges. The lanes bound the builds and runs at a time; builds run ahead."""

    def __init__(self, judges: Judges, options: Options, workers: int, progress: Progress) -> None:
        self._judges = judges
        self._options = options
        self._workers = workers
        self._progress = progress

    def grade(self, samples: Sequence[SampleToGrade], report: Report) -> list[GradingFault]:
        """Grade all samples. `report` is called in this thread for every finished sample. Raises Cancelled."""
        tasks = self._tasks(samples)
        faults = []
        with ThreadPoolExecutor(self._workers + AHEAD[self._options.timing], thread_name_prefix="grade") as pool:
            ordered = [sample for rows in tasks.values() for sample in rows.samples]
            futures = {pool.submit(self.one, sample): sample for sample in ordered}
            try:
                for future in as_completed(futures):
                    sample = futures[future]
                    faults += _fault(sample, future)
                    row = None if faults and faults[-1].sample is sample else _row(future)
                    report(sample, tasks[sample.incoming.task_id].add(sample, row))
            except BaseException:
                self._progress.cancelled.set()
                pool.shutdown(cancel_futures=True)
                raise
        return faults

    def _tasks(self, samples: Sequence[SampleToGrade]) -> dict[str, TaskRows]:
        """The rows by task. A task's samples run close together, so that its baseline is measured near them."""
        by_task: dict[str, list[SampleToGrade]] = {}
        for sample in samples:
            by_task.setdefault(sample.incoming.task_id, []).append(sample)
        return {task: TaskRows(members, self._shares_baseline(members[0])) for task, members in by_task.items()}

    def _shares_baseline(self, sample: SampleToGrade) -> bool:
        """Whether one baseline is for all samples of the task. In a `ranked` timing each has its own beside it."""
        return self._options.timing is TimingPolicy.QUICK and self._compares(sample)

    def _compares(self, sample: SampleToGrade) -> bool:
        """Whether a baseline is measured with the task's samples."""
        problem, modes = sample.problem, self._options.timed_modes
        if sample.skip_reason or not isinstance(problem.reference, FileSolution):
            return False
        if isinstance(problem, CommandProblem):
            return timer_for(problem, modes, self._options.profiler) is not None
        return "process" in modes

    def one(self, sample: SampleToGrade) -> Graded:
        """Grade one sample. Raises SandboxFault, UnusableProblem, OSError after a fault of this machine."""
        return graded(sample, self.judged(sample))

    def judged(self, sample: SampleToGrade) -> Finished:
        """The report on one sample. Raises as `one`."""
        for left in reversed(range(TRIES)):
            try:
                return self._judges.judge(self._job(sample), self._progress)
            except (SandboxFault, OSError):
                if not left:
                    raise
        raise AssertionError("unreachable")

    def _job(self, sample: SampleToGrade) -> Job:
        problem = sample.problem
        rules = JobRules(
            sides=Sides.BOTH if self._compares(sample) else Sides.SOLUTION,
            timing_policy=self._options.timing,
            profiler=self._options.profiler,
            limits=limits_of(problem),
            withheld=None if problem.withheld is None else tuple(problem.withheld),
            timed_cases=self._options.timed_cases,
        )
        return Job(
            problem=problem,
            problem_sha256=sha256(sample.record.line).hexdigest(),
            solution=sample.solution,
            rules=rules,
            image=self._judges.environment.image_for(self._options.image),
            build_policy=self._options.build_policy,
            skip_reason=sample.skip_reason,
            invalid_reason=sample.incoming.invalid_reason,
            timed_modes=self._options.timed_modes,
            tenant=sample.pack,
        )


def limits_of(problem: ProblemRecord) -> ResourceLimits:
    """The default limits, replaced by those that the problem sets."""
    return ResourceLimits.model_validate(problem.podium.limits.set_values())


def _row(future: "Future[Graded]") -> Graded:
    return future.result()


def _fault(sample: SampleToGrade, future: "Future[Graded]") -> list[GradingFault]:
    error = future.exception()
    if isinstance(error, SandboxFault | UnusableProblem | OSError | ValueError | ArithmeticError):
        return [GradingFault(sample, f"{type(error).__name__}: {error}")]
    if isinstance(error, Cancelled):
        raise error
    return []
