"""A metric's figure as boards write it: its text, its interval below it, and the interval in words."""

from leaderboard.site.numerals import (
    MISSING,
    ends,
    percent,
    ratio,
    ratio_interval,
    significant,
    supported,
)
from scoring.metrics import Average, Metric

_SCORE_DIGITS = 3


def written(metric: Metric, value: float | None, low: float | None = None, high: float | None = None) -> str:
    """`71.4`, `1.84×`, `0.479`, `12.3`; a ratio or an amount with as many decimals as its interval supports."""
    if value is None:
        return MISSING
    if metric.unit == "%":
        return percent(value)
    if metric.unit == "×":
        return ratio(value, low, high)
    if _is_score(metric):
        return f"{value:.{_SCORE_DIGITS}f}"
    digits = supported(low, high)
    return significant(value) if digits is None else f"{value:,.{digits}f}"


def margin(metric: Metric, low: float | None, high: float | None) -> str:
    """The ends of the interval, `69.1–73.2`; empty without one. Even and lopsided ones of a column look alike."""
    if metric.unit == "%":
        return ends(low, high, 100)
    if _is_score(metric):
        return ends(low, high, digits=_SCORE_DIGITS)
    digits = supported(low, high)
    return ends(low, high, digits=2 if digits is None else digits)


def interval_words(metric: Metric, low: float | None, high: float | None) -> str:
    """Words for a tooltip: `95 % interval 69.1–73.2 %`."""
    if low is None or high is None:
        return "no interval"
    if metric.unit == "%":
        return f"95 % interval {100 * low:.1f}–{100 * high:.1f} %"
    if metric.unit == "×":
        return ratio_interval(low, high)
    unit = f" {metric.unit}" if metric.unit else ""
    return f"95 % interval {written(metric, low, low, high)}–{written(metric, high, low, high)}{unit}"


def _is_score(metric: Metric) -> bool:
    """A share that is written as a number from 0 to 1."""
    return metric.average is Average.ARITHMETIC and not metric.unit
