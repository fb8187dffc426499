"""Faults of a problem's definition: what is wrong, in which line, and how to mend it."""

from __future__ import annotations

from types import TracebackType

SETS_OWN = ("definition_of_the_set.py", "problem_of_the_set.py", "challenge_of_the_set.py")
"""The names under which imported problems compile their sets' code."""


class DeclarationError(ValueError):
    """A value that a definition may not give. The place is added where it is known."""

    def __init__(self, what: str, remedy: str) -> None:
        self.what = what
        self.remedy = remedy
        super().__init__(f"{what}; {remedy}")


class DefinitionError(ValueError):
    """A definition that cannot be used. `line` counts from one; 0 means the file as a whole."""

    def __init__(self, file: str, line: int, what: str, remedy: str) -> None:
        self.file = file
        self.line = line
        self.what = what
        self.remedy = remedy
        place = f"{file} line {line}" if line else file
        super().__init__(f"{place}: {what}; {remedy}")

    def as_json(self) -> dict[str, object]:
        return {"file": self.file, "line": self.line, "what": self.what, "remedy": self.remedy}


def placed(error: BaseException, path: str, fallback_line: int = 0, doing: str = "") -> DefinitionError:
    """The error with the line of the definition that it comes from: its traceback's last line in the file."""
    name = path.rpartition("/")[2]
    if isinstance(error, DefinitionError):
        return error
    line = _last_line(error.__traceback__, path) or fallback_line
    own = _last_line(error.__traceback__, *SETS_OWN)
    if isinstance(error, DeclarationError):
        return DefinitionError(name, line, error.what, error.remedy)
    if isinstance(error, SyntaxError):
        return DefinitionError(name, error.lineno or 0, f"is not valid Python: {error.msg}", "correct the syntax")
    words = " ".join(str(error).split())[:500]
    what = f"{doing + ' ' if doing else ''}raised {type(error).__name__}: {words}"
    what += f" (line {own} of the set's code)" if own else ""
    return DefinitionError(name, line, what, "correct this line, or what it is given")


def _last_line(trace: TracebackType | None, *paths: str) -> int:
    line = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in paths:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


class SizesRefused(ValueError):
    """Sizes that a contestant may not choose. The words are for the contestant and say nothing of the definition."""
