"""Wrong answers made from right ones. A case ranks only if its check rejects them.

A mutant is a call's expected outputs with one of them altered: filled with a constant, replaced by an input, or zero in
its last part. It is accepted if the check takes it in every draw. Answers of lower precision are tried in the same way.
Accepting them is no fault: it tells which arithmetic the accuracy admits.

On a GPU the check also rules once on each mutant, and on a right answer, with copies on the CPU. It counts on the
device only because both rule alike. Outputs of more than `HOST_ELEMENTS` are left out: the smaller cases show it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from .arrays import FLOATS, Library
from .forms import Parameter
from .loaded import Drawn, Loaded

Make = Callable[[], "list[Any] | None"]
"""Makes a mutant's outputs; None where the draw has no such mutant."""

TRIES = 4
"""Draws of a case. An answer of few values may be right by chance in some of them."""
TAIL_SHARE = 1 / 256
HOST_ELEMENTS = 1 << 27
"""Ruling takes up to 48 bytes each, and a definition has 16 GiB of the host's memory."""
FEW_ELEMENTS = 16
"""An output of so few may equal an input by right, as the running sum of one number does."""
PRECISIONS = (
    ("fp32", "float32"),
    ("tf32", "tf32"),
    ("fp16", "float16"),
    ("bf16", "bfloat16"),
    ("fp8", "float8_e4m3fn"),
)
"""From the highest to the lowest: name in a manifest and data type. TF32 rounds inputs alone."""
SIGNIFICANT_BITS = {
    "float64": 53, "float32": 24, "tf32": 11, "float16": 11, "bfloat16": 8, "float8_e4m3fn": 4, "float8_e5m2": 3,
}  # fmt: skip


class Mutants:
    """The mutants of one case, over several draws of it."""

    def __init__(self, loaded: Loaded, case: int, first: Drawn) -> None:
        """`first` is a draw of its own, whose outputs give constants for the others."""
        self._loaded = loaded
        self._case = case
        self._means = [_mean(loaded.library, one) for one in first.expected]
        self._rejected: set[str] = set()
        self._accepted: dict[str, str] = {}
        """Those that no draw has rejected: "" for a fault, else the precision that is admitted."""
        self.differing: list[str] = []
        """The answers on which the check rules otherwise on the CPU, in words."""
        self._ruled_on_host: set[str] = set()

    def look(self, drawn: Drawn) -> None:
        """Try every mutant that was not rejected yet."""
        self._rule_on_host("the right answer", drawn, drawn.expected, is_right=True)
        for name, precision, make in self._mutants(drawn):
            outputs = None if name in self._rejected else make()
            if outputs is None:
                continue
            is_right = self._loaded.compare(self._case, drawn, outputs).right
            self._rule_on_host(name, drawn, outputs, is_right=is_right)
            if is_right:
                self._accepted[name] = precision
            else:
                self._rejected.add(name)

    def _rule_on_host(self, name: str, drawn: Drawn, outputs: list[Any], *, is_right: bool) -> None:
        """Note an answer on which the CPU rules otherwise than the device did; nothing where the arrays are on the
        CPU or too large for it. Each is tried in one draw."""
        if self._loaded.library.device == "cpu" or name in self._ruled_on_host:
            return
        if sum(math.prod(one.shape) for one in drawn.expected) > HOST_ELEMENTS:
            return
        self._ruled_on_host.add(name)
        if self._loaded.compare_on_host(self._case, drawn, outputs).right != is_right:
            self.differing.append(name)

    @property
    def is_settled(self) -> bool:
        """Whether no fault is open: further draws only reject what was accepted."""
        return not self.faults

    @property
    def faults(self) -> list[str]:
        """The accepted mutants that no answer may resemble, in words."""
        return [name for name, precision in self._accepted.items() if not precision and name not in self._rejected]

    @property
    def admits(self) -> str:
        """The lowest precision below `fastest_dtype` that is accepted; empty if none is."""
        found = {precision for name, precision in self._accepted.items() if name not in self._rejected}
        return next((name for name, _ in reversed(PRECISIONS) if name in found), "")

    def _mutants(self, drawn: Drawn) -> Iterator[tuple[str, str, Make]]:
        for place, one in enumerate(self._loaded.outputs):
            if math.prod(drawn.expected[place].shape) == 0:
                continue
            for name, altered in self._of_output(drawn, place, one):
                yield name, "", _replacing(drawn, place, altered)
        for precision, dtype in self._lower_precisions():
            yield f"results in {precision}", precision, _less_precise(self._loaded, drawn, dtype)

    def _of_output(self, drawn: Drawn, place: int, one: Parameter) -> Iterator[tuple[str, Callable[[], Any]]]:
        library, expected = self._loaded.library, drawn.expected[place]
        yield f"`{one.name}` filled with 0", partial(_filled, library, expected, 0.0)
        yield f"`{one.name}` filled with another call's mean", partial(_filled, library, expected, self._means[place])
        for source, given in zip(self._loaded.parameters, drawn.arguments):
            if source.is_array and source.is_given and _may_stand_for(library, given, expected):
                yield f"`{one.name}` as a copy of `{source.name}`", partial(_copied, library, given, expected)
        yield f"`{one.name}` with 0 in its last part", partial(_without_tail, library, expected)

    def _lower_precisions(self) -> Iterator[tuple[str, str]]:
        """Those below `fastest_dtype` and below what the arrays hold."""
        names = [name for name, _ in PRECISIONS]
        held = max((SIGNIFICANT_BITS.get(one.dtype, 0) for one in self._loaded.parameters if one.is_array), default=0)
        declared = self._loaded.form.fastest_dtype
        if declared in ("fp64", *names):
            lower = PRECISIONS[names.index(declared) + 1 if declared in names else 0 :]
            yield from ((name, dtype) for name, dtype in lower if SIGNIFICANT_BITS[dtype] < held)


