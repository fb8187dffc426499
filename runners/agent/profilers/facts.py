"""A profiler's observations of one benchmark besides its time, as input of the outside bounds. Times are ms."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RangeFacts:
    """All instances of the NVTX ranges of one name, over all processes of the run."""

    instances: int
    """Number of times that the range was entered and left."""
    unclosed: int
    """Number of times that the range was entered and never left."""
    wall_ms: float
    """Sum of the instances' wall times. An instance inside another of the same name is not counted again."""
    kernel_ms: float
    """Device time of the kernels launched while the range was open, by its own thread, other threads and processes."""
    launches: int
    memcpy_ms: float
    memset_ms: float
    busy_ms: float
    """Device time covered by the activity launched in the range. Overlapping activity counts once."""
    late_ms: float
    """The part of `busy_ms` after the range had ended."""
    foreign_launches: int
    """Launches by other threads or processes while the range was open. `launches` and `kernel_ms` include them."""
    copied_bytes: int = 0
    """Bytes of the copies launched in the range, in all directions."""
    filled_bytes: int = 0
    uploaded_before_bytes: int = 0
    """Bytes copied from the host outside all ranges, until the range was entered for the last time."""
    downloaded_after_bytes: int = 0
    """Bytes copied to the host outside all ranges, since the range was left for the first time."""


@dataclass(frozen=True)
class ProfileFacts:
    """Observations of one profiled run, summed over its processes."""

    processes: int
    """Number of processes that used the device."""
    unfinished: int
    """Number of these that ended before they wrote their last records, for example by `_exit` or a signal."""
    dropped_records: int
    kernel_ms: float
    launches: int
    memcpy_ms: float
    memset_ms: float
    busy_ms: float
    """Device time covered by any activity. Within a process, overlapping activity counts once."""
    outside_ms: float
    """Device time of the kernels launched while no range was open."""
    outside_launches: int
    copied_bytes: int = 0
    """Bytes of all copies, in all directions."""
    filled_bytes: int = 0
    uploaded_bytes: int = 0
    """Bytes copied from the host."""
    downloaded_bytes: int = 0
    """Bytes copied to the host."""
    kernels: Mapping[str, int] = field(default_factory=dict)
    """Launches by kernel name."""
    ranges: Mapping[str, RangeFacts] = field(default_factory=dict)


@dataclass(frozen=True)
class Traffic:
    """Memory traffic of the timed kernels of one run, by the hardware's counters. Amounts are bytes."""

    launches: int
    kernel_ms: float
    """Sum of the kernels' times while they were counted."""
    l2_written_bytes: float
    """32 bytes for each sector of the L2 cache that a store, reduction or atomic operation reached."""
    l2_read_bytes: float | None = None
    dram_read_bytes: float | None = None
    dram_written_bytes: float | None = None
