"""Rates of a time against a problem's declared work and a device's measured peaks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.models.boards.peaks import peak_gbps, peak_gflops
from problems.spec.case import Case, is_held_out
from scoring.throughput import geometric_mean, giga_per_second, least_ms


@dataclass(frozen=True)
class Ceilings:
    """A device's measured peaks for one data type."""

    gflops: float | None
    gbps: float | None
    dtype: str

    @classmethod
    def of(cls, peaks: Mapping[str, Any], dtype: str) -> "Ceilings":
        """Reads peaks as provenance and tracks hold them: `gbps`, and `gflops` by data type."""
        return cls(peak_gflops(peaks, dtype), peak_gbps(peaks), dtype)


@dataclass(frozen=True)
class Rates:
    """One time in the problem's own units; None where work or peaks are not known."""

    gflops: float | None = None
    gbps: float | None = None
    roofline: float | None = None
    """Share of what the peaks allow, 1 being all of it."""


@dataclass(frozen=True)
class DeclaredWork:
    """Which amounts of work any of the cases declares: decides which columns a table of times has."""

    flops: bool
    bytes: bool

    @classmethod
    def by(cls, cases: Sequence[Case]) -> "DeclaredWork":
        return cls(any(one.flops for one in cases), any(one.bytes for one in cases))

    @property
    def any(self) -> bool:
        return self.flops or self.bytes


def bound_ms(case: Case, peaks: Mapping[str, Any]) -> float | None:
    """The least time of one case at the peaks of its declared computing data type; None where one is not known."""
    ceilings = Ceilings.of(peaks, case.dtype)
    return least_ms(case.flops, case.bytes, ceilings.gflops, ceilings.gbps)


def speed_of_light_ms(case: Case, peaks: Mapping[str, Any]) -> float | None:
    """T_SOL: the least time of one case at the peaks of the fastest arithmetic that its tolerances admit, or None."""
    return least_ms(case.flops, case.bytes, peak_gflops(peaks, case.fastest_dtype), peak_gbps(peaks))


def cases_with_time(cases: Sequence[Case], timed: Collection[str]) -> list[Case]:
    """The cases that are timed, by name, over which times are averaged; all cases if none is known to be."""
    return [case for case in cases if case.name in timed] or list(cases)


def public_mean_ms(cases_ms: Mapping[str, float | None]) -> float | None:
    """The geometric mean of times by case over those that are not held out; None if one is missing or none is left."""
    return geometric_mean(time_ms for case, time_ms in cases_ms.items() if not is_held_out(case))


def rates_of(cases: Sequence[Case], peaks: Mapping[str, Any], time_ms: float) -> Rates:
    """Geometric means over the cases; `time_ms` is the time of the only case, or the geometric mean over all."""
    flops, moved = geometric_mean(one.flops for one in cases), geometric_mean(one.bytes for one in cases)
    bound = geometric_mean(bound_ms(one, peaks) for one in cases)
    return Rates(
        gflops=giga_per_second(flops, time_ms) if flops else None,
        gbps=giga_per_second(moved, time_ms) if moved else None,
        roofline=bound / time_ms if bound else None,
    )
