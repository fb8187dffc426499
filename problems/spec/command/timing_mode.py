"""How a problem wants its benchmark timed: ComputeEval's five timing modes."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field


class ProcessTimingMode(BaseModel):
    """Wall clock of the whole process."""

    type: Literal["process"] = "process"


class KernelsTimingMode(BaseModel):
    """Sum of kernel times; `include` and `exclude` are globs over kernel names."""

    type: Literal["kernels"] = "kernels"
    include: list[str] | None = None
    exclude: list[str] | None = None


class RegionTimingMode(BaseModel):
    """Time inside NVTX ranges whose names match the globs."""

    type: Literal["region"] = "region"
    include: list[str] | None = None
    exclude: list[str] | None = None
    time_type: Literal["kernel", "wall_clock"] = "kernel"


class GpuTimingMode(BaseModel):
    """Kernels plus memory transfers."""

    type: Literal["gpu"] = "gpu"


class CustomTimingMode(BaseModel):
    """The benchmark prints its own time."""

    type: Literal["custom"] = "custom"


TimingMode = Annotated[
    ProcessTimingMode | KernelsTimingMode | RegionTimingMode | GpuTimingMode | CustomTimingMode,
    Field(discriminator="type"),
]


def times_by_wall_clock(mode: object) -> bool:
    """Whether the time is the wall clock of NVTX ranges: what else runs on the host meanwhile is then part of it."""
    return isinstance(mode, RegionTimingMode) and mode.time_type == "wall_clock"
