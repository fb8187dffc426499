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
_TEX_SEPARATOR = re.compile(r"(?<=\d)(?:\{,\}|\\[,;!:])(?=\d{3})")
_EQUALS = re.compile(r"(?<![<>!])[=≈≡]+|\s\((?=[^()]*\d)")
_BOUND_BEFORE = re.compile(
    r"(?:\b(?P<no>no )?(?P<word>at least|at most"
    r"|(?:more|fewer|less|greater|larger|smaller|bigger|higher|lower)(?: than(?: or equal to)?)?"
    r"|over|under|above|below|up to|beyond|exceeding|exceeds"
    r"|(?:bounded|limited|capped) (?:by|to|at))|(?P<sign>[<>≤≥⩽⩾≲≳≦≧]=?))"
    r"[\s($]*(?:about |approximately |exactly )?$",
    re.IGNORECASE,
)
_BOUND_AFTER = re.compile(
    r"\b(?:(?:or|and) (?P<way>more|less|fewer|above|below|higher|lower|greater|larger|smaller|over|under|up|beyond)"
    r"|(?P<end>at least|at most|upwards?))\b",
    re.IGNORECASE,
)
_FROM_BELOW = (
    "at least",
    "more",
    "greater",
    "larger",
    "bigger",
    "higher",
    "over",
    "above",
    "beyond",
    "exceed",
    ">",
    "≥",
    "⩾",
    "≳",
    "≧",
)
_AFTER = re.compile(r"^[\s\-]*(?P<percent>\\?[%﹪]|per ?cent\b|pct\b)?[\s\-]*(?P<unit>[^\W\d_]*)[^\d=≈+*^]*$")
_CHANGED_BEFORE = re.compile(
    r"(?:\b(?:minus|negative|twice|thrice|half of|(?:square )?root of|sqrt|log2?|log10|ln|exp)\b(?: of| the)*|[√∛±∓])"
    r"[\s($]*$",
    re.IGNORECASE,
)
_CHANGED_AFTER = re.compile(r"\s*(?:[⁰¹²³⁴⁵⁶⁷⁸⁹⁻‰]|(?i:squared|cubed|per mille?)\b)")
"""Words and marks beside a number that make another number of it."""
SCALES = frozenset({"dozen", "hundred", "thousand", "million", "billion", "trillion"})
"""Units without which a number is another."""
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
    bound: str = ""
    """">" of a number that is only bounded from below, as `at least 4`, "<" from above; "" of one that is meant."""


def numeral(text: str) -> Numeral | None:
    """The number that the text is, with its unit; None if it is no number or more than one."""
    if len(text) > LONGEST:
        return None
    text = _TEX_SEPARATOR.sub(",", text)
    bare = _BEFORE.sub("", text.strip(), count=1)
    found = _NUMBER.match(bare)
    rest = _AFTER.match(bare[found.end() :]) if found else None
    if found is None or rest is None:
        return None
    before, after = text.strip()[: -len(bare)], bare[found.end() :]
    if _CHANGED_BEFORE.search(before) or _CHANGED_AFTER.match(after):
        return None
    value = _value(found)
    if value is None:
        return None
    decimals, digits = _precision(found)
    bound = _bound(before, after)
    unit = "thousand" if rest["unit"] == "k" else rest["unit"].casefold().removesuffix("s")
    return Numeral(value, decimals, digits, bool(rest["percent"]), unit, bound)


def sides(text: str) -> list[Numeral]:
    """The number that a text is, or those of its sides: two of `n = 2^12 = 4096` and of `4096 (2^12)`."""
    if len(text) > LONGEST:
        return []
    parts = [part for part in _EQUALS.split(text) if part.strip()]
    numbers = [numeral(part) for part in parts if part is parts[-1] or is_number(part)]
    return [one for one in numbers if one is not None]


def is_number(text: str) -> bool:
    """Whether the text begins with the number that it is."""
    return text.strip(" ($")[:1] in "0123456789.+-−" and numeral(text) is not None


def _bound(before: str, after: str) -> str:
    if found := _BOUND_BEFORE.search(before):
        is_below = (found["word"] or found["sign"]).lower().startswith(_FROM_BELOW)
        return ">" if is_below != bool(found["no"]) else "<"
    if found := _BOUND_AFTER.search(after):
        return ">" if (found["way"] or found["end"]).lower().startswith((*_FROM_BELOW, "up")) else "<"
    return ""


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
