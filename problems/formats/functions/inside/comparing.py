"""Compares outputs with the expected ones, block by block so that memory stays bounded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .arrays import FLOATS, Library

MAX_SHOWN = 5


@dataclass(frozen=True)
class Bounds:
    """|actual − expected| ≤ atol + rtol · |expected|; both 0 means equal."""

    rtol: float = 0.0
    atol: float = 0.0


@dataclass
class Comparison:
    """The distance of the outputs of one call from the expected ones."""

    right: bool = True
    message: str = ""
    largest: float = 0.0
    """Largest difference of an element; inf if one is no number where a number was expected, or the reverse. 0 if all
    are right and differences are not asked for, as is the mean."""
    mean: float = 0.0
    """Mean difference over the elements whose difference is finite."""
    n_wrong: int = 0
    n_total: int = 0
    first_wrong: list[tuple[str, tuple[int, ...], float, float]] = field(default_factory=list)
    """Output, index, expected and actual value of the first wrong elements, at most five."""


@dataclass
class _Tally:
    sum: float = 0.0
    finite: int = 0


@dataclass(frozen=True)
class Output:
    """One output: what was expected and what came. `unwritten` masks elements that still hold the poison."""

    name: str
    dtype: str
    expected: Any
    actual: Any
    unwritten: Any = None


def compare(library: Library, outputs: list[Output], bounds: Bounds, *, measures: bool = False) -> Comparison:
    """Compare all outputs. NaN is right where NaN is expected, and nowhere else; so is each infinity. With `measures`
    differences are told of right answers, too."""
    if not measures and all(_is_surely_right(library, output, bounds) for output in outputs):
        return Comparison(n_total=sum(map(_count, outputs)))
    result, tally = Comparison(), _Tally()
    for output in outputs:
        _compare_one(library, output, bounds, result, tally)
    result.mean = tally.sum / tally.finite if tally.finite else result.largest
    result.right = result.n_wrong == 0
    result.message = "" if result.right else _message(result)
    return result


def _is_surely_right(library: Library, output: Output, bounds: Bounds) -> bool:
    """A quick look at an output: True is sure, False is not. Right answers are many, and each call has one."""
    expected, actual = _flat(library, output, output.expected), _flat(library, output, output.actual)
    is_loose = output.dtype in FLOATS and bool(bounds.rtol or bounds.atol)
    for start in range(0, _count(output), library.block):
        left, right = expected[start : start + library.block], actual[start : start + library.block]
        if library.all_same(left, right):
            continue
        if not is_loose or not library.all_near(left, right, bounds.rtol, bounds.atol):
            return False
    return True


def _count(output: Output) -> int:
    return math.prod(output.expected.shape)


def unwritten_wrong(library: Library, outputs: list[Output]) -> int:
    """The number of elements that still hold the poison and do not equal the expected value."""
    count = 0
    for output in outputs:
        if output.unwritten is None:
            continue
        mask = library.ravelled(output.unwritten)
        for start, block in _blocks(library, output, Bounds()):
            count += int((block.wrong & mask[start : start + library.block]).sum())
    return count


@dataclass(frozen=True)
class _Block:
    wrong: Any
    difference: Any
    """0 where right beyond doubt."""


def _compare_one(library: Library, output: Output, bounds: Bounds, result: Comparison, tally: _Tally) -> None:
    for start, block in _blocks(library, output, bounds):
        _measure(block.difference, result, tally)
        wrong = int(block.wrong.sum())
        if wrong and len(result.first_wrong) < MAX_SHOWN:
            _note(library, output, start, block.wrong, result)
        result.n_wrong += wrong
        result.n_total += math.prod(block.wrong.shape)


def _measure(difference: Any, result: Comparison, tally: _Tally) -> None:
    finite = difference < math.inf  # NaN is not
    count = int(finite.sum())
    within = difference[finite]
    if count:
        result.largest = max(result.largest, float(within.max()))
        tally.sum += float(within.sum())
        tally.finite += count
    if count < math.prod(difference.shape):
        result.largest = math.inf


def _blocks(library: Library, output: Output, bounds: Bounds) -> Iterator[tuple[int, _Block]]:
    expected, actual = _flat(library, output, output.expected), _flat(library, output, output.actual)
    is_float = output.dtype in FLOATS
    for start in range(0, math.prod(expected.shape), library.block):
        left, right = expected[start : start + library.block], actual[start : start + library.block]
        yield start, _block(library, left, right, bounds, is_float=is_float)


def _flat(library: Library, output: Output, array: Any) -> Any:
    """Bools as their bytes. Both libraries may take any byte but 0 for True, so also one that was never written."""
    flat = library.ravelled(array)
    return library.as_bytes(flat) if output.dtype == "bool" else flat


def _block(library: Library, expected: Any, actual: Any, bounds: Bounds, *, is_float: bool) -> _Block:
    wide_expected, wide_actual = library.wide(expected), library.wide(actual)
    if is_float:
        both_nan = _nan(wide_expected) & _nan(wide_actual)
        equal = (wide_expected == wide_actual) | both_nan
    else:
        equal = library.same(expected, actual)
    difference = library.distance(wide_expected, wide_actual)
    difference[equal] = 0.0  # equal infinities differ by NaN
    size = abs(wide_expected)
    near = (difference <= bounds.atol + bounds.rtol * size) & (size < math.inf)
    if not (bounds.rtol or bounds.atol):
        near = equal
    return _Block(~(equal | near), difference)


def _nan(wide: Any) -> Any:
    return wide != wide  # noqa: PLR0124 - the same in both libraries


def _note(library: Library, output: Output, start: int, wrong: Any, result: Comparison) -> None:
    expected, actual = _flat(library, output, output.expected), _flat(library, output, output.actual)
    shape = tuple(int(length) for length in output.expected.shape)
    for place in library.positions(wrong, MAX_SHOWN - len(result.first_wrong)):
        at = start + place
        pair = (_number(library, expected, at), _number(library, actual, at))
        result.first_wrong.append((output.name, _index(at, shape), *pair))


def _number(library: Library, flat: Any, at: int) -> float:
    return float(library.wide(flat[at : at + 1])[0])


def _index(at: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    places = []
    for length in reversed(shape):
        at, place = divmod(at, length)
        places.append(place)
    return tuple(reversed(places))


def _message(result: Comparison) -> str:
    name, index, expected, actual = result.first_wrong[0]
    place = "".join(f"[{one}]" for one in index)
    words = f"{result.n_wrong} of {result.n_total} elements are wrong"
    return f"{words}; the first is {name}{place}: expected {expected:.9g}, got {actual:.9g}"
