"""Refusals: a stable code, words for a person, and the HTTP status they travel under."""

from collections.abc import Iterable
from typing import ClassVar

MOST_LISTED, MOST_QUOTED = 50, 80
"""Known values that a refusal lists, and characters of the unknown one that it repeats."""


class Refused(Exception):
    """Base of everything an action refuses; the message says what, where and how to mend it."""

    status: ClassVar[int] = 400

    def __init__(self, code: str, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line


class NotAllowed(Refused):
    """This user may not do this."""

    status = 403


class TooMuch(Refused):
    """A quota of the account's is used up for today."""

    status = 429


class Conflict(Refused):
    """The row has moved on since; nothing was changed."""

    status = 409


class Unavailable(Refused):
    """A part of the site does not answer. The same request may succeed later."""

    status = 503


class BadQuery(Refused):
    """A known parameter of an address has a value that does not exist."""

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__("bad_query", message)
        self.parameter = parameter


def refuse_unknown(parameter: str, value: str, known: Iterable[str]) -> None:
    """Raises BadQuery with the known values unless the value is empty or one of them."""
    listed = list(known)
    if value and value not in listed:
        words = f"Known here: {', '.join(listed[:MOST_LISTED])}." if listed else "None is known here yet."
        raise BadQuery(parameter, f"{parameter} “{value[:MOST_QUOTED]}” is not known. {words}")


class DatabaseUnavailable(Unavailable):
    """The database does not answer, or not within the limits of a lock or a statement."""

    def __init__(self) -> None:
        super().__init__("database_unavailable", "The site's database is busy. Please try again in a while.")
