"""Tells a solution's language from its file."""

import re

from problems.spec.function.signature import Language
from problems.spec.solution import SourceFile

_IMPORTS_TRITON = re.compile(r"^[ \t]*(import|from)[ \t]+triton\b", re.MULTILINE)


def language_of(file: SourceFile) -> Language | None:
    """The language of `solution.cu`, `solution.cpp` or `solution.py`; None for any other name."""
    if file.path == "solution.cu":
        return "cuda"
    if file.path == "solution.cpp":
        return "cpp"
    if file.path == "solution.py":
        return "triton" if _IMPORTS_TRITON.search(file.content) else "python"
    return None
