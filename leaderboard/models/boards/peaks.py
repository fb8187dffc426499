"""A track's measured peaks as they are stored: `gbps`, and `gflops` by data type."""

from collections.abc import Mapping
from typing import Any

LEAST_PEAK, GREATEST_PEAK = 1e-3, 1e12
"""GB/s or GFLOPS; a figure beyond is no device's."""


def why_bad_peaks(value: object) -> str:
    """The errors in peaks typed into a form; empty if there are none."""
    if not isinstance(value, dict) or not isinstance(value.get("gflops") or {}, dict):
        return 'Peaks look like {"gbps": 4000, "gflops": {"fp32": 50000}}.'
    figures = {"gbps": value.get("gbps"), **(value.get("gflops") or {})}
    bad = [name for name, figure in figures.items() if figure is not None and _positive(figure) is None]
    return f"{', '.join(bad)} must be a number from {LEAST_PEAK:g} to {GREATEST_PEAK:g}." if bad else ""


def peak_gbps(peaks: Any) -> float | None:
    """Peak of the memory in GB/s; None where it is not known or not a plausible number."""
    return _positive(peaks.get("gbps")) if isinstance(peaks, Mapping) else None


def peak_gflops(peaks: Any, dtype: str) -> float | None:
    """Peak of arithmetic on `dtype` in GFLOPS; None where it is not known or not a plausible number."""
    rates = peaks.get("gflops") if isinstance(peaks, Mapping) else None
    return _positive(rates.get(dtype)) if isinstance(rates, Mapping) else None


def _positive(figure: Any) -> float | None:
    is_number = isinstance(figure, int | float) and not isinstance(figure, bool)
    return float(figure) if is_number and LEAST_PEAK <= figure <= GREATEST_PEAK else None
