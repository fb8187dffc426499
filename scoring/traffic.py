"""Bounds from compulsory memory traffic: each input is read once, each output is written once.

Amounts are bytes, times milliseconds, bandwidths GB/s (10⁹ bytes). Needs no numpy, so that nodes can use it.
"""

from dataclasses import dataclass

from scoring.throughput import least_ms

BANDWIDTH_SHARE = 0.25
"""No honest time is below this share of the least time at the DRAM's bandwidth, because data that stay in the L2 cache
move at most about four times as fast."""
DECLARED_SHARE, SHOWN_SHARE = 0.9, 0.25
"""The share of the outputs that must be written. Copies may hold more than a solution must write, such as the unused
end of a buffer."""


@dataclass(frozen=True)
class Copies:
    """The bytes that a harness copies from the host before the timed part, and to the host after it."""

    uploaded_bytes: float = 0.0
    downloaded_bytes: float = 0.0

    @property
    def total_bytes(self) -> float:
        return self.uploaded_bytes + self.downloaded_bytes

    def within(self, read_bytes: float, written_bytes: float) -> "Copies":
        """The copies, at most what the reference reads and writes: it need not touch all that a harness copies."""
        return Copies(min(self.uploaded_bytes, read_bytes), min(self.downloaded_bytes, written_bytes))


@dataclass(frozen=True)
class Outputs:
    """The bytes of the outputs of all timed calls, declared by the problem or shown by the harness's copies."""

    size_bytes: float
    are_declared: bool

    @property
    def least_bytes(self) -> float:
        """The bytes that the timed part must write."""
        return (DECLARED_SHARE if self.are_declared else SHOWN_SHARE) * self.size_bytes

    def are_covered_by(self, written_bytes: float) -> bool:
        """Whether writing so many bytes may have written the outputs."""
        return written_bytes >= self.least_bytes


def outputs_of(declared_bytes: float | None, shown: Copies) -> Outputs | None:
    """The outputs; None if they are neither declared nor shown."""
    if declared_bytes:
        return Outputs(declared_bytes, are_declared=True)
    return Outputs(shown.downloaded_bytes, are_declared=False) if shown.downloaded_bytes else None


def bandwidth_floor_ms(moved_bytes: float | None, peak_gbps: float | None) -> float | None:
    """The shortest plausible time in which the bytes are moved; None if they or the bandwidth are not known."""
    needed_ms = least_ms(None, moved_bytes, None, peak_gbps)
    return None if needed_ms is None else BANDWIDTH_SHARE * needed_ms
