"""Times a solution and the baseline: which processes run in which order, and what is made of their times."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import partial
from typing import Protocol

from problems.formats.compute_eval.timing import PerformanceMetrics
from problems.spec.timing_mode import times_by_wall_clock
from runners.agent import runs
from runners.agent.bounds import Observed
from runners.agent.environment import NodeEnvironment
from runners.agent.gpu.record import DeviceRecord, merged
from runners.agent.keyed import Once
from runners.agent.profilers import Timer
from runners.agent.profilers.process import ProcessTime
from runners.agent.references import References, circumstances
from runners.agent.remembered import HOLDS, Kind
from runners.agent.runs import BenchmarkRun
from runners.agent.slots import Seat
from runners.agent.task import Subject, Watcher
from runners.protocol import MAX_TIME_MS, MIN_TIME_MS, Clock, MeasurementReport, Role, Witness
from scoring.median import median_interval

RANKED_PROCESSES = 6
"""The fewest from which order statistics give a 95 % interval of the median."""
SPARE_BLOCKS = 3
"""How many blocks may be measured again because the device was throttled."""
SETTLE_SECONDS = 0.4
"""The driver counts activity in windows of up to a third of a second: what ran before must have left them."""
REMEMBERED = 1024


def blocks() -> Iterator[tuple[Role, Role]]:
    """B C, C B, B C …: one process of either role in each, so that a drift of the machine meets both alike."""
    order = Role.BASELINE, Role.CANDIDATE
    while True:
        yield order
        order = order[1], order[0]


@dataclass
class Series:
    """The processes of one role, until one of them fails."""

    runs: list[BenchmarkRun] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return bool(self.runs) and self.runs[-1].failed

    @property
    def hung(self) -> bool:
        """Whether the last process would run out of time again."""
        return bool(self.runs) and self.runs[-1].hung

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
    def lacks_graphs(self) -> bool:
        return any(run.reading.lacks_graphs for run in self.runs)

    @property
    def report(self) -> bytes | None:
        """The profiler's own report of the last process."""
        return self.runs[-1].reading.report if self.runs else None

    @property
    def device(self) -> DeviceRecord | None:
        """What was seen of the device over all runs."""
        return merged([run.device for run in self.runs if run.device is not None])

    @property
    def observed(self) -> Observed | None:
        """The run whose time is nearest the median, for the outside bounds."""
        middle_ms = self.median_ms
        if middle_ms is None:
            return None
        run = min(self.runs, key=lambda one: abs((one.reading.time_ms or 0.0) - middle_ms))
        return Observed(
            run.reading.time_ms or 0.0,
            run.outcome.wall_ms,
            run.reading.facts,
            run.device,
            cpu_ms=run.outcome.cpu_ms,
            among_others=run.among_others,
        )

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

    timer: Timer
    candidate: Series
    baseline: Series | None = None
    shared_key: str = ""
    """Names a baseline that was measured once for many results."""
    measured_at: str = ""
    plain_wall_ms: float | None = None
    """Wall time of one run of the candidate without the profiler."""

    @property
    def for_graphs(self) -> Timer | None:
        """What must time both roles instead, where either runs CUDA graphs that this timer cannot time."""
        if self.candidate.hung:
            return None
        lacking = self.candidate.lacks_graphs or (self.baseline is not None and self.baseline.lacks_graphs)
        return self.timer.for_graphs if lacking else None

    @property
    def own_ms(self) -> float:
        """Wall time of the processes that were run for this one result, without their waits for the device."""
        own = self.baseline.runs if self.baseline and not self.shared_key else []
        return sum(run.outcome.wall_ms for run in (*self.candidate.runs, *own)) + (self.plain_wall_ms or 0.0)


class Seats(Enum):
    """Whether other benchmarks may start up meanwhile."""

    BESIDE = "beside"
    ALONE = "alone"


class Measure(Protocol):
    """A way to time a candidate and its baseline."""

    def __call__(
        self, subject: Subject, product: bytes, timer: Timer, watcher: Watcher, *, baseline: bool
    ) -> Timed: ...


