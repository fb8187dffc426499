"""The description of a file with a `Model`, as the sandbox gives it, checked."""

from typing import Annotated, Any, Literal

from pydantic import Field

from problems.formats.set_descriptions import DescribedRefusal, Length, Name, StrictDescription, Text
from problems.spec.function.dtypes import ArrayDtype

Path = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.]{0,299}$")]


class ModelValue(StrictDescription):
    """An input or output: an array, or a number that is the same in every call."""

    name: Name
    kind: Literal["array", "scalar"]
    dtype: ArrayDtype
    shape: Annotated[list[Length], Field(max_length=8)] = Field(default_factory=list)
    value: bool | int | float | None = None


class Weight(StrictDescription):
    """A tensor of the model's state, or one that it holds beside it."""

    name: Name
    kind: Literal["array"]
    dtype: ArrayDtype
    shape: Annotated[list[Length], Field(max_length=8)]
    path: Path
    is_attribute: bool
    role: Literal["weight", "structure"]


class Case(StrictDescription):
    """One setting of the file."""

    inputs: Annotated[list[ModelValue], Field(max_length=64)]
    weights: Annotated[list[Weight], Field(max_length=64)]
    outputs: Annotated[list[ModelValue], Field(min_length=1, max_length=64)]
    written: list[Name]
    notes: list[Text]
    nesting: list[Any]


class DescribedModel(StrictDescription):
    """One case for each setting, or a refusal."""

    cases: list[Case] = Field(default_factory=list, max_length=64)
    refused: DescribedRefusal | None = None
