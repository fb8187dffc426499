"""Axes of a metric's figures: shares from 0 to 1, amounts from 0, ratios on a logarithmic axis with its decades."""

import math
from collections.abc import Callable, Sequence

from leaderboard.charts.chart import Spec, axis
from scoring.metrics import Metric

WIDE = 10.0
"""Ratios whose largest is this many times the smallest stand on a logarithmic axis."""
_ENOUGH = 3
"""An axis with so many ticks needs no finer ones."""
_NARROW_LETTERS = 29
"""The letters that fit side by side along the level axis of a figure 390 px wide."""
_MOST_LINES = 12
"""The labels that fit above one another along an upright axis."""
_HUNDREDTHS = tuple(n / 100 for n in range(101, 1000))


def is_wide(values: Sequence[float]) -> bool:
    """Whether these positive values need a logarithmic axis."""
    return bool(values) and min(values) > 0 and max(values) > WIDE * min(values)


def log_axis(title: str, low: float, high: float, *, is_upright: bool = False) -> Spec:
    """A logarithmic axis between two powers of ten, given as exponents."""
    ticks = log_ticks(low, high, _lines if is_upright else _letters)
    between = [digit * 10.0**power for power in _powers(low, high) for digit in range(2, 10)]
    marks = {"tickvals": between, "ticks": "outside", "ticklen": 4, "showgrid": False}
    return axis(
        title, type="log", range=[low, high], tickvals=ticks, ticktext=[plain_number(tick) for tick in ticks],
        ticks="outside", ticklen=7, minor=marks,
    )  # fmt: skip


def _letters(tick: float) -> float:
    """The share of a level axis that a label takes on a narrow page."""
    return (len(plain_number(tick)) + 1) / _NARROW_LETTERS


def _lines(_tick: float) -> float:
    return 1 / _MOST_LINES


def log_ticks(low: float, high: float, share: Callable[[float], float] = _letters) -> list[float]:
    """Round numbers between two exponents whose labels stand side by side; `share` is what one takes of the axis.

    They are the powers of ten. Where fewer than three of those are inside, 2 and 5 stand between them, then the other
    digits.
    """
    tens = _ticks((1,), low, high)
    if len(tens) >= _ENOUGH:
        return tens[:: math.ceil((high - low) * max(map(share, tens)))]
    chosen: list[float] = []
    for digits in ((1,), (2, 5), (3, 7), (4, 6, 8), (9, *(n / 10 for n in range(11, 100))), _HUNDREDTHS):
        for tick in _ticks(digits, low, high):
            if all(2 * abs(math.log10(tick / one)) >= (high - low) * (share(tick) + share(one)) for one in chosen):
                chosen.append(tick)
        if len(chosen) >= _ENOUGH:
            break
    return sorted(chosen)


def _ticks(digits: Sequence[float], low: float, high: float) -> list[float]:
    found = (float(f"{digit:.10g}e{power}") for power in _powers(low, high) for digit in digits)
    return [tick for tick in found if low <= math.log10(tick) <= high]


def _powers(low: float, high: float) -> range:
    return range(math.floor(low), math.ceil(high) + 1)


def plain_number(value: float) -> str:
    """A tick as a person writes it: `0.001`, `1`, `10,000`; above and below these as `10⁷` or `2 × 10⁷`."""
    if 1e-4 <= abs(value) < 1e6 or value == 0:
        return f"{value:,.10g}"
    digits, power = f"{value:.0e}".split("e")
    ten = f"10{str(int(power)).translate(_RAISED)}"
    return ten if digits == "1" else f"{digits} × {ten}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def decades(values: Sequence[float], *, room: float = 0.06) -> tuple[float, float]:
    """Exponents between which these positive values stand, with room on both sides."""
    logs = [math.log10(value) for value in values if value > 0] or [0.0]
    margin = room * max(max(logs) - min(logs), 0.5)
    return min(logs) - margin, max(logs) + margin


def ratio_range(values: Sequence[float], *, room: float = 0.06) -> tuple[float, float]:
    """Exponents between which these positive values and 1 stand, with room on both sides."""
    logs = [math.log10(value) for value in values if value > 0]
    low, high = min([0.0, *logs]), max([0.0, *logs])
    margin = room * max(high - low, 0.15)
    return low - margin, high + margin


def signed_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Round differences of shares between two ends with their words in points: `−10`, `0`, `+5`."""
    step = _round_step(100 * (high - low) / 6)
    first, last = math.ceil(100 * low / step), math.floor(100 * high / step)
    return [(n * step / 100, signed(n * step)) for n in range(first, last + 1)]


def signed(value: float) -> str:
    """With its sign; a zero has none."""
    text = f"{value:+.3g}" if abs(value) > 1e-9 else "0"
    return text.replace("-", "−")


def _round_step(least: float) -> float:
    """The least of 1, 2 and 5 times a power of ten that is no less."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(digit * power for digit in (1, 2, 5, 10) if digit * power >= least * (1 - 1e-9))


def metric_axis(metric: Metric, title: str, values: Sequence[float], *, room: float = 0.06) -> Spec:
    """From 0; shares to 1; ratios far apart on a logarithmic axis. `room` is the share kept free above the largest."""
    if metric.unit == "%":
        return axis(title, tickformat=".0%", range=[0, 1.0 + max(0.05, room)], tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1])
    if is_wide(values):
        low, high = math.log10(min(values)), math.log10(max(values))
        return log_axis(title, low - 0.06 * (high - low), high + room * (high - low))
    return axis(title, range=[0, (1 + room) * (max(values, default=0.0) or 1.0)])
