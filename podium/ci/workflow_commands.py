"""GitHub's workflow commands: annotations, and how other output is kept from being read as a command."""

import os
import re
from collections.abc import Iterator, Sequence

from podium.ci.outcomes import PackOutcomes, SampleOutcome, State

MAX_ANNOTATIONS = 10
"""GitHub shows as many errors, and as many warnings, of one step."""
MAX_CHARACTERS = 2000
_AFTER_BLANKS = re.compile(r"(?<!\s)(\s++)::|\A::")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x85\u2028\u2029]")


def in_github_actions() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def annotations(packs: Sequence[PackOutcomes]) -> Iterator[str]:
    """A line for each failed or ungraded sample, and for each pass with a flag, within GitHub's limits."""
    outcomes = [one for pack in packs for one in pack.outcomes]
    bad = [one for one in outcomes if one.state in (State.FAILED, State.FAULT)]
    flagged = [one for one in outcomes if one.state is State.PASSED and one.flags]
    for one in bad[:MAX_ANNOTATIONS]:
        yield _annotation("error", one, "\n".join(filter(None, [one.reason, one.output])))
    for one in flagged[:MAX_ANNOTATIONS]:
        yield _annotation("warning", one, "\n".join(one.flags))


def error_line(message: str) -> str:
    """An error that belongs to no file."""
    return f"::error title=podium evaluate::{escaped(message)}"


def _annotation(level: str, one: SampleOutcome, message: str) -> str:
    line = f",line={one.place.line}" if one.place.line else ""
    title = f"{one.name}: {one.verdict}"
    return (
        f"::{level} file={escaped_property(one.place.file)}{line},title={escaped_property(title)}::{escaped(message)}"
    )


def escaped(message: str) -> str:
    """A command's message on one line, as GitHub's own toolkit escapes it."""
    shown = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", message[:MAX_CHARACTERS]).replace("##[", "## [")
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escaped_property(value: str) -> str:
    """A command's property, in which colons and commas have a meaning."""
    return escaped(value).replace(":", "%3A").replace(",", "%2C")


def harmless(text: str) -> str:
    """The text with a space put into what GitHub would read as a command: `::` that begins a line, and `##[`."""
    return _AFTER_BLANKS.sub(_harmless_start, text).replace("##[", "## [")


def _harmless_start(found: re.Match[str]) -> str:
    """Blanks and `::`, the latter with a space in it if it begins a line."""
    blanks = found[1] or ""
    begins_line = found.start() == 0 or "\n" in blanks or "\r" in blanks
    return f"{blanks}: :" if begins_line else found[0]


def harmless_json(text: str) -> str:
    """The same for JSON, whose values stay what they are."""
    return text.replace("##[", "\\u0023#[")
