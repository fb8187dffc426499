"""Times a solution and the baseline: which processes run in which order, and what is made of their times."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from problems.formats.compute_eval.timing import PerformanceMetrics
from runners.agent import steps
from runners.agent.environment import NodeEnvironment
from runners.agent.keyed import Once
from runners.agent.profilers import Timer
from runners.agent.references import References
from runners.agent.slots import Seat
from runners.agent.steps import BenchmarkRun
from runners.agent.task import Subject, Watcher
from runners.protocol import MAX_TIME_MS, MIN_TIME_MS, MeasurementReport, Role, Witness
from scoring.uncertainty import median_interval

RANKED_PROCESSES = 6
"""The fewest from which order statistics give a 95 % interval of the median."""
REMEMBERED = 1024


def interleaved(n_each: int) -> Iterator[Role]:
    """B C C B B C C B …: `n_each` of either role, so that a drift of the machine meets both alike."""
    left = {Role.BASELINE: n_each, Role.CANDIDATE: n_each}
    turn = 0
    while any(left.values()):
        role = Role.BASELINE if turn % 4 in (0, 3) else Role.CANDIDATE
        turn += 1
        if left[role]:
            left[role] -= 1
            yield role


@dataclass
class Series:
    """The processes of one role, until one of them fails."""

    runs: list[BenchmarkRun] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return bool(self.runs) and not self.runs[-1].outcome.succeeded

    @property
    def error(self) -> str | None:
        """Why there is no time, as ComputeEval words it; None without runs or where all gave what they could."""
        return next((run.reading.error for run in self.runs if run.reading.error is not None), None)

    @property
    def times_ms(self) -> list[float]:
        """One time per process; empty unless every process gave one."""
        times = [run.reading.time_ms for run in self.runs]
        known = [time for time in times if time is not None]
        return known if len(known) == len(times) and not self.error else []

    @property
    def median_ms(self) -> float | None:
        """May be 0.0, which is a time but no measurement."""
        return median_interval(self.times_ms).median if self.times_ms else None

    @property
    def metrics(self) -> PerformanceMetrics | None:
        return self.runs[-1].reading.metrics if self.runs else None

    @property
    def witness(self) -> Witness:
        """The worst of all runs."""
        seen = {run.outcome.witness for run in self.runs}
        if Witness.CONTRADICTED in seen:
            return Witness.CONTRADICTED
        return Witness.SEEN if seen == {Witness.SEEN} else Witness.UNAVAILABLE


@dataclass(frozen=True)
class Timed:
    """Both roles' series; `baseline` is None where the problem has none or its reference does not pass here."""

    candidate: Series
    baseline: Series | None = None
    shared_key: str = ""
    """Names a baseline that was measured once for many results."""
    measured_at: str = ""


@dataclass(frozen=True)
class _Shared:
    series: Series
    key: str
    measured_at: str


class Stopwatch:
    """Runs benchmarks of one node under either timing policy."""

    def __init__(self, environment: NodeEnvironment, references: References) -> None:
        self._environment = environment
        self._references = references
        self._shared: Once[object, _Shared | None] = Once(REMEMBERED)

    def quick(self, subject: Subject, product: bytes, timer: Timer, watcher: Watcher, *, baseline: bool) -> Timed:
        """One process; the baseline's one process is shared for an hour. Raises as `steps.test`."""
        candidate = Series()
        with self._environment.lanes.benchmark() as seat:
            self._add(candidate, subject, product, timer, seat, watcher)
        reference = subject.reference if baseline else None
        shared = self._shared_baseline(reference, timer, watcher) if reference else None
        if shared is None:
            return Timed(candidate)
        return Timed(candidate, shared.series, shared.key, shared.measured_at)

    def ranked(self, subject: Subject, product: bytes, timer: Timer, watcher: Watcher, *, baseline: bool) -> Timed:
        """Six fresh processes of either role in turns, on a device of their own. Raises as `steps.test`."""
        reference = subject.reference if baseline else None
        known = self._references.prepare(reference, watcher) if reference else None
        sides = {Role.CANDIDATE: (subject, product)}
        if reference is not None and known is not None and known.passed:
            sides[Role.BASELINE] = (reference, known.product)
        series = {role: Series() for role in sides}
        with self._environment.lanes.benchmark() as seat:
            for role in interleaved(RANKED_PROCESSES):
                if role in sides and not series[role].failed and not series[Role.CANDIDATE].failed:
                    self._add(series[role], *sides[role], timer, seat, watcher)
        return Timed(series[Role.CANDIDATE], series.get(Role.BASELINE), measured_at=_now().isoformat())

    def _shared_baseline(self, reference: Subject, timer: Timer, watcher: Watcher) -> _Shared | None:
        hour = _now().strftime("%Y-%m-%dT%H")
        return self._shared.get((reference.shared_key, hour), lambda: self._measure(reference, timer, watcher, hour))

    def _measure(self, reference: Subject, timer: Timer, watcher: Watcher, hour: str) -> _Shared | None:
        known = self._references.prepare(reference, watcher)
        if not known.passed:
            return None
        series = Series()
        with self._environment.lanes.benchmark() as seat:
            self._add(series, reference, known.product, timer, seat, watcher)
        key = f"{reference.problem_sha256[:16]}@{self._environment.name or 'here'}@{hour}"
        return _Shared(series, key, _now().isoformat())

    def _add(
        self, series: Series, subject: Subject, product: bytes, timer: Timer, seat: Seat, watcher: Watcher
    ) -> None:
        series.runs.append(steps.benchmark(self._environment, subject, product, timer, seat, watcher))


def _now() -> datetime:
    return datetime.now(UTC)


def measurement(
    role: Role, series: Series, timer: Timer, *, work_checked: bool, **more: object
) -> MeasurementReport | None:
    """What the series comes to; None where there is no time, or one that is none: a contestant may print anything."""
    times: Sequence[float] = series.times_ms
    if not times or not all(MIN_TIME_MS <= time <= MAX_TIME_MS for time in times):
        return None
    median, low, high = median_interval(times)
    facts: dict[str, object] = {
        "role": role,
        "median_ms": median,
        "ci_low_ms": low,
        "ci_high_ms": high,
        "runs_ms": list(times),
        "clock": timer.clock,
        "work_checked": work_checked,
        "witness": series.witness,
    }
    return MeasurementReport.model_validate(facts | more)
