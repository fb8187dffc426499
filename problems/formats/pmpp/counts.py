"""Finds in a harness's source the line by which it says how many of its cases passed."""

import re

from problems.spec.command.counts import PASSED, TOTAL, why_bad_counts

_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_JOINT = re.compile(r'"[ \t]*\n?[ \t]*"')
_CONVERSION = re.compile(r"%[-+ 0]*\d*(?:\.\d+)?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]")
_BOTH = re.compile(rf"({_CONVERSION.pattern})([ ]*(?:/|of)[ ]*)({_CONVERSION.pattern})")
_UNKNOWN = re.compile(rf"%%|{_CONVERSION.pattern}")
_WORD = re.compile(r"\bpass(?:ed)?\b", re.IGNORECASE)
_STREAMED = re.compile(
    r'"((?:[^"\\\n]|\\.)*)"\s*<<\s*[\w.]+\s*<<\s*"([ ]*(?:/|of)[ ]*)"\s*<<\s*[\w.]+(?:\s*<<\s*"((?:[^"\\\n]|\\.)*)")?'
)


def printed_counts(harness: str) -> str:
    """The line with `{passed}` and `{total}` in place of the numbers; empty if the harness prints none.

    Understands `printf` and output streams.
    """
    joined = _JOINT.sub("", harness)
    formats = (line for match in _STRING.finditer(joined) for line in match[1].split(r"\n"))
    found = next((line for text in formats if (line := _from_format(text))), "")
    return found or next((line for match in _STREAMED.finditer(joined) if (line := _from_stream(match))), "")


def _from_format(text: str) -> str:
    match = _BOTH.search(text)
    if match is None or not _WORD.search(text):
        return ""
    before = _UNKNOWN.split(text[: match.start()])[-1]
    after = _UNKNOWN.split(text[match.end() :])[0]
    return _checked(f"{before}{PASSED}{match[2]}{TOTAL}{after}")


def _from_stream(match: re.Match[str]) -> str:
    before, after = match[1].split(r"\n")[-1], (match[3] or "").split(r"\n")[0]
    return _checked(f"{before}{PASSED}{match[2]}{TOTAL}{after}") if _WORD.search(before + after) else ""


def _checked(counts: str) -> str:
    counts = counts.strip()
    return "" if "\\" in counts or why_bad_counts(counts) else counts
