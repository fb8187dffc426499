"""Tensara's forms of a definition: today's, and that of March 2025.

Neither declares shapes or directions. Arguments are the inputs, then the outputs, then extra parameters, so a draw
tells the directions: the inputs are counted, and the reference's results are the outputs.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .arrays import ITEM_BYTES, Library
from .errors import DefinitionError
from .forms import Accuracy, CaseFacts, Parameter
from .importing import Definition
from .tensara_problem import Problem
from .tensara_signature import Declared, declared_by_ctypes, declared_by_parameters

COMPUTING = {
    "float64": "fp64", "float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "fp8", "float8_e5m2": "fp8",
    "float4_e2m1fn_x2": "fp8", "int8": "int8",
}  # fmt: skip
"""Data type that a problem computes in, by that of its first array."""
MAX_NAME = 200


@dataclass(frozen=True)
class _Call:
    """The parts of one call: what `create_inputs`, `reference_solution` and `get_extra_params` returned."""

    inputs: list[Any]
    expected: list[Any]
    extras: list[Any]

    @property
    def arguments(self) -> list[Any]:
        return [*self.inputs, *(None for _ in self.expected), *self.extras]


class TensaraForm:
    """A definition that derives from `problem.Problem`."""

    arrays = "torch"
    output_init = "zero"
    accuracy = Accuracy("own", reason="the problem's own verify_result")

    def __init__(self, definition: Definition, library: Library) -> None:
        self.definition = definition
        self._library = library
        with definition.calling("__init__"):
            self._problem: Problem = definition.problem_class()
        self._check_members()
        self._takes_dtype = _wants(self._problem.generate_test_cases, 1)
        self.name = "tensara-2025-03" if self._takes_dtype or self._problem.parameters is None else "tensara"
        self._declared = self._read_signature()
        tests = self._test_cases()
        self.cases = [self._facts(test, name) for test, name in zip(tests, _unique_names(tests))]
        first = self._first_call(tests)
        self.parameters = self._parameters(first, tests)
        self.computes_in = self._computing()
        self.fastest_dtype = "tf32" if self.computes_in == "fp32" else self.computes_in

    def draw(self, case: int, kept: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:  # noqa: ARG002
        """Arguments in call order and expected outputs. The cases are made anew, so that their seeds are mixed.

        Nothing can be kept: what the inputs have in common is not declared.
        """
        tests = self._test_cases()
        if len(tests) != len(self.cases):
            words = f"`generate_test_cases` returned {len(tests)} cases, and before {len(self.cases)}"
            raise self.definition.fault("generate_test_cases", words, "return the same cases in every call")
        call = self._call(tests[case])
        self._check_call(call)
        return [self._owned(one) for one in call.arguments], [self._owned(one) for one in call.expected]

    def answer(self, arguments: list[Any]) -> list[Any]:
        """The reference's outputs for the inputs among the arguments, unchecked: this is timed."""
        n_inputs = next(place for place, one in enumerate(self.parameters) if one.is_written)
        returned = self._problem.reference_solution(*arguments[:n_inputs])  # type: ignore[attr-defined]
        return list(returned) if isinstance(returned, (tuple, list)) else [returned]

    def compile(self) -> None:
        problem: Any = self._problem
        problem.reference_solution = self._library.compiled(problem.reference_solution)

    def verify(self, case: int, expected: list[Any], actual: list[Any]) -> tuple[bool, str]:  # noqa: ARG002
        """Rule where the tensors are; if that raises, on a CPU, as the contract has it."""
        try:
            return self._verify(expected, actual)
        except Exception:  # noqa: BLE001 - raised again below unless the CPU mends it
            pairs = [self._library.on_cpu(one) for one in expected], [self._library.on_cpu(one) for one in actual]
        with self.definition.calling("verify_result"):
            return self._verify(*pairs)

    def _verify(self, expected: list[Any], actual: list[Any]) -> tuple[bool, str]:
        single = len(expected) == 1
        pair = (expected[0], actual[0]) if single else (tuple(expected), tuple(actual))
        method = self._problem.verify_result  # type: ignore[attr-defined]
        ruling = method(*pair, self._dtype()) if _wants(method, 3) else method(*pair)
        right, facts = ruling if isinstance(ruling, tuple) else (ruling, {})
        return bool(right), str(facts.get("message", "")) if isinstance(facts, dict) else ""

    def _check_members(self) -> None:
        for member in ("reference_solution", "generate_test_cases", "verify_result"):
            if not callable(getattr(self._problem, member, None)):
                raise self.definition.fault(member, f"the class has no method `{member}`", f"write `{member}`")

    def _read_signature(self) -> list[Declared]:
        """The definition's statements on each parameter."""
        if self._problem.parameters is not None:
            with self.definition.calling("parameters"):
                return declared_by_parameters(self._problem.parameters)
        method = self._problem.get_function_signature
        with self.definition.calling("get_function_signature"):
            signature = method(self._dtype()) if _wants(method, 1) else method()  # type: ignore[call-arg]
            return declared_by_ctypes(signature)

    def _dtype(self) -> Any:
        return self._library.dtype("float32")

    def _test_cases(self) -> list[dict[str, Any]]:
        method = self._problem.generate_test_cases  # type: ignore[attr-defined]
        with self.definition.calling("generate_test_cases"):
            tests = list(method(self._dtype()) if self._takes_dtype else method())
        bad = [one for one in tests if not isinstance(one, dict) or not callable(one.get("create_inputs"))]
        if not tests or bad:
            words = "`generate_test_cases` must return at least one dict, each with a callable `create_inputs`"
            raise self.definition.fault("generate_test_cases", words, "return a list of test cases")
        return tests

    def _first_call(self, tests: list[dict[str, Any]]) -> _Call:
        """A call that shows the signature's types: of the small example if that works, else of the first case."""
        try:
            sample = self._sample()
        except DefinitionError:
            sample = None
        return self._call(sample or tests[0])

    def _sample(self) -> dict[str, Any] | None:
        """The small example, if the definition has one. Raises DefinitionError."""
        method = getattr(self._problem, "generate_sample", None)
        if method is None:
            return None
        with self.definition.calling("generate_sample"):
            sample: Any = method(self._dtype()) if _wants(method, 1) else method()
        found: dict[str, Any] | None = sample[0] if isinstance(sample, (list, tuple)) else sample
        return found

    def _call(self, test: dict[str, Any]) -> _Call:
        with self.definition.calling("generate_test_cases"):
            made = test["create_inputs"]()
        inputs = list(made) if isinstance(made, (tuple, list)) else [made]
        with self.definition.calling("get_extra_params"):
            extras = list(self._problem.get_extra_params(test))
        return _Call([_plain(self._library, one) for one in inputs], self._reference(inputs), [
            _plain(self._library, one) for one in extras
        ])  # fmt: skip

    def _reference(self, inputs: list[Any]) -> list[Any]:
        guarded = [self._library.guarded(one) if self._library.is_array(one) else one for one in inputs]
        with self.definition.calling("reference_solution"):
            returned = self._problem.reference_solution(*guarded)  # type: ignore[attr-defined]
        for place, one in enumerate(guarded):
            if self._library.is_array(one) and self._library.is_changed(one):
                words = f"`reference_solution` changed its input {place + 1}"
                raise self.definition.fault("reference_solution", words, "work on a copy")
        arrays = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        if not arrays or not all(self._library.is_array(one) for one in arrays):
            words = "`reference_solution` must return a tensor or a tuple of tensors"
            raise self.definition.fault("reference_solution", words, "return the outputs as tensors")
        return arrays

    def _owned(self, value: Any) -> Any:
        return self._library.owned(value, self._library.dtype_name(value)) if self._library.is_array(value) else value

    def _facts(self, test: dict[str, Any], name: str) -> CaseFacts:
        with self.definition.calling("get_flops"):
            flops = self._problem.get_flops(test)
            number = None if flops is None else float(flops)
        size = test.get("size")
        plain = isinstance(size, (int, float)) and not isinstance(size, bool)
        return CaseFacts(name, float(size) if plain and size else None, number, None)

    def _parameters(self, call: _Call, tests: list[dict[str, Any]]) -> list[Parameter]:
        values = [*call.inputs, *call.expected, *call.extras]
        self._check_count(len(values), call)
        names = self._names(call, tests)
        first, last = len(call.inputs), len(call.inputs) + len(call.expected)
        directions = ["out" if first <= place < last else "in" for place in range(len(values))]
        roles = ["structure" if place >= last else "data" for place in range(len(values))]
        return [self._parameter(*one) for one in zip(names, values, self._declared, directions, roles)]

    def _check_count(self, count: int, call: _Call) -> None:
        if count != len(self._declared):
            parts = f"{len(call.inputs)} inputs, {len(call.expected)} outputs and {len(call.extras)} extra parameters"
            words = f"the signature has {len(self._declared)} parameters, but a call has {parts}"
            raise self.definition.fault(self._signature_member, words, "make the two agree")

    @property
    def _signature_member(self) -> str:
        return "get_function_signature" if self._problem.parameters is None else "parameters"

    def _parameter(self, name: str, value: Any, declared: Declared, direction: str, role: str) -> Parameter:
        if self._library.is_array(value) != declared.is_pointer:
            kind = "a pointer" if declared.is_pointer else "a number"
            words = f"`{name}` is declared as {kind}, but a call gives {type(value).__name__}"
            raise self.definition.fault(self._signature_member, words, "make the two agree")
        if not declared.is_pointer:
            return Parameter(name, "scalar", declared.dtype or _dtype_of_number(value))
        return Parameter(name, "array", self._array_dtype(name, value, declared), direction, role)

    def _array_dtype(self, name: str, value: Any, declared: Declared) -> str:
        """The tensor's own data type, because Python solutions receive it; the declared one must be as wide."""
        found = self._library.dtype_name(value)
        wanted = "uint64" if declared.dtype == "size_t" else declared.dtype
        if found not in ITEM_BYTES or (wanted and ITEM_BYTES[found] != ITEM_BYTES[wanted]):
            words = f"`{name}` is declared as {wanted}, but a call gives a tensor of {found}"
            raise self.definition.fault(self._signature_member, words, "make the two agree")
        return "float4_e2m1fn_x2" if wanted == "float4_e2m1fn_x2" else found

    def _check_call(self, call: _Call) -> None:
        """Every call must have the signature that the first one showed."""
        values = [*call.inputs, *call.expected, *call.extras]
        self._check_count(len(values), call)
        for one, value, declared in zip(self.parameters, values, self._declared):
            again = self._parameter(one.name, value, declared, one.direction, one.role)
            if again.dtype != one.dtype:
                words = f"`{one.name}` is {one.dtype} in one call and {again.dtype} in another"
                raise self.definition.fault("generate_test_cases", words, "use one data type in all cases")

    def _names(self, call: _Call, tests: list[dict[str, Any]]) -> list[str]:
        """The declared names; without those, of the reference's arguments and the cases' keys."""
        if all(one.name for one in self._declared):
            return [one.name for one in self._declared]
        taken = list(inspect.signature(self._problem.reference_solution).parameters)  # type: ignore[attr-defined]
        inputs = [taken[place] if place < len(taken) else f"input_{place}" for place in range(len(call.inputs))]
        single = len(call.expected) == 1
        outputs = ["output" if single else f"output_{place}" for place in range(len(call.expected))]
        rows = [list(self._problem.get_extra_params(test)) for test in tests]
        return _unique([*inputs, *outputs, *_names_of_extras(len(call.extras), rows, tests)])

    def _computing(self) -> str:
        arrays = [one for one in self.parameters if one.is_array]
        return COMPUTING.get(arrays[0].dtype, "fp32")


