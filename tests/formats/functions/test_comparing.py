"""Outputs are ruled on as the bound says in float64, by the quick look at right ones, too."""

import math
import random
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from problems.formats.functions.inside.arrays import library_of
from problems.formats.functions.inside.comparing import Bounds, Output, compare

DTYPES = {"numpy": ("float16", "float32", "float64"), "torch": ("float16", "bfloat16", "float32", "float64")}
BOUNDS = [Bounds(), Bounds(1e-3, 0.0), Bounds(0.0, 1e-3), Bounds(1e-5, 1e-6), Bounds(2**-7, 2e-6), Bounds(1e-7, 1e-44)]
ODD = [0.0, -0.0, 1e-45, -1e-45, 1e-40, 6e-8, 1.0, -1.0, 65504.0, 3e38, -3e38, math.inf, -math.inf, math.nan]
LIBRARIES = [
    "numpy",
    pytest.param("torch", marks=pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")),
]


def is_right(expected: float, actual: float, bounds: Bounds) -> bool:
    """The rule, element by element, in Python's own numbers."""
    if math.isnan(expected) or math.isnan(actual):
        return math.isnan(expected) and math.isnan(actual)
    if math.isinf(expected) or math.isinf(actual):
        return expected == actual
    return expected == actual or abs(actual - expected) <= bounds.atol + bounds.rtol * abs(expected)


def made(name: str, dtype: str, values: list[float]) -> Any:
    with np.errstate(over="ignore"):
        if name == "numpy":
            return np.array(values).astype(dtype)
    import torch

    return torch.tensor(values, dtype=torch.float64).to(getattr(torch, dtype))


def pairs(rng: random.Random, bounds: Bounds) -> list[tuple[float, float]]:
    """Odd values against each other, and values at the very edge of the bound."""
    found = [(rng.choice(ODD), rng.choice(ODD)) for _ in range(20)] + [(one, one) for one in ODD]
    for _ in range(60):
        want = rng.choice([-1, 1]) * 10.0 ** rng.uniform(-44, 4)
        edge = bounds.atol + bounds.rtol * abs(want)
        found.append((want, want + rng.choice([-1, 1]) * edge * rng.choice([0.5, 0.999, 1 - 1e-7, 1.0, 1 + 1e-7, 2.0])))
    return found


@pytest.mark.filterwarnings("ignore:invalid value")  # 0 times infinity
@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("name", LIBRARIES)
def test_an_element_is_right_if_the_bound_holds(name: str, bounds: Bounds) -> None:
    library, rng, seen = library_of(name, "cpu"), random.Random(2026), set()
    for dtype in DTYPES[name]:
        for pair in pairs(rng, bounds):
            expected, actual = (made(name, dtype, [one]) for one in pair)
            found = compare(library, [Output("y", dtype, expected, actual)], bounds)
            wide = [float(library.wide(one)[0]) for one in (expected, actual)]
            assert found.right is is_right(*wide, bounds), (dtype, wide)
            assert (found.n_wrong, found.n_total) == (not found.right, 1)
            seen.add(found.right)
    assert seen == {True, False}


@pytest.mark.parametrize("name", LIBRARIES)
def test_one_wrong_element_among_many_right_ones_is_found_and_told(name: str) -> None:
    library, count = library_of(name, "cpu"), 100_000
    expected = made(name, "float32", [math.sin(one) for one in range(count)])
    actual = library.copy(expected)
    actual[:] = actual * (1 + 1e-6)
    assert compare(library, [Output("y", "float32", expected, actual)], Bounds(1e-5, 1e-6)).right
    actual[count - 3] += 1
    found = compare(library, [Output("y", "float32", expected, actual)], Bounds(1e-5, 1e-6))
    assert (found.right, found.n_wrong, found.n_total) == (False, 1, count)
    assert found.largest == pytest.approx(1, rel=1e-3)
    assert found.first_wrong[0][1] == (count - 3,)


@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
def test_answers_one_step_off_are_right_at_a_quick_look() -> None:
    library = library_of("torch", "cpu")
    steps = [2.0**exponent for exponent in range(-30, 30)]
    expected, actual = made("torch", "bfloat16", steps), made("torch", "bfloat16", [one * (1 + 2**-7) for one in steps])
    assert library.all_near(expected, actual, 2**-7, 1e-12)
    actual[7] = steps[7] * (1 + 2**-6)
    assert not library.all_near(expected, actual, 2**-7, 1e-12)


def test_whole_numbers_and_bools_must_be_equal() -> None:
    library = library_of("numpy", "cpu")
    for dtype in ("int64", "uint8", "bool"):
        expected = np.array([0, 1, 1]).astype(dtype)
        assert compare(library, [Output("y", dtype, expected, expected.copy())], Bounds(1.0, 1.0)).right
        wrong = np.array([0, 1, 0]).astype(dtype)
        assert compare(library, [Output("y", dtype, expected, wrong)], Bounds()).n_wrong == 1
