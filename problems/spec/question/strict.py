"""Reads a reply as pmpp-eval does: the first match in a fixed order counts, and nothing is tidied up.

It calls some right replies wrong, for example `Final: **B**`. Use it to compare with figures published for pmpp-eval.
"""

import re
from collections.abc import Sequence

from problems.spec.question.patterns import first_match

_LETTER = r"final:\s*([A-Z])"
_BUILT_IN = (
    re.compile(r"final[:\s]+(.+?)(?:\n|$)", re.IGNORECASE),
    re.compile(r"answer[:\s]+(.+?)(?:\n|$)", re.IGNORECASE),
    re.compile(r"\\boxed\{([^}]*)\}", re.IGNORECASE),
    re.compile(r"the answer is[:\s]+(.+?)(?:\n|$)", re.IGNORECASE),
)


def patterns_of_choice(patterns: Sequence[str]) -> list[str]:
    """The patterns of a choice: its own, then that of a final letter unless one looks for `final:`."""
    own = list(patterns)
    return own if any("final:" in one.lower() for one in own) else [*own, _LETTER]


def read(reply: str, patterns: Sequence[str]) -> str:
    """The answer in a reply: what the first pattern that matches captures. Raises PatternTooSlow."""
    for pattern in patterns:
        if (found := first_match(pattern, reply)) is not None:
            return found.strip()
    for built_in in _BUILT_IN:
        if match := built_in.search(reply):
            return match[1].strip()
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def agrees(given: str, expected: str, tolerance: float) -> bool:
    """Both numbers: within the tolerance. Otherwise: equal but for case and blanks round them."""
    try:
        return abs(float(given) - float(expected)) <= tolerance
    except ValueError:
        return given.strip().casefold() == expected.strip().casefold()
