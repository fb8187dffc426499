"""Regular expressions of problem authors, searched under a time limit."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import regex

from problems.spec.record import ReplyUnread

_T = TypeVar("_T")
PATTERN_SECONDS = 0.25
"""Bound on one search of an author's pattern."""
PATIENT_SECONDS = 2.0
"""The same where a search is tried again: the machine may have been busy."""


class PatternTooSlow(ReplyUnread):
    """A search took too long; the text names the pattern."""


def first_match(pattern: str, text: str) -> str | None:
    """The first match in any case: its first group, or all of it where the pattern has no group.

    Raises PatternTooSlow.
    """
    found = _in_time(pattern, lambda s: regex.search(pattern, text, regex.IGNORECASE, timeout=s, concurrent=True))
    return None if found is None else _captured(found)


def all_matches(pattern: str, text: str) -> list[str]:
    """The same for every match, in order. Raises PatternTooSlow."""
    found = _in_time(
        pattern, lambda s: list(regex.finditer(pattern, text, regex.IGNORECASE, timeout=s, concurrent=True))
    )
    return [_captured(one) for one in found]


def why_bad(patterns: Sequence[str]) -> str:
    """Which of the patterns is none, or ""."""
    for pattern in patterns:
        try:
            regex.compile(pattern, regex.IGNORECASE)
        except regex.error as error:
            return f"has the pattern {pattern!r}, which is not a regular expression: {error}"
    return ""


def _in_time(pattern: str, search: Callable[[float], _T]) -> _T:
    """Searches a second time with more patience. Other threads run meanwhile (`concurrent`)."""
    for seconds in (PATTERN_SECONDS, PATIENT_SECONDS):
        try:
            return search(seconds)
        except TimeoutError:
            continue
    raise PatternTooSlow(f"the pattern {pattern!r} did not finish within {PATIENT_SECONDS} s on this reply")


def _captured(found: "regex.Match[str]") -> str:
    return found[1] if found.re.groups and found[1] is not None else found[0]
