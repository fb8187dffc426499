"""Refusals: a stable code, words for a person, and the HTTP status they travel under."""

from typing import ClassVar


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


class DatabaseUnavailable(Unavailable):
    """The database does not answer, or not within the limits of a lock or a statement."""

    def __init__(self) -> None:
        super().__init__("database_unavailable", "The site's database is busy. Please try again in a while.")
