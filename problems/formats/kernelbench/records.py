"""A file's description as the sandbox gives it, checked: nothing of it is trusted."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from problems.spec.function.dtypes import ArrayDtype

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
Path = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.]{0,299}$")]
Length = Annotated[int, Field(ge=0, le=2**48)]
Text = Annotated[str, Field(max_length=1000)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelValue(_Strict):
    """An input or output: an array, or a number that is the same in every call."""

    name: Name
    kind: Literal["array", "scalar"]
    dtype: ArrayDtype
    shape: Annotated[list[Length], Field(max_length=8)] = Field(default_factory=list)
    value: bool | int | float | None = None


class Weight(_Strict):
    """A tensor of the model's state, or one that it holds beside it."""

    name: Name
    kind: Literal["array"]
    dtype: ArrayDtype
    shape: Annotated[list[Length], Field(max_length=8)]
    path: Path
    is_attribute: bool
    role: Literal["weight", "structure"]


class Case(_Strict):
    """One setting of the file."""

    inputs: Annotated[list[ModelValue], Field(max_length=64)]
    weights: Annotated[list[Weight], Field(max_length=64)]
    outputs: Annotated[list[ModelValue], Field(min_length=1, max_length=64)]
    written: list[Name]
    notes: list[Text]
    nesting: list[Any]


class ModelRefusal(_Strict):
    """The reason for which a file is not read."""

    line: int
    why: Text
    remedy: Text


class DescribedModel(_Strict):
    """One case for each setting, or a refusal."""

    cases: list[Case] = Field(default_factory=list, max_length=64)
    refused: ModelRefusal | None = None