@dataclass(frozen=True)
class _Shared:
    series: Series
    key: str
    measured_at: str

    @property
    def is_sound(self) -> bool:
        """Whether another process may rely on it too: what went wrong may have been the machine's doing."""
        series = self.series
        return bool(series.times_ms) and not series.failed and not any(map(_is_void, series.runs))

    def without_texts(self) -> "_Shared":
        """What the runs printed, and the profiler's own report: nobody asks for a baseline's."""
        plain = [
            replace(run, outcome=replace(run.outcome, stdout="", stderr=""), reading=replace(run.reading, report=None))
            for run in self.series.runs
        ]
        return replace(self, series=Series(plain))


_SHARED = Kind("baseline", _Shared)


@dataclass(frozen=True)
class _Found:
    """A shared baseline, or None where the reference does not pass, and since when that is known."""

    shared: _Shared | None
    since: datetime

    @property
    def is_recent(self) -> bool:
        """Whether it still holds. The clock may have been set back meanwhile."""
        return timedelta() <= _now() - self.since < HOLDS


def _timed(timer: Timer, candidate: Series, shared: _Shared | None) -> Timed:
    if shared is None:
        return Timed(timer, candidate)
    return Timed(timer, candidate, shared.series, shared.key, shared.measured_at)


class Stopwatch:
    """Runs benchmarks of one node under either timing policy."""

    def __init__(self, environment: NodeEnvironment, references: References) -> None:
        self._environment = environment
        self._references = references
        self._shared: Once[object, _Found] = Once(REMEMBERED, is_fresh=lambda found: found.is_recent)

    def quick(self, subject: Subject, product: bytes, timer: Timer, watcher: Watcher, *, baseline: bool) -> Timed:
        """One process; the baseline's one process on the same device is shared for an hour, also by later
        processes of this node. Raises as `runs.test`.

        Benchmarks that wait for the device by themselves run beside others.
        """
        reference = subject.reference if baseline else None
        if reference is None:
            return Timed(timer, self._one(subject, product, timer, watcher))
        with ThreadPoolExecutor(1, thread_name_prefix="baseline") as pool:
            shared = pool.submit(self._shared_baseline, reference, timer, watcher, Seats.BESIDE)
            candidate = self._one(subject, product, timer, watcher)
            return _timed(timer, candidate, shared.result())

    def confirm(self, subject: Subject, product: bytes, timer: Timer, watcher: Watcher, *, baseline: bool) -> Timed:
        """As `quick`, with the device and the driver quite alone: what disturbs a start cannot be held against it."""
        reference = subject.reference if baseline else None
        candidate = self._one(subject, product, timer, watcher, Seats.ALONE)
        shared = self._shared_baseline(reference, timer, watcher, Seats.ALONE) if reference else None
        return _timed(timer, candidate, shared)

    def ranked(self, subject: Subject, product: bytes, timer: Timer, watcher: Watcher, *, baseline: bool) -> Timed:
        """Six fresh processes of either role in turns, on a device of their own. Raises as `runs.test`."""
        reference = subject.reference if baseline else None
        known = self._references.prepare(reference, watcher) if reference else None
        sides = {Role.CANDIDATE: (subject, product)}
        if reference is not None and known is not None and known.passed:
            sides[Role.BASELINE] = (reference, known.product)
        with self._environment.lanes.benchmark(subject.place) as seat:
            if seat.gpu_uuid:
                time.sleep(SETTLE_SECONDS)
            rounds = _Rounds(self._environment, sides, timer, seat, watcher)
            rounds.run()
            plain_wall_ms = rounds.plain_wall_ms() if timer.clock is Clock.IN_PROCESS else None
        series = rounds.series
        return Timed(
            timer,
            series[Role.CANDIDATE],
            series.get(Role.BASELINE),
            measured_at=_now().isoformat(),
            plain_wall_ms=plain_wall_ms,
        )

    def _one(
        self, subject: Subject, product: bytes, timer: Timer, watcher: Watcher, seats: Seats = Seats.BESIDE
    ) -> Series:
        """One process, and another in its stead while the device is throttled."""
        for left in reversed(range(1 + SPARE_BLOCKS)):
            with self._seat(subject, timer, seats) as seat:
                if seat.gpu_uuid and seats is Seats.ALONE:
                    time.sleep(SETTLE_SECONDS)
                run = runs.benchmark(self._environment, subject, product, timer, seat, watcher)
            if not (_is_void(run) and left):
                break
        return Series([run])

    def _seat(self, subject: Subject, timer: Timer, seats: Seats) -> AbstractContextManager[Seat]:
        lanes = self._environment.lanes
        beside = timer.waits_at_gate and seats is Seats.BESIDE and not times_by_wall_clock(subject.problem.timing_mode)
        return (lanes.gated_benchmark if beside else lanes.benchmark)(subject.place)

    def _shared_baseline(self, reference: Subject, timer: Timer, watcher: Watcher, seats: Seats) -> _Shared | None:
        key = (reference.shared_key, reference.place.device, timer.name, seats)
        make = partial(self._measure, reference, timer, watcher, seats)
        return self._shared.get(key, make, watcher.cancelled).shared

    def _measure(self, reference: Subject, timer: Timer, watcher: Watcher, seats: Seats) -> _Found:
        known = self._references.prepare(reference, watcher)
        if not known.passed:
            return _Found(None, _now())
        here = circumstances(self._environment, reference, known.product)
        key = {**here, "timer": timer.name, "seats": seats.value}
        shared = self._environment.remembered.get(_SHARED, key)
        if shared and (found := _found(shared)).is_recent:
            return found
        shared = self._time(reference, known.product, timer, watcher, seats)
        if shared.is_sound:
            self._environment.remembered.put(_SHARED, key, shared.without_texts())
        return _found(shared)

    def _time(self, reference: Subject, product: bytes, timer: Timer, watcher: Watcher, seats: Seats) -> _Shared:
        series = self._one(reference, product, timer, watcher, seats)
        where = self._environment.name or "here"
        device = f"{reference.place.device}@" if reference.place.device else ""
        alone = "@alone" if seats is Seats.ALONE else ""
        when = _now().isoformat()
        return _Shared(series, f"{reference.problem_sha256[:16]}@{when}@{device}{where}{alone}", when)


