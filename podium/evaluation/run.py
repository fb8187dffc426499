"""Grades samples on several threads, task by task, and hands over rows as they may be written."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from hashlib import sha256
from threading import Event

from podium.evaluation.inputs import Sample
from podium.evaluation.order import Prospect, longest_first
from podium.evaluation.rows import Graded, TaskRows, graded
from problems.spec.problem import CommandProblem
from problems.spec.solution import FileSolution
from runners.agent.errors import Cancelled, UnusableProblem
from runners.agent.nvcc import AS_WRITTEN, BuildPolicy
from runners.agent.pipeline import Pipeline
from runners.agent.profilers import timer_for
from runners.agent.sandbox.policy import SandboxFault
from runners.agent.steps import build_guess
from runners.agent.task import Subject, Task, Unwatched, files_of
from runners.protocol import Profiler, ResourceLimits, TimingPolicy

TRIES = 2
"""A fault of this machine's may pass."""
AHEAD = 64
"""How many samples are on their way beyond those that run: built, being built, or waiting for their reference's build.

What their builds made is kept in memory meanwhile.
"""


@dataclass(frozen=True)
class Options:
    """How samples are graded."""

    timing: TimingPolicy
    profiler: Profiler
    timed_modes: frozenset[str]
    image: str = ""
    build_policy: BuildPolicy = AS_WRITTEN

    @property
    def digest(self) -> str:
        modes = ",".join(sorted(self.timed_modes))
        return f"{self.timing.value} {self.profiler.value} {modes} {self.image} {self.build_policy.arch}".rstrip()


@dataclass(frozen=True)
class Fault:
    """A sample that this machine could not grade, and why."""

    sample: Sample
    reason: str


Report = Callable[[Sample, list[Graded]], None]


class Grader:
    """Runs samples through the pipeline: the node's lanes bound what builds and what runs, and builds go ahead."""

    def __init__(self, pipeline: Pipeline, options: Options, workers: int, cancelled: Event) -> None:
        self._pipeline = pipeline
        self._options = options
        self._workers = workers
        self._watcher = Unwatched(cancelled)

    def grade(self, samples: Sequence[Sample], report: Report) -> list[Fault]:
        """Grade all; `report` is called in this thread for every sample that ended. Raises Cancelled."""
        tasks = self._tasks(samples)
        faults = []
        with ThreadPoolExecutor(self._workers + AHEAD, thread_name_prefix="grade") as pool:
            futures: dict[Future[Graded], Sample] = {}
            with self._gathering(len(samples), futures):
                for sample in self._longest_first(tasks):
                    futures[pool.submit(self._one, sample)] = sample
            try:
                for future in as_completed(futures):
                    sample = futures[future]
                    faults += _fault(sample, future)
                    row = None if faults and faults[-1].sample is sample else _row(future)
                    report(sample, tasks[sample.draft.task_id].add(sample, row))
            except BaseException:
                self._watcher.cancelled.set()
                pool.shutdown(cancel_futures=True)
                raise
        return faults

    def _gathering(self, n_samples: int, begun: Iterable["Future[Graded]"]) -> AbstractContextManager[None]:
        """Few samples have a slot each at once."""
        lanes = self._pipeline.environment.lanes
        if n_samples <= min(lanes.build_slots, lanes.run_slots):
            return nullcontext()
        return lanes.gathering(min(n_samples, self._workers + AHEAD), lambda: all(future.done() for future in begun))

    def _tasks(self, samples: Sequence[Sample]) -> dict[str, TaskRows]:
        """By task, so that a task's samples run close together and its baseline is measured near them."""
        by_task: dict[str, list[Sample]] = {}
        for sample in samples:
            by_task.setdefault(sample.draft.task_id, []).append(sample)
        return {task: TaskRows(members, self._compares(members[0])) for task, members in by_task.items()}

    def _longest_first(self, tasks: Mapping[str, TaskRows]) -> list[Sample]:
        """All samples, task by task, in the order that has the last one end soonest."""
        prospects = [self._prospect(task, rows.samples) for task, rows in tasks.items()]
        ordered = longest_first(prospects, self._pipeline.environment.lanes.build_slots)
        return [sample for prospect in ordered for sample in tasks[prospect.task].samples]

    def _prospect(self, task: str, samples: Sequence[Sample]) -> Prospect:
        durations, options = self._pipeline.environment.durations, self._options
        return Prospect(
            task,
            run_seconds=durations.of_runs(_problem_sha256(samples[0]), options.timing, options.profiler),
            build_seconds=max(map(_build_seconds, samples)),
            has_benchmark=self._compares(samples[0]),
        )

    def _compares(self, sample: Sample) -> bool:
        """Whether a baseline is measured beside the task's samples."""
        problem = sample.record.problem
        if sample.skip_reason or not isinstance(problem.baseline_solution, FileSolution):
            return False
        return timer_for(problem, self._options.timed_modes, self._options.profiler) is not None

    def _one(self, sample: Sample) -> Graded:
        for left in reversed(range(TRIES)):
            try:
                return graded(sample, self._pipeline.run(self._task(sample), self._watcher))
            except (SandboxFault, OSError):
                if not left:
                    raise
        raise AssertionError("unreachable")

    def _task(self, sample: Sample) -> Task:
        problem = sample.record.problem
        subject = Subject(
            problem=problem,
            problem_sha256=_problem_sha256(sample),
            files=files_of(sample.solution),
            limits=limits_of(problem),
            build_only=tuple(problem.podium.build_only or ()),
            image=self._pipeline.environment.image_for(self._options.image),
            build_policy=self._options.build_policy,
        )
        return Task(
            subject,
            skip_reason=sample.skip_reason,
            invalid_reason=sample.draft.invalid_reason,
            timing_policy=self._options.timing,
            profiler=self._options.profiler,
            timed_modes=self._options.timed_modes,
            tenant=sample.pack,
        )


def _problem_sha256(sample: Sample) -> str:
    return sha256(sample.record.line).hexdigest()


def _build_seconds(sample: Sample) -> float:
    """A guess; 0 where nothing is built."""
    problem = sample.record.problem
    if sample.skip_reason or sample.draft.invalid_reason or not problem.build_command:
        return 0.0
    return build_guess(Subject(problem, _problem_sha256(sample), files_of(sample.solution))).seconds


def limits_of(problem: CommandProblem) -> ResourceLimits:
    """The defaults, but for what the problem sets itself."""
    return ResourceLimits.model_validate(problem.podium.limits.set_values())


def _row(future: "Future[Graded]") -> Graded:
    return future.result()


def _fault(sample: Sample, future: "Future[Graded]") -> list[Fault]:
    error = future.exception()
    if isinstance(error, SandboxFault | UnusableProblem | OSError):
        return [Fault(sample, f"{type(error).__name__}: {error}")]
    if isinstance(error, Cancelled):
        raise error
    return []
