"""A profiler's observations of one benchmark besides its time, as input of the outside bounds. Times are ms."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RangeFacts:
    """All instances of the NVTX ranges of one name, over all processes of the run."""

    instances: int
    """How often the range was entered and left."""
    unclosed: int
    """How often it was entered and never left."""
    wall_ms: float
    """Sum of the instances' wall time; what nests in a range of its own name counts once."""
    kernel_ms: float
    """Device time of the kernels launched while the range was open: by its own thread, and by others beside it."""
    launches: int
    memcpy_ms: float
    memset_ms: float
    busy_ms: float
    """Union of the device activity launched in the range: what overlaps counts once."""
    late_ms: float
    """The part of that activity that ran after the range had ended."""
    foreign_launches: int
    """Launches by other threads or processes while it was open; part of `launches` and `kernel_ms`."""


@dataclass(frozen=True)
class ProfileFacts:
    """One profiled run. Activity of all processes that used the device is added up."""

    processes: int
    """How many processes used the device."""
    unfinished: int
    """How many of them ended before their last records were written, as by `_exit` or a signal."""
    dropped_records: int
    kernel_ms: float
    launches: int
    memcpy_ms: float
    memset_ms: float
    busy_ms: float
    """Union of all device activity."""
    outside_ms: float
    """Kernel time of launches made while no range at all was open."""
    outside_launches: int
    kernels: Mapping[str, int] = field(default_factory=dict)
    """Launches by kernel name."""
    ranges: Mapping[str, RangeFacts] = field(default_factory=dict)
