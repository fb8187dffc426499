"""A loaded definition: what the judge's checker calls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from . import seeding
from .arrays import ITEM_BYTES, Library, is_installed, library_of
from .comparing import Bounds, Comparison, Output, compare, unwritten_wrong
from .declared import FunctionProblem
from .errors import SizesRefused
from .forms import CaseFacts, Form, Parameter
from .importing import Definition, execute
from .podium_form import PodiumForm
from .tensara_form import TensaraForm
from .tensara_problem import Problem


@dataclass(frozen=True)
class Drawn:
    """The data of one call."""

    arguments: list[Any]
    """Call order: arrays for in and inout, Python numbers for scalars, None for out."""
    expected: list[Any]
    """Arrays for out and inout, in the parameters' order."""


class Loaded:
    """One definition, ready to draw and compare. The methods raise DefinitionError for the definition's faults."""

    def __init__(self, form: Form, library: Library) -> None:
        self.form = form
        self.library = library
        self.arrays: str = form.arrays
        self.parameters: list[Parameter] = form.parameters
        self.output_init: str = form.output_init
        self.cases: list[CaseFacts] = form.cases

    @property
    def outputs(self) -> list[Parameter]:
        """The arrays that a solution writes, in call order."""
        return [one for one in self.parameters if one.is_written]

    def draw(self, case: int, seed: int, kept: Mapping[str, Any] = MappingProxyType({})) -> Drawn:
        """Fresh data: equal seeds give equal data, whatever was drawn before. `kept` arrays are used by name."""
        with seeding.call(self.library, seed, case):
            arguments, expected = self.form.draw(case, kept)
        return Drawn(arguments, expected)

    def answer(self, drawn: Drawn) -> list[Any]:
        """The reference's outputs for a draw once more, unchecked: this is timed. It may change the draw."""
        expected = iter(drawn.expected)
        arrays = [next(expected) if one.is_written else None for one in self.parameters]
        pairs = zip(drawn.arguments, arrays)
        return self.form.answer([array if given is None else given for given, array in pairs])

    def kept(self, drawn: Drawn) -> dict[str, Any]:
        """The common inputs of all calls of a case in one process: its arrays of role weight and structure, by name.

        The older forms declare neither.
        """
        if self.form.name != "podium":
            return {}
        pairs = zip(self.parameters, drawn.arguments)
        return {one.name: value for one, value in pairs if one.is_array and one.is_given and one.role != "data"}

    def input_sets(self, case: int) -> int:
        """The number of input sets of a go of the case; 1 for a case of own sizes."""
        return self.cases[case].input_sets if case < len(self.cases) else 1

    @contextmanager
    def own_case(self, like: int, sizes: dict[str, int]) -> Iterator[None]:
        """Inside, case `len(cases)` is that of number `like` with other axis lengths. Raises SizesRefused."""
        if not isinstance(self.form, PodiumForm):
            raise SizesRefused("The sizes of this problem are fixed.")
        with self.form.own_case(like, sizes):
            yield

    def compare(
        self,
        case: int,
        drawn: Drawn,
        actual: list[Any],
        unwritten: list[Any] | None = None,
        *,
        measures: bool = False,
    ) -> Comparison:
        """Rule on the outputs of one call. `unwritten` has a mask for each output: elements that hold the poison. With
        `measures` differences are told of right answers, too."""
        masks = unwritten or [None] * len(actual)
        outputs = [
            Output(one.name, one.dtype, expected, got, mask)
            for one, expected, got, mask in zip(self.outputs, drawn.expected, actual, masks)
        ]
        if self.form.accuracy.kind != "own":
            return compare(self.library, outputs, self.form.accuracy.bounds, measures=measures)
        found = self._by_its_own_verify(case, drawn, actual, outputs)
        if found.right and measures:
            seen = compare(self.library, outputs, Bounds(), measures=True)
            return replace(found, largest=seen.largest, mean=seen.mean)
        return found

    def _by_its_own_verify(self, case: int, drawn: Drawn, actual: list[Any], outputs: list[Output]) -> Comparison:
        """The class rules, but elements that were never written are wrong unless they happen to be right."""
        right, words = self.form.verify(case, drawn.expected, actual)
        left_out = unwritten_wrong(self.library, outputs) if right else 0
        if right and not left_out:
            return Comparison(n_total=sum(math.prod(one.expected.shape) for one in outputs))
        result = compare(self.library, outputs, Bounds())
        result.right = False
        result.message = f"{left_out} elements were never written" if left_out else words or result.message or _REJECTED
        return result

    def compare_on_host(self, case: int, drawn: Drawn, actual: list[Any]) -> Comparison:
        """As `compare`, with copies of the outputs on the CPU."""
        host = Loaded(self.form, library_of("torch", "cpu"))
        expected, outputs = ([self.library.on_cpu(one) for one in arrays] for arrays in (drawn.expected, actual))
        with host.library.placing():
            return host.compare(case, Drawn(drawn.arguments, expected), outputs)

    def facts(self) -> dict[str, Any]:
        """The manifest's plain data, without `ranks` and `is_run`. Draws each case once."""
        cases = [case_fields(self, number, self.draw(number, 0)) for number in range(len(self.cases))]
        return {**self.head(), "cases": cases}

    def head(self) -> dict[str, Any]:
        """The manifest's data that need no draw: everything but the cases."""
        form, accuracy = self.form, self.form.accuracy
        return {
            "form": form.name,
            "arrays": form.arrays,
            "class_name": form.definition.problem_class.__name__,
            "parameters": [_parameter_fields(one) for one in self.parameters],
            "output_init": form.output_init,
            "dtype": form.computes_in,
            "fastest_dtype": form.fastest_dtype,
            "accuracy": {
                "kind": accuracy.kind, "rtol": accuracy.rtol, "atol": accuracy.atol, "reason": accuracy.reason
            },
        }  # fmt: skip


