"""The refusal of a whole file, with a code for programs and words for people."""


class PackRefused(ValueError):
    """A pack, archive or directory that cannot be used.

    `code` is stable; `line` is the number of the offending line, counted from one, or None.
    """

    def __init__(self, code: str, message: str, line: int | None = None) -> None:
        self.code = code
        self.line = line
        self.message = f"Line {line}: {message}" if line is not None else message
        super().__init__(self.message)
