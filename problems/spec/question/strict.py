"""Reads a reply as pmpp-eval does: the first match in a fixed order counts, and nothing is tidied up.

It calls some right replies wrong, for example `Final: **B**`. Use it to compare with figures published for pmpp-eval.
"""

import re
from collections.abc import Sequence

import regex

from problems.spec.question.patterns import first_match

_LETTER = r"final:\s*([A-Z])"
_FINAL, _ANSWER = (re.compile(rf"{word}(?=[:\s])", re.IGNORECASE) for word in ("final", "answer"))
_BOX = re.compile(r"\\boxed\{", re.IGNORECASE)


def patterns_of_choice(patterns: Sequence[str]) -> list[str]:
    """The patterns of a choice: its own, then that of a final letter unless one looks for `final:`."""
    own = list(patterns)
    return own if any("final:" in one.lower() for one in own) else [*own, _LETTER]


def read(reply: str, patterns: Sequence[str]) -> str:
    """The answer in a reply: what the first pattern that matches captures. Raises PatternTooSlow."""
    for pattern in patterns:
        found = _letter(reply) if pattern == _LETTER else first_match(pattern, reply)
        if found is not None:
            return found.strip()
    for found in (_after(_FINAL, reply), _after(_ANSWER, reply), _boxed(reply)):
        if found is not None:
            return found.strip()
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _letter(reply: str) -> str | None:
    match = regex.search(_LETTER, reply, regex.IGNORECASE)
    return match[1] if match else None


def _after(keyword: re.Pattern[str], reply: str) -> str | None:
    r"""The capture of `keyword[:\s]+(.+?)(?:\n|$)`: the rest of the line that the first other character begins.

    Where nothing but colons and blanks follows, the last of them that is no end of a line, but not the first of all.
    """
    match = keyword.search(reply)
    if match is None:
        return None
    at = match.end()
    while at < len(reply) and (reply[at] == ":" or reply[at].isspace()):
        at += 1
    if at < len(reply):
        return reply[at:].partition("\n")[0]
    last = len(reply[match.end() + 1 :].rstrip("\n"))
    return reply[match.end() + last] if last else None


def _boxed(reply: str) -> str | None:
    match = _BOX.search(reply)
    end = reply.find("}", match.end()) if match else -1
    return reply[match.end() : end] if match and end >= 0 else None


def agrees(given: str, expected: str, tolerance: float) -> bool:
    """Both numbers: within the tolerance. Otherwise: equal but for case and blanks round them."""
    try:
        return abs(float(given) - float(expected)) <= tolerance
    except ValueError:
        return given.strip().casefold() == expected.strip().casefold()
