"""Times a solution and its baseline: the order of their processes, and the result of their times."""

import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from functools import partial

from problems.formats.compute_eval.timing import PerformanceMetrics
from problems.spec.command.timing_mode import times_by_wall_clock
from runners.agent.devices.lanes import Seat
from runners.agent.devices.record import DeviceRecord, merged
from runners.agent.ground.events import Progress
from runners.agent.job.environment import NodeEnvironment
from runners.agent.judges.baselines import Baselines
from runners.agent.judges.command.outside_bounds import Observed
from runners.agent.judges.command.references import References
from runners.agent.judges.command.runs import BenchmarkRun, benchmark
from runners.agent.judges.command.subject import CommandSubject
from runners.agent.judges.host import SPARE_RUNS, HostRecord, over
from runners.agent.profilers.base import Timer
from runners.agent.profilers.plain import ProcessTime
from runners.wire.job import Sides
from runners.wire.protocol import Clock, Role, Witness
from scoring.median import median_interval

RANKED_PROCESSES = 6
"""The smallest number of processes whose order statistics give a 95 % interval of the median."""
SETTLE_SECONDS = 0.4
"""The driver counts activity in windows of up to a third of a second. Earlier work must have left the window."""
AGAIN_FROM_MS = 0.1
AGAIN_RATIOS = 1.03, 2.0
"""Times of `quick` from `AGAIN_FROM_MS` whose ratio lies between these are taken once more. Beside other programs,
equal code takes different times in different processes. Ratios up to 1.53 were measured (docs/benchmarks.md)."""


def blocks() -> Iterator[tuple[Role, Role]]:
    """B C, C B, B C …: each block has one process of each role, so that a drift of the machine affects both alike."""
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
        """Whether the last process timed out and would do so again."""
        return bool(self.runs) and self.runs[-1].hung

    @property
    def error(self) -> str | None:
        """The reason why there is no time, in ComputeEval's words; None without runs or without a failure."""
        return next((run.reading.error for run in self.runs if run.reading.error is not None), None)

    @property
    def times_ms(self) -> list[float]:
        """One time per process; empty unless every process gave one."""
        times = [run.reading.time_ms for run in self.runs]
        known = [time for time in times if time is not None]
        return known if len(known) == len(times) and not self.error else []

    @property
    def median_ms(self) -> float | None:
        """The median of all times. It may be 0.0, which is a time but not a measurement."""
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
        """The merged device records of all runs."""
        return merged([run.device for run in self.runs if run.device is not None])

    @property
    def host(self) -> HostRecord | None:
        """The medians of the host's records of all runs."""
        return over([run.host for run in self.runs if run.host is not None])

    @property
    def is_void(self) -> bool:
        return bool(self.runs) and self.runs[-1].is_void

    @property
    def observed(self) -> Observed | None:
        """The run whose time is nearest to the median, as input of the outside bounds."""
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
        """The worst witness of all runs."""
        seen = {run.outcome.witness for run in self.runs}
        if Witness.CONTRADICTED in seen:
            return Witness.CONTRADICTED
        return Witness.SEEN if seen == {Witness.SEEN} else Witness.UNAVAILABLE

    @property
    def among_others(self) -> bool:
        """Whether other programs used the device between the turns of a run."""
        return any(run.among_others for run in self.runs)

    @property
    def comparable_ms(self) -> float:
        """The median; infinite without a measurement, so that any other series is faster."""
        return math.inf if self.lacks_graphs else self.median_ms or math.inf


@dataclass(frozen=True)
class Timed:
    """The series of both roles; `baseline` is None if the problem has none or its reference does not pass here."""

    timer: Timer
    candidate: Series
    baseline: Series | None = None
    shared_key: str = ""
    """Name of a baseline that was measured once and shared by several results."""
    measured_at: str = ""
    plain_wall_ms: float | None = None
    """Wall time of one run of the candidate without the profiler."""

    @property
    def for_graphs(self) -> Timer | None:
        """The timer to use instead if either role runs CUDA graphs that this timer cannot time; else None."""
        if self.candidate.hung:
            return None
        lacking = self.candidate.lacks_graphs or (self.baseline is not None and self.baseline.lacks_graphs)
        return self.timer.for_graphs if lacking else None

    @property
    def may_be_disturbed(self) -> bool:
        """Whether the two times differ as much as those of equal code may beside other programs."""
        if self.baseline is None or not self.candidate.among_others:
            return False
        faster_ms, slower_ms = sorted((self.candidate.comparable_ms, self.baseline.comparable_ms))
        low, high = AGAIN_RATIOS
        return AGAIN_FROM_MS <= faster_ms < math.inf and low <= slower_ms / faster_ms <= high

    def or_faster(self, other: "Timed") -> "Timed":
        """The faster whole series of each role, so that chance favours neither."""
        base = other if _ms(other.baseline) < _ms(self.baseline) else self
        candidate = other.candidate if _ms(other.candidate) < _ms(self.candidate) else self.candidate
        return replace(base, candidate=candidate)


