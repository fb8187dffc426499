"""Regular expressions of problem authors, searched under a time limit."""

from collections.abc import Sequence

import regex

PATTERN_SECONDS = 0.25
"""Bound on one search."""


class PatternTooSlow(ValueError):
    """A search took too long; the text names the pattern."""


def first_match(pattern: str, text: str) -> str | None:
    """The first match in any case: its first group, or all of it where the pattern has no group.

    Raises PatternTooSlow.
    """
    found = _search(pattern, text)
    return None if found is None else _captured(found)


def all_matches(pattern: str, text: str) -> list[str]:
    """The same for every match, in order. Raises PatternTooSlow."""
    try:
        found = list(regex.finditer(pattern, text, regex.IGNORECASE, timeout=PATTERN_SECONDS))
    except TimeoutError:
        raise PatternTooSlow(_words(pattern)) from None
    return [_captured(one) for one in found]


def why_bad(patterns: Sequence[str]) -> str:
    """Which of the patterns is none, or ""."""
    for pattern in patterns:
        try:
            regex.compile(pattern, regex.IGNORECASE)
        except regex.error as error:
            return f"has the pattern {pattern!r}, which is not a regular expression: {error}"
    return ""


def _search(pattern: str, text: str) -> "regex.Match[str] | None":
    try:
        return regex.search(pattern, text, regex.IGNORECASE, timeout=PATTERN_SECONDS)
    except TimeoutError:
        raise PatternTooSlow(_words(pattern)) from None


def _captured(found: "regex.Match[str]") -> str:
    return found[1] if found.re.groups and found[1] is not None else found[0]


def _words(pattern: str) -> str:
    return f"the pattern {pattern!r} did not finish within {PATTERN_SECONDS} s on this reply"
