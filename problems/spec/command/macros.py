"""Finds macros in a solution's files that would rewrite the tests that include these."""

import posixpath
import re
from collections.abc import Sequence

from problems.spec.solution import SourceFile

C_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".ipp", ".tpp")
_LANGUAGE = frozenset(
    {"main", "if", "else", "while", "for", "do", "return", "switch", "case", "break", "continue", "goto"}
)
_TRUTH = {"true": "1", "false": "0"}
"""Values of the macros in old C."""
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
"""Also one without an end: a text of many such beginnings would otherwise be read to its end for each."""
_BLANK = r"[ \t\f\v]"
HASH = rf"^{_BLANK}*(?:#|%:|\?\?=){_BLANK}*"
_DEFINE = re.compile(rf"{HASH}define{_BLANK}+(\w+)(.*)$", re.MULTILINE)
_INCLUDE = re.compile(rf"{HASH}(?:include|import)\w*{_BLANK}*[\"<]([^\">\n]+)", re.MULTILINE)


def why_rewriting(files: Sequence[SourceFile]) -> str:
    """Say which macro would change what `if`, `main` and the like mean in a test, or return "" if none does.

    Looks at C and C++ files, and at whatever these include.
    """
    texts = {file.path: plain(file.content) for file in files if "define" in file.content or "include" in file.content}
    included = {posixpath.basename(name) for text in texts.values() for name in _INCLUDE.findall(text)}
    for path, text in texts.items():
        if path.endswith(C_SUFFIXES) or posixpath.basename(path) in included:
            name = next((name for name, body in _DEFINE.findall(text) if _is_rewritten(name, body)), "")
            if name:
                return f"{path!r} may not define a macro `{name}`: it would change the tests that include the file"
    return ""


def plain(text: str) -> str:
    """C code with its lines spliced, and once more without comments: what looks like one may stand in a string."""
    spliced = re.sub(r"(?:\\|\?\?/)[ \t]*\r?\n", "", text)
    return f"{spliced}\n{_COMMENT.sub(' ', spliced)}"


def _is_rewritten(name: str, body: str) -> bool:
    return name in _LANGUAGE or (name in _TRUTH and body.strip().strip("()") != _TRUTH[name])
