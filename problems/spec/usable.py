"""Values of a record with which no machine can run it. Every judge skips such a problem and says why.

The bounds are those of programs and kernels, far above what a site accepts (`problems.spec.site`).
"""

import posixpath
from collections.abc import Mapping, Sequence

LONGEST_SECONDS = 1e9
"""Threads cannot wait for ten times as long."""
LARGEST_COUNT = 2**60
"""Bytes and processes; sums of such bounds stay below 2^63."""
MAX_NAME_BYTES, MAX_PATH_BYTES = 255, 4096
"""Limits of a file; Linux's own."""
MAX_COMMAND_BYTES = 100 * 1024
"""Linux takes 128 KiB of one argument."""


def why_unusable(limits: Mapping[str, float], seconds: float | None, commands: Sequence[str | None]) -> str:
    """Returns the reason why nothing can run within `limits` (by name), the time limit in seconds and these commands,
    or "".

    The words follow "The problem".
    """
    for name, bound in [("time limit", seconds or 0.0), *((name, limits[name]) for name in sorted(limits))]:
        if _is_too_much(name, bound):
            return f"has a {name.replace('_', ' ')} of {bound:g}, which no machine can keep"
    reason = next((reason for one in commands if one and (reason := why_bad_command(one))), "")
    return f"has a command that {reason}" if reason else ""


def why_bad_places(paths: Sequence[str]) -> str:
    """Returns the reason why a problem's own files cannot be laid out in a folder, or ""."""
    places = {posixpath.normpath(path) for path in paths}
    for place in sorted(places):
        if place in (".", "..") or place.startswith(("/", "../")) or "\0" in place:
            return f"has the file {place!r}, which would lie outside its folder"
        parts = place.split("/")
        if len(_bytes(place)) >= MAX_PATH_BYTES or any(len(_bytes(part)) > MAX_NAME_BYTES for part in parts):
            return f"has the file {place[:100]!r}…, whose name is too long"
        if any("/".join(parts[:n]) in places for n in range(1, len(parts))):
            return f"has the file {place!r} below a path that is a file itself"
    return ""


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogatepass")


def _is_too_much(name: str, bound: float) -> bool:
    in_seconds = name == "time limit" or name.endswith("_seconds")
    return bound > (LONGEST_SECONDS if in_seconds else LARGEST_COUNT)


def why_bad_command(command: str) -> str:
    """Returns the reason why no shell can run the command, or ""."""
    if "\0" in command:
        return "has a NUL character"
    if any(0xD800 <= ord(char) <= 0xDFFF for char in command):
        return "has a lone surrogate, which is not text"
    if len(command.encode()) > MAX_COMMAND_BYTES:
        return f"is longer than {MAX_COMMAND_BYTES // 1024} KiB"
    return ""
