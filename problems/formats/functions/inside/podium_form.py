"""Our own form of a definition: everything declared, and checked against what the methods return."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .arrays import FLOATS, ITEM_BYTES, Library, library_of
from .declared import HELD_OUT, Array, Case, Exact, FunctionProblem, Scalar, Tolerance
from .errors import SizesRefused
from .forms import Accuracy, CaseFacts, Parameter
from .importing import Definition
from .seeding import mixed

COMPUTING_DTYPES = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8")


class PodiumForm:
    """A definition that derives from `podium_functions.FunctionProblem`."""

    name = "podium"

    def __init__(self, definition: Definition, device: str) -> None:
        self.definition = definition
        with definition.calling("__init__"):
            self._problem: FunctionProblem = definition.problem_class()
        self.arrays = self._chosen("arrays", ("numpy", "torch"))
        self.output_init = self._chosen("output_init", ("poison", "zero"))
        self.computes_in = self._chosen("computes_in", COMPUTING_DTYPES)
        self.fastest_dtype = self._chosen("fastest_dtype", (*COMPUTING_DTYPES, None)) or self.computes_in
        self._declared = self._checked_parameters()
        self.parameters = [_parameter(one) for one in self._declared]
        self.accuracy = self._checked_accuracy()
        self._cases = self._checked_cases()
        self._check_methods()
        self._library: Library = library_of(self.arrays, device)
        self._problem.device = self._library.device
        self._check_dtypes()
        self.cases = [self._facts(number, case) for number, case in enumerate(self._cases)]

    def draw(self, case: int, kept: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
        """Arguments in call order and expected outputs, all of the declared shapes and data types."""
        chosen = self._cases[case]
        given = {**self._given(chosen), **kept}
        arguments = [self._argument(one, chosen, given) for one in self._declared]
        return arguments, self._expected(chosen, given)

    @contextmanager
    def own_case(self, like: int, sizes: dict[str, int]) -> Iterator[None]:
        """Inside, there is one case more: that of number `like` with these axis lengths. Raises SizesRefused."""
        base, cases = self._cases[like], self._cases
        chosen = Case("own sizes", held_out=False, **{**base.axes, **self._checked_sizes(base, sizes)})
        most_bytes = max(map(self._array_bytes, self._public))
        if self._array_bytes(chosen) > most_bytes:
            words = f"these sizes need {self._array_bytes(chosen)} bytes of arrays"
            raise SizesRefused(f"{words}; the largest case has {most_bytes}. Choose smaller ones.")
        self._cases = (*cases, chosen)
        try:
            yield
        finally:
            self._cases = cases

    def _checked_sizes(self, base: Case, sizes: dict[str, int]) -> dict[str, int]:
        """The sizes, each an axis that is passed as a scalar, and within the lengths of the problem's own cases."""
        names = [one.name for one in self._declared if isinstance(one, Scalar) and one.name in base.axes]
        for name, length in sizes.items():
            if name not in names:
                raise SizesRefused(f"`{name}` is not a size of this problem. Its sizes are: {', '.join(names) or '–'}.")
            lengths = [case.axes.get(name, 0) for case in self._public]
            least, most = min(1, *lengths), max(lengths)
            if not least <= length <= most:
                raise SizesRefused(f"`{name}` is {length}; choose {least} to {most}.")
        return sizes

    def _array_bytes(self, case: Case) -> int:
        arrays = [one for one in self._declared if isinstance(one, Array)]
        return sum(math.prod(_shape(one, case)) * ITEM_BYTES[one.dtype] for one in arrays)

    def answer(self, arguments: list[Any]) -> list[Any]:
        """The reference's outputs, unchecked: this is timed. The case is the first one whose axes fit."""
        axes = self._axes_of(arguments)
        chosen = next((case for case in self._cases if axes.items() <= case.axes.items()), None) or Case(
            "call", held_out=False, **axes
        )
        pairs = zip(self._declared, arguments)
        given = {one.name: value for one, value in pairs if self._is_drawn(one, chosen)}
        returned = self._problem.reference(chosen, **given)
        return list(returned) if isinstance(returned, (tuple, list)) else [returned]

    def compile(self) -> None:
        self._problem.reference = self._library.compiled(self._problem.reference)  # type: ignore[method-assign]

    def _axes_of(self, arguments: list[Any]) -> dict[str, int]:
        axes = {}
        for one, value in zip(self._declared, arguments):
            if isinstance(one, Array):
                axes.update({dim: int(n) for dim, n in zip(one.dims, value.shape) if isinstance(dim, str)})
            elif one.name in self._cases[0].axes:
                axes[one.name] = int(value)
        return axes

    def verify(self, case: int, expected: list[Any], actual: list[Any]) -> tuple[bool, str]:
        single = len(expected) == 1
        pair = (expected[0], actual[0]) if single else (tuple(expected), tuple(actual))
        with self.definition.calling("verify"):
            ruling = self._problem.verify(self._cases[case], *pair)  # type: ignore[attr-defined]
            right, facts = ruling if isinstance(ruling, tuple) else (ruling, {})
            return bool(right), str(facts.get("message", "")) if isinstance(facts, dict) else ""

    def _chosen(self, member: str, allowed: tuple[Any, ...]) -> Any:
        value = getattr(self._problem, member)
        if value not in allowed:
            names = ", ".join(str(one) for one in allowed)
            raise self.definition.fault(member, f"`{member}` is {value!r}", f"use one of {names}")
        return value

    def _checked_parameters(self) -> tuple[Any, ...]:
        declared = self._problem.parameters
        fault = self.definition.fault
        if not isinstance(declared, (tuple, list)) or not all(isinstance(one, (Array, Scalar)) for one in declared):
            raise fault("parameters", "`parameters` must hold Arrays and Scalars only", "declare each in call order")
        names = [one.name for one in declared]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise fault("parameters", f"`parameters` names `{twice}` twice", "give each its own name")
        if not any(isinstance(one, Array) and one.is_written for one in declared):
            raise fault("parameters", "no array has direction out or inout", "declare the output of `solution`")
        return tuple(declared)

    def _checked_accuracy(self) -> Accuracy:
        given = self._problem.accuracy
        if hasattr(self._problem, "verify"):
            return Accuracy("own", reason=getattr(given, "reason", ""))
        if isinstance(given, Exact):
            return Accuracy("exact", reason=given.reason)
        packed = next((one.name for one in self._declared if one.dtype == "float4_e2m1fn_x2" and _is_output(one)), None)
        if isinstance(given, Tolerance) and packed is not None:
            words = f"output `{packed}` packs two numbers a byte, to which a Tolerance cannot be applied"
            raise self.definition.fault("accuracy", words, "use Exact, or a method `verify`")
        if isinstance(given, Tolerance):
            return Accuracy("tolerance", float(given.rtol), float(given.atol), given.reason)
        remedy = "give Tolerance(rtol=…, atol=…, reason=…) or Exact(), or a method `verify`"
        raise self.definition.fault("accuracy", "`accuracy` is not set", remedy)

    def _checked_cases(self) -> tuple[Case, ...]:
        cases = self._problem.cases
        fault = self.definition.fault
        if not isinstance(cases, (tuple, list)) or not cases or not all(isinstance(one, Case) for one in cases):
            raise fault("cases", "`cases` must hold at least one Case", 'write cases = (Case("small", rows=3), …)')
        names = [case.name for case in cases]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise fault("cases", f"two cases are called `{twice}`", "give each its own name")
        for case in cases:
            if absent := sorted(self._axes() - case.axes.keys()):
                raise fault("cases", f"case `{case.name}` has no axis `{absent[0]}`", f"add {absent[0]}=… to it")
        held_out = [case.held_out for case in cases]
        if held_out[0] or held_out != sorted(held_out):
            raise fault("cases", "a held-out case comes first or before another", "list held-out cases last")
        return tuple(cases)

    @property
    def _public(self) -> tuple[Case, ...]:
        return tuple(case for case in self._cases if not case.held_out)

    def _axes(self) -> set[str]:
        arrays = [one for one in self._declared if isinstance(one, Array)]
        return {dim for one in arrays for dim in one.dims if isinstance(dim, str)}

    def _check_methods(self) -> None:
        members = (
            ["reference", "inputs"]
            if any(self._is_drawn(one, self._cases[0]) for one in self._declared)
            else ["reference"]
        )
        for member in members:
            if getattr(self.definition.problem_class, member) is getattr(FunctionProblem, member):
                raise self.definition.fault(member, f"the class has no method `{member}`", f"write `{member}`")

    def _check_dtypes(self) -> None:
        for one in self._declared:
            if isinstance(one, Array) and self._library.dtype(one.dtype) is None:
                words = f"{self.arrays} has no data type {one.dtype}, which `{one.name}` declares"
                raise self.definition.fault("parameters", words, 'set arrays = "torch"')

    def _is_drawn(self, one: Any, case: Case) -> bool:
        """Whether `inputs` must give it."""
        return one.direction != "out" if isinstance(one, Array) else one.name not in case.axes

    def _facts(self, number: int, case: Case) -> CaseFacts:
        """The case's name; a number for a held-out one, whose name may tell its sizes."""
        name = f"{HELD_OUT}{number + 1 - len(self._public)}" if case.held_out else case.name
        size = None if case.size is None else float(case.size)
        flops, moved = self._amount("flops", case), self._amount("bytes", case)
        return CaseFacts(name, size, flops, moved, case.input_sets)

    def _amount(self, member: str, case: Case) -> float | None:
        with self.definition.calling(member):
            value = getattr(self._problem, member)(case)
            number = None if value is None else float(value)
        if number is not None and not (math.isfinite(number) and number >= 0):
            raise self.definition.fault(member, f"`{member}` returned {value!r}", "return a number of at least 0")
        return number

    def _given(self, case: Case) -> dict[str, Any]:
        """The checked result of `inputs`."""
        wanted = {one.name: one for one in self._declared if self._is_drawn(one, case)}
        if not wanted:
            return {}
        with self.definition.calling("inputs"):
            given = self._problem.inputs(case, self._library.generator(mixed("inputs")))
        if not isinstance(given, dict) or given.keys() != wanted.keys():
            names = sorted(given) if isinstance(given, dict) else type(given).__name__
            words = f"`inputs` returned {names} for case `{case.name}`"
            raise self.definition.fault("inputs", words, f"return a dict with {', '.join(wanted)}")
        return {name: self._checked_input(one, case, given[name]) for name, one in wanted.items()}

    def _checked_input(self, one: Any, case: Case, value: Any) -> Any:
        if isinstance(one, Scalar):
            return self._scalar(one, value)
        self._check_array("inputs", one, case, value)
        if self._library.dtype_name(value) != self._stored(one.dtype):
            words = f"`inputs` gave `{one.name}` as {self._library.dtype_name(value)}, declared {one.dtype}"
            raise self.definition.fault("inputs", words, f"make it of dtype {one.dtype}")
        return self._library.owned(value, one.dtype)

    def _stored(self, dtype: str) -> str:
        return "uint8" if dtype == "float4_e2m1fn_x2" else dtype

    def _scalar(self, one: Scalar, value: Any) -> Any:
        value = value.item() if hasattr(value, "item") else value
        if not isinstance(value, (bool, int, float)):
            words = f"`inputs` gave the scalar `{one.name}` as {type(value).__name__}"
            raise self.definition.fault("inputs", words, "give a Python number")
        if one.dtype == "bool":
            return bool(value)
        return float(value) if one.dtype in FLOATS else int(value)

    def _check_array(self, member: str, one: Array, case: Case, value: Any) -> None:
        if not self._library.is_array(value):
            words = f"`{member}` gave `{one.name}` as {type(value).__name__}"
            raise self.definition.fault(member, words, f"give a {self.arrays} array")
        shape, wanted = tuple(int(length) for length in value.shape), _shape(one, case)
        if shape != wanted:
            words = f"`{member}` gave `{one.name}` with shape {shape} in case `{case.name}`"
            raise self.definition.fault(member, words, f"the declared shape is {wanted}")

    def _argument(self, one: Any, case: Case, given: dict[str, Any]) -> Any:
        if one.name in given:
            return given[one.name]
        return case.axes[one.name] if isinstance(one, Scalar) else None

    def _expected(self, case: Case, given: dict[str, Any]) -> list[Any]:
        """The checked result of `reference`. It sees inputs that it may not change, and copies of inout arrays."""
        taken = {name: self._for_reference(name, value) for name, value in given.items()}
        with self.definition.calling("reference"):
            returned = self._problem.reference(case, **taken)
        for name, value in taken.items():
            if name in self._read_only and self._library.is_changed(value):
                raise self.definition.fault("reference", f"`reference` changed its input `{name}`", "work on a copy")
        outputs = [one for one in self._declared if isinstance(one, Array) and one.is_written]
        arrays = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        if len(arrays) != len(outputs):
            words = f"`reference` returned {len(arrays)} arrays"
            raise self.definition.fault("reference", words, f"return {', '.join(one.name for one in outputs)}")
        return [self._checked_output(one, case, value) for one, value in zip(outputs, arrays)]

    @property
    def _read_only(self) -> set[str]:
        return {one.name for one in self._declared if isinstance(one, Array) and one.direction == "in"}

    def _for_reference(self, name: str, value: Any) -> Any:
        if not self._library.is_array(value):
            return value
        return self._library.guarded(value) if name in self._read_only else self._library.copy(value)

    def _checked_output(self, one: Array, case: Case, value: Any) -> Any:
        self._check_array("reference", one, case, value)
        found, wanted = self._library.dtype_name(value), self._stored(one.dtype)
        if found != wanted and not (found in FLOATS and wanted in FLOATS):
            words = f"`reference` gave `{one.name}` as {found}, declared {one.dtype}"
            raise self.definition.fault("reference", words, f"return it as {one.dtype}")
        return self._library.owned(value, wanted)


def _is_output(one: Any) -> bool:
    return isinstance(one, Array) and one.is_written


def _parameter(one: Any) -> Parameter:
    if isinstance(one, Scalar):
        return Parameter(one.name, "scalar", one.dtype)
    return Parameter(one.name, "array", one.dtype, one.direction, one.role)


def _shape(one: Array, case: Case) -> tuple[int, ...]:
    return tuple(case.axes[dim] if isinstance(dim, str) else dim for dim in one.dims)
