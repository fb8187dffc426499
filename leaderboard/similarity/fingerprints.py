"""Fingerprints of code that survive new names, comments, layout and constants. numpy only."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from problems.spec.solution import SourceFile

Hashes = np.ndarray[Any, np.dtype[np.uint64]]
"""Distinct, ascending."""

SHINGLE_TOKENS = 12
MAX_TOKENS = 20_000
"""Limit of tokens per solution; later tokens are not compared."""
SKETCH_HASHES = 256
"""Kept of each solution, the smallest. Similarity is exact for a pair that has no more in all."""

_KEYWORDS = frozenset(
    """
    alignas auto bool break case catch char class const constexpr continue def default delete do double elif else
    enum except explicit extern false finally float for from goto if import in inline int lambda long
    namespace new not operator or and pass private public raise restrict return short signed sizeof static struct
    switch template this throw true try typedef typename union unsigned using virtual void volatile while with
    yield None True False __global__ __device__ __host__ __shared__ __restrict__ __syncthreads __launch_bounds__
    threadIdx blockIdx blockDim gridDim size_t
    """.split()  # noqa: SIM905 - a list of a hundred lines says no more
)
_C = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|^[ \t]*\#[ \t]*include[^\n]*|[^\W\d]\w*|\d[\w.']*|\S", re.DOTALL | re.MULTILINE
)
_PYTHON = re.compile(r'''\#[^\n]*|"""(?:.*?)(?:"""|\Z)|\'\'\'(?:.*?)(?:\'\'\'|\Z)|[^\W\d]\w*|\d[\w.]*|\S''', re.DOTALL)
_STRINGS = {quote: re.compile(rf"{quote}(?:\\.|[^{quote}\\\n])*+({quote}?)", re.DOTALL) for quote in "\"'"}
"""Patterns of a string up to its end, by its quote. Group 1 is empty if it is not closed."""


def hashes_of(files: Iterable[SourceFile]) -> Hashes:
    """The hashes of every shingle of these files."""
    found = {one for file in files for one in _hashes(_tokens(file))}
    return np.array(sorted(found), dtype=np.uint64)


def own_sketch(files: Iterable[SourceFile], given: Hashes) -> Hashes:
    """The smallest hashes of the files that are not among the given ones."""
    own: Hashes = np.setdiff1d(hashes_of(files), given, assume_unique=True)
    return own[:SKETCH_HASHES]


def similarity(one: Hashes, other: Hashes) -> float:
    """The share of common hashes among those of both (Jaccard), estimated by the smallest of the union."""
    smallest = np.union1d(one, other)[:SKETCH_HASHES]
    if not len(smallest):
        return 0.0
    common = np.intersect1d(one, other, assume_unique=True)
    return float(np.isin(smallest, common, assume_unique=True).mean())


def _tokens(file: SourceFile) -> list[str]:
    is_python = file.path.endswith(".py")
    found: list[str] = []
    for text in _raw_tokens(file.content, _PYTHON if is_python else _C):
        if token := _normal(text, is_python=is_python):
            is_member = found[-1:] == ["."] or found[-2:] == ["-", ">"]
            found.append(f".{token}" if is_member and _is_name(token) else token)
            if len(found) >= MAX_TOKENS:
                break
    return found


def _raw_tokens(text: str, pattern: re.Pattern[str]) -> Iterator[str]:
    """The tokens as they are written. A quote that opens no closed string is a token of its own.

    Each text is read once: an escaped quote in a string without an end opens no closed string either.
    """
    at, unclosed_until = 0, dict.fromkeys(_STRINGS, 0)
    while found := pattern.search(text, at):
        token, start, at = found[0], found.start(), found.end()
        if start >= unclosed_until.get(token, len(text)):
            string = _STRINGS[token].match(text, start)
            if string and string[1]:
                token, at = string[0], string.end()
            elif string:
                unclosed_until[token] = string.end()
        yield token


def _normal(token: str, *, is_python: bool) -> str:
    """Comments and includes vanish; strings, numbers and names lose their content, but `name` is kept for `_shape`."""
    first = token[0]
    if is_python:
        if first == "#" or token.startswith(('"""', "'''")):
            return ""
    elif token.startswith(("//", "/*")) or ("include" in token[:40] and token.lstrip().startswith("#")):
        return ""
    if first in "\"'":
        return '"'
    return "0" if first.isdigit() else token


def _is_name(token: str) -> bool:
    return token[:1].isalpha() or token[:1] == "_"


def _hashes(tokens: Sequence[str]) -> Iterator[int]:
    for start in range(len(tokens) - SHINGLE_TOKENS + 1):
        text = _shape(tokens[start : start + SHINGLE_TOKENS])
        yield int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _shape(tokens: Sequence[str]) -> str:
    """The shingle with its names numbered in the order of their first use, so that renaming changes nothing."""
    numbers: dict[str, str] = {}
    return " ".join(
        token
        if token in _KEYWORDS or not _is_name(token.lstrip("."))
        else numbers.setdefault(token, f"n{len(numbers)}")
        for token in tokens
    )