def mutants_of(loaded: Loaded, case: int) -> Mutants:
    """Try the mutants of a case, in as many draws as it takes. Raises DefinitionError."""
    first = loaded.draw(case, 0)
    mutants, kept = Mutants(loaded, case, first), loaded.kept(first)
    del first  # its inputs and outputs may be large
    for seed in range(1, TRIES):
        mutants.look(loaded.draw(case, seed, kept))
        if mutants.is_settled:
            break
    return mutants


def _replacing(drawn: Drawn, place: int, altered: Callable[[], Any]) -> Make:
    def make() -> list[Any] | None:
        output = altered()
        return None if output is None else [*drawn.expected[:place], output, *drawn.expected[place + 1 :]]

    return make


def _less_precise(loaded: Loaded, drawn: Drawn, dtype: str) -> Make:
    """The reference's outputs for rounded inputs, rounded; None if that changes nothing or the reference refuses it."""
    library = loaded.library

    def make() -> list[Any] | None:
        expected = iter(drawn.expected)
        try:
            arguments = [
                _for_reference(library, one, given, next(expected) if one.is_written else None, dtype)
                for one, given in zip(loaded.parameters, drawn.arguments)
            ]
            answers = loaded.form.answer(arguments)
        except Exception:  # noqa: BLE001 - a reference may need inputs as the class draws them
            return None
        owned = [library.owned(answer, one.dtype) for one, answer in zip(loaded.outputs, answers)]
        rounded = owned if dtype == "tf32" else [_rounded(library, one, dtype) for one in owned]
        return None if all(map(_same(library), rounded, drawn.expected)) else rounded

    return make


def _for_reference(library: Library, one: Parameter, given: Any, expected: Any, dtype: str) -> Any:
    """A copy, rounded if it holds floats; for an output the expected one, of which only the shape is read."""
    if not one.is_array:
        return given
    return expected if given is None else _rounded(library, library.copy(given), dtype)


def _rounded(library: Library, array: Any, dtype: str) -> Any:
    """Floats rounded to a lower precision, in their own data type. Other arrays stay as they are."""
    own = library.dtype_name(array)
    if own not in FLOATS:
        return array
    if library.dtype(dtype) is not None:
        return library.owned(library.owned(array, dtype), own)
    # Veltkamp's splitting: the high part of each number, rounded to nearest.
    split = array * (2.0 ** (SIGNIFICANT_BITS[own] - SIGNIFICANT_BITS[dtype]) + 1)
    return library.owned(split - (split - array), own)


def _same(library: Library) -> Callable[[Any, Any], bool]:
    def same(left: Any, right: Any) -> bool:
        return bool(library.same(library.ravelled(left), library.ravelled(right)).all())

    return same


def _filled(library: Library, array: Any, value: float) -> Any:
    """An array alike, of one value; whole numbers and bools take the nearest."""
    flat, one = library.copy(library.ravelled(array)), library.copy(library.wide(library.ravelled(array)[:1]))
    own = library.dtype_name(array)
    one[0] = value if own in FLOATS else round(value)
    library.fill(flat, library.owned(one, own))
    return flat.reshape(array.shape)


def _copied(library: Library, given: Any, expected: Any) -> Any:
    """None for a few elements that are right."""
    is_right = math.prod(expected.shape) <= FEW_ELEMENTS and _same(library)(given, expected)
    return None if is_right else given.reshape(expected.shape)


def _without_tail(library: Library, expected: Any) -> Any:
    """None if the last part is 0 by right."""
    flat = library.copy(library.ravelled(expected))
    tail = flat[len(flat) - max(1, int(len(flat) * TAIL_SHARE)) :]
    zero = _filled(library, tail, 0.0)
    if _same(library)(tail, zero):
        return None
    library.fill(tail, zero)
    return flat.reshape(expected.shape)


def _may_stand_for(library: Library, given: Any, expected: Any) -> bool:
    is_alike = library.dtype_name(given) == library.dtype_name(expected)
    return is_alike and math.prod(given.shape) == math.prod(expected.shape)


def _mean(library: Library, array: Any) -> float:
    """Mean of the finite elements; 0 without any."""
    flat, total, count = library.ravelled(array), 0.0, 0
    for start in range(0, len(flat), library.block):
        wide = library.wide(flat[start : start + library.block])
        finite = wide[abs(wide) < math.inf]
        total, count = total + float(finite.sum()), count + len(finite)
    return total / count if count else 0.0
