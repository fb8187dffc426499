"""What a problem's declared work and a device's measured peaks say of a time: GFLOPS, GB/s, share of the roofline."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from problems.models import Problem
from scoring.throughput import gbps, gflops, roofline_ms, roofline_percent

DEFAULT_DTYPE = "fp32"


@dataclass(frozen=True)
class Work:
    """Of one run of the benchmark; None where the problem declares none."""

    flops: float | None
    moved_bytes: float | None
    dtype: str = DEFAULT_DTYPE
    """The data type whose peak bounds the arithmetic."""

    @classmethod
    def of(cls, problem: Problem) -> "Work":
        return cls(problem.flops, problem.bytes, problem.flops_dtype or DEFAULT_DTYPE)

    @property
    def is_declared(self) -> bool:
        return bool(self.flops or self.moved_bytes)

    @property
    def intensity(self) -> float | None:
        """Floating-point operations a byte."""
        return self.flops / self.moved_bytes if self.flops and self.moved_bytes else None


@dataclass(frozen=True)
class Ceilings:
    """What a device was measured to reach, for one data type."""

    gflops: float | None
    gbps: float | None

    @classmethod
    def of(cls, peaks: Mapping[str, Any], dtype: str) -> "Ceilings":
        """From peaks as provenance and tracks hold them: `gbps`, and `gflops` by data type."""
        return cls((peaks.get("gflops") or {}).get(dtype), peaks.get("gbps"))


@dataclass(frozen=True)
class Rates:
    """One time in the problem's own units; None where work or peaks are not known."""

    gflops: float | None
    gbps: float | None
    roofline: float | None
    """Share of what the peaks allow, 1 being all of it."""


def least_ms(work: Work, ceilings: Ceilings) -> float | None:
    """max(flops ÷ peak, bytes ÷ bandwidth) in milliseconds; None where a peak that it needs is not known."""
    if not work.is_declared or (work.flops and not ceilings.gflops) or (work.moved_bytes and not ceilings.gbps):
        return None
    flops, moved_bytes = work.flops or 0.0, work.moved_bytes or 0.0
    return float(roofline_ms(flops, moved_bytes, ceilings.gflops or math.inf, ceilings.gbps or math.inf))


def rates(work: Work, ceilings: Ceilings, time_ms: float) -> Rates:
    least = least_ms(work, ceilings)
    return Rates(
        gflops=float(gflops(work.flops, time_ms)) if work.flops else None,
        gbps=float(gbps(work.moved_bytes, time_ms)) if work.moved_bytes else None,
        roofline=None if least is None else float(roofline_percent(least, time_ms)) / 100,
    )
