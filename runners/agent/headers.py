"""The libraries that a build's sources include and that take long to compile."""

import re
from collections.abc import Collection, Mapping

from problems.spec.system_headers import SYSTEM_HEADERS

SUFFIXES = (".cu", ".cuh", ".cpp", ".h", ".hpp")
LOOKED_AT_BYTES = 64 << 10
"""Includes stand at a file's beginning."""
MOST = 16
"""Whoever includes more is told apart from others well enough by these."""
USUAL_SECONDS = {
    "cub": 12.0,
    "cuda": 4.0,
    "cudnn_frontend": 60.0,
    "cudnn_frontend.h": 60.0,
    "cute": 45.0,
    "cutlass": 45.0,
    "thrust": 12.0,
    "torch": 40.0,
}
"""What including a library adds to a build that is alone on one slow core. Only the order of magnitude is meant: these
say what begins first where nothing has been learned yet."""
UNKNOWN_SECONDS = 10.0
"""The same of a library that is not named above."""
BASE_SECONDS = 3.0
"""A build without any of them."""
_LIGHT_FOLDERS = """
arpa asm asm-generic bits cooperative_groups crt gnu linux machine net netinet nv nvtx3 rpc sys
"""
LIGHT_FOLDERS = frozenset(_LIGHT_FOLDERS.split())

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*<([\w./+-]{1,64})>", re.MULTILINE)


def heavy_headers(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """What the sources among `files` include by `<…>`: a library with a folder by that, others by their header.

    Left out are the files' own and what every other program includes: the standard library and most of CUDA's headers.
    Sorted, each once.
    """
    sources = [content for path, content in files.items() if path.endswith(SUFFIXES)]
    names = {match[1].decode() for content in sources for match in _INCLUDE.finditer(content[:LOOKED_AT_BYTES])}
    own = {path[start:] for path in files for start in _starts(path)}
    found = {name.partition("/")[0] if "/" in name else name for name in names - own if _is_heavy(name)}
    return tuple(sorted(found)[:MOST])


def usual_seconds(heavy: Collection[str]) -> float:
    """Roughly what a build takes whose sources include these, as `heavy_headers` names them.

    What libraries share counts twice: it is for comparing builds, and more libraries take longer.
    """
    return BASE_SECONDS + sum(USUAL_SECONDS.get(name, UNKNOWN_SECONDS) for name in heavy)


def _starts(path: str) -> list[int]:
    """Where the whole path and all its ends begin, by any of which an include folder may find it."""
    return [0, *(place + 1 for place, letter in enumerate(path) if letter == "/")]


def _is_heavy(name: str) -> bool:
    folder, slash, _ = name.partition("/")
    return folder not in LIGHT_FOLDERS if slash else name in USUAL_SECONDS or name not in SYSTEM_HEADERS
