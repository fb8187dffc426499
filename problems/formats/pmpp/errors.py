"""The refusal of one task, with its place and a remedy."""


class TaskRefused(ValueError):
    """A task that cannot become a problem. The message gives file, line, reason and remedy."""

    def __init__(self, file: str, reason: str, remedy: str, line: int | None = None) -> None:
        self.file, self.reason, self.remedy, self.line = file, reason, remedy, line
        place = f"{file} line {line}" if line is not None else file
        super().__init__(f"{place}: {reason}. {remedy}.")
