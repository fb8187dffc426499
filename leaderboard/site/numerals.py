"""Numbers as people read them: fixed decimals, narrow intervals, and a dash for a missing one."""

import math

MISSING = "–"


def percent(share: float | None) -> str:
    """0.7143 → `71.4`; the unit stands in the header."""
    return MISSING if share is None else f"{100 * share:.1f}"


def ends(low: float | None, high: float | None, scale: float = 1.0, digits: int = 1) -> str:
    """The interval as `67.6–100.0`; empty where there is none."""
    return "" if low is None or high is None else f"{scale * low:,.{digits}f}–{scale * high:,.{digits}f}"


def supported(low: float | None, high: float | None) -> int | None:
    """The decimals that an interval supports, by the Particle Data Group's rule: of its half width the first two
    digits if they are below 3.55, else one. None without an interval, or with one of no width."""
    half = 0.0 if low is None or high is None else (high - low) / 2
    if not 0 < half < math.inf:
        return None
    power = math.floor(math.log10(half))
    return max(0, (1 if half / 10**power < 3.55 else 0) - power)


def ratio(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """1.8437 → `1.84×`, 0.00312 → `0.0031×`; with an interval as many decimals as it supports."""
    if value is None:
        return MISSING
    digits = supported(low, high)
    if digits is not None:
        return f"{value:,.{digits}f}×"
    return f"{_times(value)}×" if value < 100 else f"{value:,.0f}×"


def _times(value: float) -> str:
    """Two decimals; two significant digits below 0.1."""
    return significant(value, 2) if 0 < value < 0.1 else f"{value:.2f}"


def ratio_interval(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "no interval"
    return f"95 % interval {_end(low, supported(low, high))}–{_end(high, supported(low, high))}×"


def _end(end: float, digits: int | None) -> str:
    """An end of a ratio's interval; one above 0 is never written as 0."""
    return _times(end) if digits is None or round(end, digits) == 0 else f"{end:,.{digits}f}"


def significant(value: float | None, digits: int = 3) -> str:
    """Rounded to significant digits without an exponent: 0.012345 → `0.0123`, 12345 → `12,345`."""
    if value is None:
        return MISSING
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return MISSING
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{decimals}f}"


def general(value: float | str | None) -> str:
    """A figure of any size, also one that came as text: 0.0000123 → `1.23e-05`, "inf" → `inf`."""
    try:
        return MISSING if value is None else f"{float(value):.3g}"
    except ValueError:
        return str(value)


def amount(value: float | None) -> str:
    """A large count in powers of ten: 68719476736 → `6.87 × 10¹⁰`, 1200 → `1,200`."""
    if value is None or not math.isfinite(value) or value < 1e6:
        return significant(value, 4)
    power = math.floor(math.log10(value))
    return f"{value / 10**power:.2f} × 10{str(power).translate(_RAISED)}"


_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def tokens(value: float | None) -> str:
    """A mean number of tokens: 1234.5 → `1,234`, 0 → `0`, 0.25 → `0.250`."""
    return f"{value:,.0f}" if value and 10 <= value < 1e6 else amount(value)


def dollars(value: float | None) -> str:
    """An amount of US dollars without its sign: 0.012345 → `0.0123`, 0 → `0`, 0.00001 → `<0.0001`."""
    return "<0.0001" if value and 0 < value < 0.0001 else significant(value)


def milliseconds(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """A time with the unit that suits it: µs, ms or s; with an interval as many decimals as it supports."""
    if value is None:
        return MISSING
    scale, unit = _unit_of(value)
    digits = supported(*(None if end is None else end * scale for end in (low, high)))
    return f"{significant(value * scale, 4) if digits is None else f'{value * scale:,.{digits}f}'} {unit}"


def microseconds(time_ms: float) -> str:
    """A round bound: 0.02 → `20 µs`."""
    return f"{1000 * time_ms:g} µs"


def _unit_of(time_ms: float) -> tuple[float, str]:
    """The unit's name, and how many of it a millisecond has."""
    if time_ms < 0.1:
        return 1000.0, "µs"
    return (0.001, "s") if time_ms >= 10_000 else (1.0, "ms")


def milliseconds_interval(value: float, low: float | None, high: float | None, n_runs: int) -> str:
    """`0.990 to 1.020 ms`, in the unit and with the decimals of its time; `no interval (n = 1)` without one."""
    if low is None or high is None:
        return f"no interval (n = {n_runs})"
    scale, unit = _unit_of(value)
    digits = supported(low * scale, high * scale)
    ends = [significant(end, 4) if digits is None else f"{end:,.{digits}f}" for end in (low * scale, high * scale)]
    return f"{' to '.join(ends)} {unit}"


def size(n_bytes: float | None) -> str:
    """Binary units: 1536 → `1.5 KiB`."""
    if n_bytes is None:
        return MISSING
    amount = float(n_bytes)
    for unit in ("B", "KiB", "MiB"):
        if round(amount, 1) < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


def duration(seconds: float | None) -> str:
    """Elapsed time in its two largest units: `1 h 4 min`, `3 min 20 s`, `12 s`."""
    if seconds is None:
        return MISSING
    whole = max(0, int(seconds))
    days, hours, minutes = whole // 86_400, whole // 3_600 % 24, whole // 60 % 60
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"
