"""The bounds that a site sets on a problem's values, and the faults of those beyond."""

import math
from collections.abc import Iterator

from problems.spec.errors import Fault

SHORTEST_SECONDS, LONGEST_SECONDS = 0.05, 86_400.0
"""Bounds of one command: the start of a process takes milliseconds, and a day is the most that a node gives to one."""
MAX_MEMORY_BYTES = 16 * 2**40
"""16 TiB: of memory, of a file, of a workspace and of an array."""
MAX_OUTPUT_BYTES = 2**30
MAX_SOURCE_BYTES = 2**30
MAX_PROCESSES = 65_536
MAX_RUN_BYTES = 5e14
"""Moved by one run: over a minute at 8 TB/s."""
MAX_RUN_FLOPS = 1e21
"""Limit of one run: over a day at 10 PFLOPS."""
MAX_TOLERANCE = 1e15
MAX_RELATIVE_TOLERANCE = 1.0
"""The tolerance with which a result of 0 is right everywhere."""
MAX_TAGS, MAX_TAG_CHARACTERS = 50, 100

LIMIT_BOUNDS = {
    "memory_bytes": (2**16, MAX_MEMORY_BYTES),
    "processes": (1, MAX_PROCESSES),
    "file_bytes": (1, MAX_MEMORY_BYTES),
    "workspace_bytes": (1, MAX_MEMORY_BYTES),
    "output_bytes": (1, MAX_OUTPUT_BYTES),
    "build_seconds": (SHORTEST_SECONDS, LONGEST_SECONDS),
}
"""Least and most of each of a problem's limits."""


def outside(path: tuple[int | str, ...], value: float | None, least: float, most: float) -> Iterator[Fault]:
    """The fault of a number that is not between the bounds; none where it is not given."""
    if value is not None and not (math.isfinite(value) and least <= value <= most):
        yield Fault(path, f"must be {least:,g} to {_written(most)} (it is {value:g})")


def _written(most: float) -> str:
    return f"{most:,.0f}" if most < 1e15 else f"{most:g}"
