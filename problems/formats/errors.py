"""The refusal of a whole file, with a code for programs and words for people."""

from collections.abc import Sequence
from typing import Any


class PackRefused(ValueError):
    """A pack, archive or directory that cannot be used.

    `code` is stable; `line` is the number of the offending line, counted from one, or None. `also` has the file's
    further faults of the same kind, `readable` the problems of it that could be read.
    """

    readable: Sequence[Any] = ()

    def __init__(self, code: str, message: str, line: int | None = None, also: Sequence["PackRefused"] = ()) -> None:
        self.code = code
        self.line = line
        self.also = tuple(also)
        self.message = f"Line {line}: {message}" if line is not None else message
        super().__init__(self.message)

    @property
    def every_message(self) -> list[str]:
        """This fault's words and those of the file's further faults."""
        return [self.message, *(one.message for one in self.also)]


def raise_all(faults: Sequence[PackRefused], readable: Sequence[Any] = ()) -> None:
    """Raise the first fault with the others beside it; nothing where there is none."""
    if faults:
        faults[0].also, faults[0].readable = tuple(faults[1:]), tuple(readable)
        raise faults[0]