def _ms(series: Series | None) -> float:
    return math.inf if series is None else series.comparable_ms


class Seats(Enum):
    """Whether other benchmarks may start during the timing."""

    BESIDE = "beside"
    ALONE = "alone"


@dataclass(frozen=True)
class _Shared:
    """A baseline that several samples share."""

    series: Series
    key: str
    measured_at: str


class Stopwatch:
    """Runs one node's benchmarks under each timing policy."""

    def __init__(self, environment: NodeEnvironment, references: References) -> None:
        self._environment = environment
        self._references = references
        self._baselines: Baselines[_Shared] = Baselines(lambda shared: shared.series.failed or shared.series.is_void)

    def quick(self, subject: CommandSubject, product: bytes, timer: Timer, progress: Progress) -> Timed:
        """One process of the candidate, and one of the baseline that a few samples on the same device may share.

        Benchmarks that wait at the gate run beside others. If the times differ as they may there by chance, both roles
        are timed once more, and the faster series of each counts. A candidate that fails there without hanging runs
        again alone, because others may have taken the memory. The reference is built and tested first, so that both
        roles are timed in the same circumstances. Raises as `benchmark`.
        """
        reference = self._baseline_of(subject, progress)
        if reference is None:
            return Timed(timer, self._candidate(subject, product, timer, progress))
        timed = self._beside(subject, product, reference, timer, progress, look=1)
        if not timed.may_be_disturbed:
            return timed
        return timed.or_faster(self._beside(subject, product, reference, timer, progress, look=2))

    def ranked(self, subject: CommandSubject, product: bytes, timer: Timer, progress: Progress) -> Timed:
        """Six new processes of each role in turns, on a device that nothing else uses. Raises as `benchmark`."""
        reference = self._baseline_of(subject, progress)
        sides = {Role.CANDIDATE: (subject, product)}
        if reference is not None:
            sides[Role.BASELINE] = reference
        with self._environment.lanes.benchmark(subject.place) as seat:
            if seat.gpu_uuid:
                time.sleep(SETTLE_SECONDS)
            rounds = _Rounds(self._environment, sides, timer, seat, progress)
            rounds.run()
            plain_wall_ms = rounds.plain_wall_ms() if timer.clock is Clock.IN_PROCESS else None
        series = rounds.series
        return Timed(
            timer,
            series[Role.CANDIDATE],
            series.get(Role.BASELINE),
            measured_at=datetime.now(UTC).isoformat(),
            plain_wall_ms=plain_wall_ms,
        )

    def runs(self, subject: CommandSubject, timer: Timer, progress: Progress) -> bool:
        """Whether the subject's reference passes its test and its benchmark succeeds, beside others or else alone.

        A failure beside others does not count, because a solution that ran there may have caused it. Raises as
        `benchmark`.
        """
        known = self._passing(subject, progress)
        return known is not None and any(
            not self._one(*known, timer, progress, seats).failed for seats in (Seats.BESIDE, Seats.ALONE)
        )

    def _beside(
        self,
        subject: CommandSubject,
        product: bytes,
        reference: tuple[CommandSubject, bytes],
        timer: Timer,
        progress: Progress,
        *,
        look: int,
    ) -> Timed:
        """Both roles at once. A second look shares its baseline with other second looks only."""
        with ThreadPoolExecutor(1, thread_name_prefix="baseline") as pool:
            shared = pool.submit(self._baseline, reference, timer, progress, look)
            candidate = self._candidate(subject, product, timer, progress)
            base = shared.result()
            return Timed(timer, candidate, base.series, base.key, base.measured_at)

    def _candidate(self, subject: CommandSubject, product: bytes, timer: Timer, progress: Progress) -> Series:
        series = self._one(subject, product, timer, progress)
        if timer.waits_at_gate and series.failed and not series.hung:
            return self._one(subject, product, timer, progress, Seats.ALONE)
        return series

    def _one(
        self, subject: CommandSubject, product: bytes, timer: Timer, progress: Progress, seats: Seats = Seats.BESIDE
    ) -> Series:
        """One process, repeated while the device is throttled or the machine stands still. Beside a busy host it is
        not: work of others goes on for longer than a few processes take."""
        for left in reversed(range(1 + SPARE_RUNS)):
            with self._seat(subject, timer, seats) as seat:
                if seat.gpu_uuid and seats is Seats.ALONE:
                    time.sleep(SETTLE_SECONDS)
                run = benchmark(self._environment, subject, product, timer, seat, progress)
            if not (run.was_slowed and left):
                break
        return Series([run])

    def _seat(self, subject: CommandSubject, timer: Timer, seats: Seats) -> AbstractContextManager[Seat]:
        lanes = self._environment.lanes
        beside = timer.waits_at_gate and seats is Seats.BESIDE and not times_by_wall_clock(subject.problem.timing_mode)
        return (lanes.gated_benchmark if beside else lanes.benchmark)(subject.place)

    def _baseline_of(self, subject: CommandSubject, progress: Progress) -> tuple[CommandSubject, bytes] | None:
        """The reference to time beside the subject, and its product; None if the job times no reference."""
        return self._passing(subject, progress) if subject.job.rules.sides is Sides.BOTH else None

    def _passing(self, subject: CommandSubject, progress: Progress) -> tuple[CommandSubject, bytes] | None:
        """The reference solution and its product; None if there is none or it does not pass here."""
        reference = subject.reference
        known = self._references.prepare(reference, progress) if reference else None
        return (reference, known.product) if reference and known and known.passed else None

    def _baseline(self, side: tuple[CommandSubject, bytes], timer: Timer, progress: Progress, look: int) -> _Shared:
        reference, product = side
        key = (reference.shared_key, reference.place.device, timer.name, look)
        time_it = partial(self._time, reference, product, timer, progress)
        return self._baselines.near(key, time_it, progress.cancelled)

    def _time(self, reference: CommandSubject, product: bytes, timer: Timer, progress: Progress) -> _Shared:
        series = self._one(reference, product, timer, progress)
        where = self._environment.name or "here"
        device = f"{reference.place.device}@" if reference.place.device else ""
        when = datetime.now(UTC).isoformat()
        return _Shared(series, f"{reference.job.problem_sha256[:16]}@{when}@{device}{where}", when)


