"""The line by which a test says how many of its cases passed, as a second condition beside its exit status."""

import re

PASSED, TOTAL = "{passed}", "{total}"
_BLANKS = r"[ \t]*"
_FEW_BLANKS = r"[ \t]{0,99}+"
_NUMBER = rf"{_BLANKS}(\d{{1,18}})"


def why_bad_counts(counts: str) -> str:
    """Say why this text cannot tell passed cases from all, or return "" if it can."""
    if counts.count(PASSED) != 1 or counts.count(TOTAL) != 1:
        return f"must hold {PASSED} and {TOTAL} once each, as in `Summary: {PASSED} / {TOTAL} passed`"
    if "\n" in counts or not counts.replace(PASSED, "").replace(TOTAL, "").strip(" /"):
        return "must be a part of one line with words of its own"
    return ""


def why_not_counted(counts: str, output: str) -> str:
    """Say why the output of a test that ended with status 0 is no pass, or return "" if all cases passed.

    At least one line must be there, and every one must say that all of at least one case passed. A solution that
    prints a line of its own therefore hides none of the harness's.
    """
    found = _pattern(counts).findall(output)
    if not found:
        return f"The test printed no line `{counts}`."
    passed_first = counts.index(PASSED) < counts.index(TOTAL)
    for first, second in found:
        passed, total = (int(first), int(second)) if passed_first else (int(second), int(first))
        if total == 0:
            return "The test counted no cases."
        if passed != total:
            return f"The test counted {passed} of {total} cases as passed."
    return ""


def _pattern(counts: str) -> re.Pattern[str]:
    """The line's expression. Blanks before its first word or number are bounded: a solution may print any number."""
    words = re.escape(counts)
    for mark in (PASSED, TOTAL):
        words = words.replace(re.escape(mark), _NUMBER)
    words = words.removeprefix(_BLANKS)
    first = words.find(_BLANKS)
    if not words[:first].strip("\\ \t"):
        words = words[:first] + _FEW_BLANKS + words[first + len(_BLANKS) :]
    return re.compile(words)
