"""Parts of a description of a set's file as the sandbox gives it, checked: nothing of it is trusted."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
Length = Annotated[int, Field(ge=0, le=2**48)]
Text = Annotated[str, Field(max_length=1000)]


class StrictDescription(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DescribedRefusal(StrictDescription):
    """The reason for which a file is not read."""

    line: int
    why: Text
    remedy: Text
