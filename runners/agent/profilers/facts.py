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
    kernels: Mapping[str, int] = field(default_factory=dict)
    """Launches by kernel name."""
    ranges: Mapping[str, RangeFacts] = field(default_factory=dict)