@dataclass
class _Rounds:
    """The blocks of one `ranked` timing, on one seat."""

    environment: NodeEnvironment
    sides: dict[Role, tuple[CommandSubject, bytes]]
    timer: Timer
    seat: Seat
    progress: Progress
    series: dict[Role, Series] = field(init=False)

    def __post_init__(self) -> None:
        self.series = {role: Series() for role in self.sides}

    def run(self) -> None:
        spare, done = SPARE_RUNS, 0
        for order in blocks():
            if done == RANKED_PROCESSES or self.series[Role.CANDIDATE].failed or self._lacks_graphs:
                return
            block = self._block(order)
            if spare and any(run.is_void for run in block.values()):
                spare -= 1
                continue
            for role, run in block.items():
                self.series[role].runs.append(run)
            done += 1

    @property
    def _lacks_graphs(self) -> bool:
        """Whether the timing must start again with another timer."""
        return any(series.lacks_graphs for series in self.series.values())

    def _block(self, order: tuple[Role, Role]) -> dict[Role, BenchmarkRun]:
        block: dict[Role, BenchmarkRun] = {}
        for role in order:
            candidate = block.get(Role.CANDIDATE)
            if role in self.sides and not self.series[role].failed and (candidate is None or not candidate.failed):
                block[role] = self._process(role, self.timer)
        return block

    def plain_wall_ms(self) -> float | None:
        """Wall time of one more run of the candidate without the profiler; None if this or an earlier run failed."""
        if self.series[Role.CANDIDATE].failed or self._lacks_graphs:
            return None
        outcome = self._process(Role.CANDIDATE, ProcessTime()).outcome
        return outcome.wall_ms if outcome.succeeded else None

    def _process(self, role: Role, timer: Timer) -> BenchmarkRun:
        subject, product = self.sides[role]
        return benchmark(self.environment, subject, product, timer, self.seat, self.progress)
