"""The common parts of forms of definitions: a parameter, a case's facts, and the calls that a form answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .comparing import Bounds
from .importing import Definition


@dataclass(frozen=True)
class Parameter:
    """One parameter of `solution`, in call order."""

    name: str
    kind: str
    """`array` or `scalar`."""
    dtype: str
    direction: str = "in"
    role: str = "data"

    @property
    def is_array(self) -> bool:
        return self.kind == "array"

    @property
    def is_written(self) -> bool:
        return self.direction != "in"

    @property
    def is_given(self) -> bool:
        """Whether a call draws it."""
        return self.direction != "out"


@dataclass(frozen=True)
class CaseFacts:
    """One case and the declared work of one call."""

    name: str
    size: float | None
    flops: float | None
    bytes: float | None
    input_sets: int = 1


@dataclass(frozen=True)
class Accuracy:
    """`exact`, `tolerance` or `own`: then the class verifies."""

    kind: str
    rtol: float = 0.0
    atol: float = 0.0
    reason: str = ""

    @property
    def bounds(self) -> Bounds:
        return Bounds(self.rtol, self.atol)


class Form(Protocol):
    """A definition of one form. Its calls raise DefinitionError."""

    name: str
    arrays: str
    output_init: str
    computes_in: str
    fastest_dtype: str
    accuracy: Accuracy
    definition: Definition
    parameters: list[Parameter]
    cases: list[CaseFacts]

    def draw(self, case: int, kept: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
        """Arguments in call order, with None for outputs, and the expected outputs. Called with the call's seed set.

        Arrays in `kept`, by name, take the place of those drawn.
        """

    def answer(self, arguments: list[Any]) -> list[Any]:
        """The reference's outputs for the arguments of a call. Its errors pass as they are."""

    def compile(self) -> None:
        """Have `answer` run the reference by torch.compile."""

    def verify(self, case: int, expected: list[Any], actual: list[Any]) -> tuple[bool, str]:
        """The class's own ruling, where accuracy is `own`."""
