"""One case of a problem: a set of inputs or a size, with the work that one run of it does."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

Dtype = Literal["fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"]
Positive = Annotated[FiniteFloat, Field(gt=0)]
Amount = Annotated[FiniteFloat, Field(ge=1, le=1e24)]
"""Operations or bytes of one run; rates and bounds of such amounts stay finite."""
DEFAULT_DTYPE: Dtype = "fp32"
HELD_OUT = "held-out "
"""How the names of held-out cases begin: their sizes are told to no contestant, so their names are numbers."""


def is_held_out(case: str) -> bool:
    """Whether a case of that name is timed and ranked, and neither run in trials nor shown."""
    return case.startswith(HELD_OUT)


class Case(BaseModel):
    """The declared work of one run; absent amounts are not declared. Amounts are totals: operations and bytes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(default="", max_length=200)
    """Unique within its problem; empty for the only case of a problem."""
    size: Positive | None = None
    """Position on the axis of a chart of time by size."""
    flops: Amount | None = None
    bytes: Amount | None = None
    dtype: Dtype = DEFAULT_DTYPE
    """Data type that the problem says to compute in: shares of the roofline are of its peak."""
    fastest_dtype: Dtype = DEFAULT_DTYPE
    """Fastest arithmetic that the tolerances admit: no honest time lies below the bound of its peak."""

    @property
    def is_declared(self) -> bool:
        """Whether the case declares operations or bytes."""
        return bool(self.flops or self.bytes)