def _found(shared: _Shared) -> _Found:
    return _Found(shared, datetime.fromisoformat(shared.measured_at))


@dataclass
class _Rounds:
    """The blocks of one `ranked` timing, on one seat."""

    environment: NodeEnvironment
    sides: dict[Role, tuple[Subject, bytes]]
    timer: Timer
    seat: Seat
    watcher: Watcher
    series: dict[Role, Series] = field(init=False)

    def __post_init__(self) -> None:
        self.series = {role: Series() for role in self.sides}

    def run(self) -> None:
        spare, done = SPARE_BLOCKS, 0
        for order in blocks():
            if done == RANKED_PROCESSES or self.series[Role.CANDIDATE].failed or self._lacks_graphs:
                return
            block = self._block(order)
            if spare and any(_is_void(run) for run in block.values()):
                spare -= 1
                continue
            for role, run in block.items():
                self.series[role].runs.append(run)
            done += 1

    @property
    def _lacks_graphs(self) -> bool:
        """Whether another timer has to begin anew."""
        return any(series.lacks_graphs for series in self.series.values())

    def _block(self, order: tuple[Role, Role]) -> dict[Role, BenchmarkRun]:
        block: dict[Role, BenchmarkRun] = {}
        for role in order:
            candidate = block.get(Role.CANDIDATE)
            if role in self.sides and not self.series[role].failed and (candidate is None or not candidate.failed):
                block[role] = self._process(role, self.timer)
        return block

    def plain_wall_ms(self) -> float | None:
        """One more run of the candidate, without the profiler; None where it or an earlier one is of no use."""
        if self.series[Role.CANDIDATE].failed or self._lacks_graphs:
            return None
        outcome = self._process(Role.CANDIDATE, ProcessTime()).outcome
        return outcome.wall_ms if outcome.succeeded else None

    def _process(self, role: Role, timer: Timer) -> BenchmarkRun:
        subject, product = self.sides[role]
        return runs.benchmark(self.environment, subject, product, timer, self.seat, self.watcher)


def _is_void(run: BenchmarkRun) -> bool:
    return run.outcome.succeeded and run.device is not None and run.device.throttled


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
        "device": series.device.facts if series.device else {},
    }
    return MeasurementReport.model_validate(facts | more)
