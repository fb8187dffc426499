"""The refusal of a whole file, with a code for programs and words for people."""

from collections.abc import Sequence


class PackRefused(ValueError):
    """A pack, archive or directory that cannot be used.

    `code` is stable; `line` is the number of the offending line, counted from one, or None. `also` has the file's
    further faults of the same kind.
    """

    def __init__(self, code: str, message: str, line: int | None = None, also: Sequence["PackRefused"] = ()) -> None:
        self.code = code
        self.line = line
        self.also = tuple(also)
        self.message = f"Line {line}: {message}" if line is not None else message
        super().__init__(self.message)