def _wants(method: Any, count: int) -> bool:
    """Whether a bound method must be given at least `count` arguments."""
    parameters = inspect.signature(method).parameters.values()
    needed = [one for one in parameters if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
    return len(needed) >= count


def _plain(library: Library, value: Any) -> Any:
    """A Python number for a number of any library; arrays as they are."""
    if library.is_array(value) or isinstance(value, (bool, int, float)):
        return value
    return value.item() if hasattr(value, "item") else value


def _dtype_of_number(value: Any) -> str:
    return "bool" if isinstance(value, bool) else "float32" if isinstance(value, float) else "size_t"


def _unique_names(tests: list[dict[str, Any]]) -> list[str]:
    return _unique([str(test.get("name") or f"case {place}")[: MAX_NAME - 8] for place, test in enumerate(tests, 1)])


def _unique(names: list[str]) -> list[str]:
    """The names, with a number behind each that occurred before."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return result


def _names_of_extras(count: int, rows: list[list[Any]], tests: list[dict[str, Any]]) -> list[str]:
    """For each extra parameter the next key of the test cases that holds its value in all of them."""
    names: list[str] = []
    for place in range(count):
        keys = [str(key) for key in tests[0] if str(key).isidentifier() and _holds(key, place, rows, tests)]
        unused = [key for key in keys if key not in names]
        names.append(next(iter(unused), f"extra_{place}"))
    return names


def _holds(key: Any, place: int, rows: list[list[Any]], tests: list[dict[str, Any]]) -> bool:
    return all(_is_same_number(test.get(key), row[place]) for test, row in zip(tests, rows))


def _is_same_number(left: Any, right: Any) -> bool:
    return isinstance(left, (int, float)) and isinstance(right, (int, float)) and left == right
