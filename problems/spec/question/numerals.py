"""Reads a number as people and models write it: `1,024`, `12.5 %`, `1/3`, `2^10`, `≈ 3.2 × 10^-4 s`."""

import math
import re
from dataclasses import dataclass

_PLAIN = r"(?:\d{1,3}(?:[,' \u00a0\u202f_]\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_EXPONENT = r"(?:[eE]|\s*(?:\*|x|×|·|\\times|\\cdot)\s*10\s*(?:\^|\*\*)\s*)\{?(?P<exponent>[+\-−]?\d{1,3})\}?"
_NUMBER = re.compile(
    rf"(?P<sign>[+\-−]?)\s*(?P<digits>{_PLAIN})(?:{_EXPONENT})?"
    rf"(?:\s*/\s*(?P<divisor>{_PLAIN})|\s*(?:\^|\*\*)\s*\{{?(?P<power>\d{{1,4}})\}}?)?"
)
_BEFORE = re.compile(r"^(?!.*\bnot\b)\D*?(?=[+\-−]?\s*\.?\d)", re.IGNORECASE)
_AFTER = re.compile(r"^[\s\-]*(?P<percent>\\?%|percent\b)?[\s\-]*(?P<unit>[^\W\d_]*)[^\d=≈+*^]*$")
LARGEST = 1e300
LONGEST = 400
"""Characters that are read; a longer text is no number."""


@dataclass(frozen=True)
class Numeral:
    """A number as written. `decimals` counts the digits after the point; None where rounding means nothing."""

    value: float
    decimals: int | None
    digits: int
    """Significant digits written."""
    is_percent: bool
    unit: str


def numeral(text: str) -> Numeral | None:
    """The number that the text is, with its unit; None if it is no number or more than one."""
    bare = _BEFORE.sub("", text[:LONGEST].strip(), count=1)
    found = _NUMBER.match(bare)
    rest = _AFTER.match(bare[found.end() :]) if found else None
    if found is None or rest is None:
        return None
    value = _value(found)
    if value is None:
        return None
    decimals, digits = _precision(found)
    return Numeral(value, decimals, digits, bool(rest["percent"]), rest["unit"].casefold().removesuffix("s"))


def _number(text: str) -> float:
    return float(re.sub(r"[,' \u00a0\u202f_]", "", text))


def _value(found: re.Match[str]) -> float | None:
    value = _number(found["digits"])
    if found["exponent"]:
        value *= 10.0 ** int(found["exponent"].replace("−", "-"))
    if found["divisor"]:
        divisor = _number(found["divisor"])
        value = value / divisor if divisor else math.nan
    if found["power"]:
        value = _power(value, int(found["power"]))
    value = -value if found["sign"] in ("-", "−") else value
    return value if math.isfinite(value) and abs(value) < LARGEST else None


def _power(base: float, exponent: int) -> float:
    try:
        return base**exponent
    except OverflowError:
        return math.inf


def _precision(found: re.Match[str]) -> tuple[int | None, int]:
    if found["divisor"] or found["power"]:
        return None, 0
    whole, _, fraction = found["digits"].partition(".")
    digits = len((re.sub(r"\D", "", whole) + fraction).lstrip("0"))
    shift = int(found["exponent"].replace("−", "-")) if found["exponent"] else 0
    return len(fraction) - shift, digits
