"""Messages in a log that name a line of a file: of g++, clang, nvcc, ptxas, ld and Python's tracebacks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from django.utils.safestring import SafeString, mark_safe

from leaderboard.web.problems.highlight import anchor

MAX_MESSAGES = 20
MAX_LINE_CHARACTERS = 400
_PATH = r"(?P<path>[^\s:(),\"'][^:(),\"'\n]{0,250}?)"
_SHORTEST = len("a:1:")
_PLACES = (
    re.compile(rf"^(?P<place>{_PATH}:(?P<line>\d{{1,7}})(?::\d{{1,7}})?):\s*(?P<words>.*)$"),  # g++, clang, ld
    re.compile(rf"^(?P<place>{_PATH}\((?P<line>\d{{1,7}})\))\s*:\s*(?P<words>.*)$"),  # nvcc
    re.compile(rf"^ptxas (?P<place>{_PATH}, line (?P<line>\d{{1,7}}))\s*;\s*(?P<words>.*)$"),
    re.compile(r"^\s*File (?P<place>\"(?P<path>[^\"\n]{1,250})\", line (?P<line>\d{1,7}))(?P<words>.*)$"),  # Python
)
_IS_ERROR = re.compile(r"\b(?:fatal )?error\b|undefined reference|multiple definition", re.IGNORECASE)
_PYTHON_ERROR = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)\b.*$")


class SourcePlace(NamedTuple):
    """The target of a line of a log; `start` and `end` are the columns of the words that name it."""

    path: str
    line: int
    words: str
    start: int
    end: int


@dataclass(frozen=True)
class CompilerMessage:
    """An error at a line of one of the sample's own files."""

    path: str
    line: int
    words: str

    @property
    def anchor(self) -> str:
        return anchor(self.path, self.line)


def errors_in(log: str, paths: Sequence[str]) -> list[CompilerMessage]:
    """The errors that name a line of one of these files, in the order of the log; at most MAX_MESSAGES.

    Of a Python traceback it is the last frame in these files, with the exception's own line.
    """
    found: dict[CompilerMessage, None] = {}
    frame: tuple[str, int] | None = None
    for text in log.splitlines():
        place = place_in(text)
        own = own_path(place.path, paths) if place else None
        if place and own and text.lstrip().startswith("File "):
            frame = (own, place.line)
        elif place and own and _IS_ERROR.search(place.words):
            found[CompilerMessage(own, place.line, place.words[:MAX_LINE_CHARACTERS])] = None
        elif frame and _PYTHON_ERROR.match(text):
            found[CompilerMessage(*frame, text[:MAX_LINE_CHARACTERS])] = None
            frame = None
        if len(found) >= MAX_MESSAGES:
            break
    return list(found)


def place_in(text: str) -> SourcePlace | None:
    """The target of a line of a log, if it has one."""
    if len(text) < _SHORTEST:
        return None
    if len(text) > 2 * MAX_LINE_CHARACTERS:
        text = text[: 2 * MAX_LINE_CHARACTERS]
    for pattern in _PLACES:
        if found := pattern.match(text):
            return SourcePlace(found["path"], int(found["line"]), found["words"].strip(), *found.span("place"))
    return None


def own_path(named: str, paths: Sequence[str]) -> str | None:
    """The sample's file that a log names, however its folder is written; None if it is none of them."""
    plain = named.strip().removeprefix("./")
    return next((one for one in paths if plain == one or plain.endswith(f"/{one}")), None)


def linked(log: str, paths: Sequence[str]) -> SafeString:
    """The log as HTML; each place in one of these files is a link to the line in the shown code."""
    return mark_safe("\n".join(_linked_lines(log, paths)))  # noqa: S308 - every piece is escaped


def _linked_lines(log: str, paths: Sequence[str]) -> Iterator[str]:
    for text in log.split("\n"):
        place = place_in(text) if paths else None
        own = own_path(place.path, paths) if place else None
        if place is None or own is None:
            yield escape(text)
            continue
        link = f'<a href="#{escape(anchor(own, place.line))}">{escape(text[place.start : place.end])}</a>'
        yield f"{escape(text[: place.start])}{link}{escape(text[place.end :])}"
