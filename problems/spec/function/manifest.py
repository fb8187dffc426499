"""A function problem's manifest: its signature, cases and tolerances as plain data, made by running the class once."""

import math
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from problems.spec.case import DEFAULT_DTYPE, HELD_OUT, Amount, Case, Dtype, Positive, is_held_out
from problems.spec.function.dtypes import WHOLE_DTYPES, ParameterDtype
from problems.spec.sizes import Size

MAX_CASES, MAX_PARAMETERS, MAX_AXES, MAX_INPUT_SETS = 256, 64, 8, 64
_Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
_Length = Annotated[int, Field(ge=0, le=2**48)]
_NotNegative = Annotated[FiniteFloat, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Parameter(_Strict):
    """One parameter of `solution`. An array's `role` says whether its values may stay the same from call to call."""

    name: _Name
    kind: Literal["array", "scalar"]
    direction: Literal["in", "out", "inout"] = "in"
    role: Literal["data", "structure", "weight"] = "data"
    dtype: ParameterDtype
    const: bool = False

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if self.kind == "scalar" and self.direction != "in":
            raise ValueError(f"is the scalar `{self.name}` with direction {self.direction}; only arrays can be written")
        if self.kind == "array" and self.dtype == "size_t":
            raise ValueError(f"is the array `{self.name}` of size_t; use uint64 or int64")
        if self.const and self.direction != "in":
            raise ValueError(f"is `{self.name}`, which is const and yet written")
        return self

    @property
    def is_written(self) -> bool:
        """Whether the solution fills it: an output, or an array changed in place."""
        return self.direction != "in"


class Accuracy(_Strict):
    """When an element is right. `own`: the class decides; `rtol` and `atol` then mean nothing."""

    kind: Literal["exact", "tolerance", "own"]
    rtol: _NotNegative = 0.0
    atol: _NotNegative = 0.0
    reason: str = Field(default="", max_length=1000)


class ManifestCase(_Strict):
    """One case: its work, and the shape or value of every parameter. `ranks` is null where nobody has looked."""

    name: str = Field(min_length=1, max_length=200)
    size: Positive | None = None
    flops: Amount | None = None
    bytes: Amount | None = None
    shapes: dict[str, Annotated[list[_Length], Field(max_length=MAX_AXES)]] = Field(default_factory=dict)
    """Axis lengths of each array, outermost first. Arrays are C-contiguous."""
    scalars: dict[str, int | float | bool] = Field(default_factory=dict)
    input_sets: int = Field(default=1, ge=1, le=MAX_INPUT_SETS, exclude_if=lambda sets: sets == 1)
    """On how many inputs a timed go calls `solution` in a row. A 1 is not written: digests from before it hold."""
    ranks: bool | None = None
    """Whether every output depends on inputs that each call draws anew, and the check rejects wrong answers."""
    why_not: str = Field(default="", max_length=1000)
    admits: Dtype | Literal[""] = ""
    """The lowest precision below `fastest_dtype` whose results the check accepts; empty if it accepts none. Its peak
    bounds the case's time then."""

    @property
    def is_held_out(self) -> bool:
        """Its name says so. Its sizes are for the checker and organisers alone."""
        return is_held_out(self.name)

    def elements(self, name: str) -> int:
        """Number of elements of an array. Raises KeyError."""
        return math.prod(self.shapes[name])


class Manifest(_Strict):
    """Everything that site and node know of the class without running it."""

    form: Literal["podium", "tensara", "tensara-2025-03"]
    arrays: Literal["numpy", "torch"]
    class_name: str = Field(min_length=1, max_length=200)
    parameters: Annotated[list[Parameter], Field(min_length=1, max_length=MAX_PARAMETERS)]
    output_init: Literal["poison", "zero"] = "poison"
    dtype: Dtype = DEFAULT_DTYPE
    """Data type that the problem computes in."""
    fastest_dtype: Dtype = DEFAULT_DTYPE
    """Fastest arithmetic that the tolerances admit."""
    accuracy: Accuracy
    cases: Annotated[list[ManifestCase], Field(max_length=MAX_CASES)] = Field(default_factory=list)
    is_run: bool
    """False: the class was read and not run, so shapes are unknown."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        self._check_names()
        if not any(one.is_written for one in self.parameters):
            raise ValueError("has no parameter of direction out or inout, so a solution could give no answer")
        if self.is_run:
            self._check_cases()
        return self

    def _check_names(self) -> None:
        for names, what in (
            ([one.name for one in self.parameters], "parameter"),
            ([c.name for c in self.cases], "case"),
        ):
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise ValueError(f"names the {what} `{twice}` twice")

    def _check_cases(self) -> None:
        if not self.cases:
            raise ValueError("has no cases")
        if self.cases[0].is_held_out:
            raise ValueError("has no case that is not held out; a run before submitting needs one")
        if any(case.is_held_out != (n >= self.n_public) for n, case in enumerate(self.cases)):
            raise ValueError(f"has a case `{HELD_OUT}…` before others; held-out cases come last")
        arrays = {one.name for one in self.parameters if one.kind == "array"}
        scalars = {one.name for one in self.parameters if one.kind == "scalar"}
        for case in self.cases:
            if case.shapes.keys() != arrays or case.scalars.keys() != scalars:
                raise ValueError(f"case `{case.name}` does not give every array's shape and every scalar's value")

    @property
    def outputs(self) -> list[Parameter]:
        """The arrays that a solution writes, in call order."""
        return [one for one in self.parameters if one.is_written]

    @property
    def setup_places(self) -> list[int]:
        """Places of the arguments that a solution's `setup` gets: weights, structure and scalars.

        None if there are only scalars. The older forms declare neither weights nor structure.
        """
        if self.form != "podium":
            return []
        kept = [one.kind == "array" and not one.is_written and one.role != "data" for one in self.parameters]
        scalars = [one.kind == "scalar" for one in self.parameters]
        return [at for at in range(len(kept)) if kept[at] or scalars[at]] if any(kept) else []

    @property
    def n_public(self) -> int:
        """The number of cases that are not held out. They come first."""
        return sum(not case.is_held_out for case in self.cases)

    @property
    def n_held_out(self) -> int:
        return len(self.cases) - self.n_public

    @property
    def told(self) -> Self:
        """The contestants' manifest, without its held-out cases."""
        return self.model_copy(update={"cases": self.cases[: self.n_public]})

    @property
    def smallest_case(self) -> int:
        """Number of the case with the fewest elements, of those that are not held out."""
        return min(range(self.n_public), key=lambda at: sum(map(math.prod, self.cases[at].shapes.values())))

    @property
    def sizes(self) -> list[Size]:
        """The scalars of whole numbers, which may be axes, with their values over the cases that are not held out."""
        usual = self.cases[self.smallest_case].scalars
        whole = [one.name for one in self.parameters if one.kind == "scalar" and one.dtype in WHOLE_DTYPES]
        values = {name: [int(case.scalars[name]) for case in self.told.cases] for name in whole}
        return [Size(name, min(1, *found), max(found), int(usual[name])) for name, found in values.items()]

    @property
    def timed_cases(self) -> tuple[Case, ...]:
        """The cases whose times may rank, with their work."""
        return tuple(self._timed(case) for case in self.cases if case.ranks is not False)

    def _timed(self, case: ManifestCase) -> Case:
        return Case(
            name=case.name,
            size=case.size or sum(map(math.prod, case.shapes.values())) or None,
            flops=case.flops,
            bytes=case.bytes,
            dtype=self.dtype,
            fastest_dtype=case.admits or self.fastest_dtype,
        )
