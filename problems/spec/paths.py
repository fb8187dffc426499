"""Which file paths a solution may use, and when two spellings mean the same file."""

import re
import unicodedata
from functools import lru_cache

MAX_PATH_BYTES = 1000
MAX_NAME_BYTES = 255

_PLAIN = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9_.+-]*(/[A-Za-z0-9_+-][A-Za-z0-9_.+-]*)*", re.ASCII)


@lru_cache(maxsize=4096)
def why_bad_path(path: str) -> str:
    """Say why `path` may not be a workspace file, or return "" if it may."""
    if len(path) <= MAX_NAME_BYTES and _PLAIN.fullmatch(path):
        return ""
    return _why_bad_text(path) or _why_bad_parts(path)


def _why_bad_text(path: str) -> str:
    if not path:
        return "the path is empty"
    if any(0xD800 <= ord(char) <= 0xDFFF for char in path):
        return f"the path {path!a} holds a lone surrogate, which is not text"
    if any(unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") for char in path):
        return f"the path {path!a} holds a control or invisible character"
    if "\\" in path:
        return f"the path {path!r} holds a backslash; separate folders with /"
    if len(path.encode()) > MAX_PATH_BYTES:
        return f"the path starting {path[:40]!r} is longer than {MAX_PATH_BYTES} bytes"
    return ""


def _why_bad_parts(path: str) -> str:
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        return f"the path {path!r} is absolute; give it relative to the workspace"
    parts = path.split("/")
    if ".." in parts:
        return f"the path {path!r} leaves its folder with `..`"
    if "" in parts or "." in parts:
        return f"the path {path!r} is not in its normal form; drop `.`, `//` and a `/` at the end"
    if any(part != part.strip() for part in parts):
        return f"the path {path!r} has a space at the start or end of a name"
    if any(len(part.encode()) > MAX_NAME_BYTES for part in parts):
        return f"the path {path[:40]!r}… has a name longer than {MAX_NAME_BYTES} bytes"
    return ""


@lru_cache(maxsize=4096)
def spelling_key(path: str) -> str:
    """Equal for spellings that some file system takes for one file: case and Unicode form are folded."""
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())


def folder_of(path: str) -> str:
    """The folder part of a path, "" for the root."""
    return path.rpartition("/")[0]
