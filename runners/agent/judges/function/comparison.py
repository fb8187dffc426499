"""The comparison of a sample's processes with its baseline's: the times, and the findings for a person."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from problems.spec.function.problem import FunctionProblem
from runners.agent.devices.gpus import Gpus
from runners.agent.devices.lanes import Seat
from runners.agent.devices.record import DeviceRecord
from runners.agent.judges.function.contest import Contest
from runners.agent.judges.function.results import baseline_measurements, candidate_measurements, findings, too_short
from runners.agent.judges.function.timed_cases import TimedCases, with_missing_times
from runners.agent.judges.host import HostRecord, disturbance, over
from runners.agent.judges.judgement import Finding
from runners.wire.protocol import CaseReport, MeasurementReport, Peaks, Role

TOLD = ("sm_clock_mhz", "sm_clock_low_mhz", "memory_clock_mhz", "temperature_c", "throttle_reasons")
"""The checker keeps the device busy between calls, so power and activity say nothing of the solution."""


@dataclass
class Clocks:
    """The observations of a device. Empty until the watch has ended, and on a CPU."""

    record: DeviceRecord | None = None

    @property
    def facts(self) -> dict[str, float | str]:
        """Those of `TOLD` that are known."""
        facts = self.record.facts if self.record is not None else {}
        return {name: facts[name] for name in TOLD if name in facts}

    @property
    def findings(self) -> list[Finding]:
        """A flag if the device was slowed down."""
        words = self.record.throttle_words if self.record is not None else ""
        return [Finding("throttled", words)] if words else []


@contextmanager
def clocks_of(gpus: Gpus | None, seat: Seat) -> Iterator[Clocks]:
    """Watch the seat's device inside."""
    seen = Clocks()
    if gpus is None or not seat.gpu_uuid:
        yield seen
        return
    with gpus.watch(seat.gpu_uuid) as watch:
        yield seen
    seen.record = watch.samples


@dataclass(frozen=True)
class Timed:
    """The processes of one side."""

    runs: Sequence[Contest]
    clocks: Clocks

    @property
    def host(self) -> HostRecord | None:
        """The medians over the processes, as their time is one; None on a GPU."""
        return over([one.host for one in self.runs if one.host is not None])

    @property
    def facts(self) -> dict[str, float | str]:
        """Observations of the machine for each of its measurements."""
        return {**self.clocks.facts, **(self.host.facts if self.host else {})}


@dataclass(frozen=True)
class Shared(Timed):
    """A baseline that several samples share."""

    key: str
    measured_at: str

    @property
    def is_disturbed(self) -> bool:
        """Whether other programs lengthened its times, so that no other sample may be compared with them."""
        return self.host is not None and self.host.is_busy

    def measurements(self, problem: FunctionProblem, cases: TimedCases = None) -> list[MeasurementReport]:
        return baseline_measurements(problem, self.runs, self.key, self.measured_at, cases)


@dataclass(frozen=True)
class Compared:
    """The reports on all cases, the times of both sides, and the flags of the solution's."""

    cases: Sequence[CaseReport]
    measurements: tuple[MeasurementReport, ...] = ()
    findings: tuple[Finding, ...] = ()


def compared(
    problem: FunctionProblem,
    reports: Sequence[CaseReport],
    own: Timed,
    baseline: Shared | None,
    cases: TimedCases,
    peaks: Peaks,
) -> Compared:
    """Raises SandboxFault if a case that is timed has no time of the baseline."""
    sides: dict[Role, Timed] = {Role.CANDIDATE: own} | ({Role.BASELINE: baseline} if baseline else {})
    beside = baseline.measurements(problem, cases) if baseline is not None else None
    times = candidate_measurements(problem, own.runs, beside)
    if beside is not None:
        reports = with_missing_times(reports, times, beside, cases)
    flags = [*findings(problem, own.runs), *too_short(problem, times, peaks), *own.clocks.findings]
    flags += disturbance({"The solution": own.host, "The reference": baseline.host if baseline else None})
    measurements = tuple(_with(one, sides[one.role].facts) for one in [*times, *(beside or [])])
    return Compared(reports, measurements, tuple(flags))


def _with(one: MeasurementReport, facts: Mapping[str, float | str]) -> MeasurementReport:
    return one.model_copy(update={"device": {**one.device, **facts}})
