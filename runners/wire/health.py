"""Wire types for the health of a node's GPUs: golden runs, measured peaks, and the reason for a drain."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field, FiniteFloat

from runners.wire.protocol import Peaks, TimeMs, WireModel

GpuUuid = Annotated[str, Field(pattern=r"^(GPU|MIG)-[0-9A-Za-z/-]{1,100}$")]


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("in UTC, this is not between the years 1 and 9999") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A time in UTC: databases do not take every offset from it."""


class GoldenReport(WireModel):
    """One run of the golden program on a GPU: six times of one of its parts, as median and extremes."""

    gpu_uuid: GpuUuid
    name: Literal["compute", "copy"]
    median_ms: TimeMs
    low_ms: TimeMs
    high_ms: TimeMs
    drift: FiniteFloat | None = None
    """Relative distance of the median from that of the last 20, 0.01 for 1 % slower; null while too few are known."""
    ran_at: Moment


class PeaksReport(WireModel):
    """The peaks of one GPU, as its node measured them."""

    gpu_uuid: GpuUuid
    peaks: Peaks
    how: dict[str, Annotated[str, Field(max_length=200)]] = Field(default={}, max_length=16)
    """The method that reached the peak of each data type, or the reason why none is known."""
    measured_at: Moment


class NodeHealth(WireModel):
    """The health of a node's GPUs. `drain` is the reason why the node stops claiming and asks to be disabled."""

    protocol_version: int
    golden: list[GoldenReport] = Field(default=[], max_length=128)
    peaks: list[PeaksReport] = Field(default=[], max_length=64)
    drain: str = Field(default="", max_length=400)


class NodeHealthReply(WireModel):
    """A drained node works again once `disabled_reason` is empty, because an organiser has enabled it."""

    disabled_reason: str = ""