_REJECTED = "the problem's own check rejects it"


def case_fields(loaded: Loaded, number: int, drawn: Drawn) -> dict[str, Any]:
    """One case of the manifest from one draw of it."""
    facts = loaded.cases[number]
    outputs = iter(drawn.expected)
    shapes, scalars = {}, {}
    for one, value in zip(loaded.parameters, drawn.arguments):
        if one.is_array:
            array = next(outputs) if one.is_written else value
            shapes[one.name] = [int(length) for length in array.shape]
        else:
            scalars[one.name] = value
    moved = _moved_bytes(loaded.parameters, shapes) if facts.bytes is None else facts.bytes
    return {
        "name": facts.name, "size": _positive(facts.size), "flops": _amount(facts.flops), "bytes": _amount(moved),
        "shapes": shapes, "scalars": scalars, "input_sets": facts.input_sets,
    }  # fmt: skip


def _moved_bytes(parameters: list[Parameter], shapes: dict[str, list[int]]) -> float:
    """Every input read once and every output written once."""
    arrays = [one for one in parameters if one.is_array]
    return float(
        sum((one.is_given + one.is_written) * math.prod(shapes[one.name]) * ITEM_BYTES[one.dtype] for one in arrays)
    )


def _amount(value: float | None) -> float | None:
    """Fewer than one operation or byte is not declared."""
    return value if value is not None and value >= 1 else None


def _positive(value: float | None) -> float | None:
    return value if value is not None and value > 0 else None


def _parameter_fields(one: Parameter) -> dict[str, Any]:
    return {
        "name": one.name, "kind": one.kind, "direction": one.direction, "role": one.role, "dtype": one.dtype,
        "const": one.is_array and not one.is_written,
    }  # fmt: skip


def load(path: str, device: str = "cpu") -> Loaded:
    """Execute a definition. torch tensors are made on `device`: `cpu` or `cuda`. Raises DefinitionError."""
    library = library_of("torch" if is_installed("torch") else "numpy", device)
    with seeding.mixing(library):
        definition = execute(path, {"podium_functions": FunctionProblem, "problem": Problem})
        form = _form(definition, device)
    return Loaded(form, library_of(form.arrays, device))


def _form(definition: Definition, device: str) -> Form:
    if issubclass(definition.problem_class, FunctionProblem):
        return PodiumForm(definition, device)
    return TensaraForm(definition, library_of("torch", device))
