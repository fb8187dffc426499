"""Places of samples on one problem: 1 + those surely better, else a tie."""

import math

import numpy as np
import pytest

from scoring.median import Z_95
from scoring.problem_places import PlacedFigure, places


def _around(value: float, arm: float) -> PlacedFigure:
    """A figure whose interval has this arm on both sides, in logarithms."""
    return PlacedFigure(value, value / math.exp(arm), value * math.exp(arm))


def test_figures_that_are_surely_apart_have_places_of_their_own() -> None:
    assert places([_around(4.0, 0.02), _around(2.0, 0.02), _around(1.0, 0.02)]) == [1, 2, 3]
    assert places([_around(1.0, 0.02), _around(4.0, 0.02), _around(2.0, 0.02)]) == [3, 1, 2], "in any order"


def test_figures_that_are_not_surely_apart_tie() -> None:
    assert places([_around(2.05, 0.05), _around(2.0, 0.05), _around(1.0, 0.05)]) == [1, 1, 3]


def test_a_place_counts_those_surely_better_and_not_the_rows_above() -> None:
    assert places([_around(2.2, 0.01), _around(2.0, 0.3), _around(1.9, 0.01)]) == [1, 1, 2]


@pytest.mark.parametrize(("arms", "place"), [(1.99, 1), (2.01, 2)])
def test_of_two_the_step_is_that_of_the_board(arms: float, place: int) -> None:
    """One pair at the level of 5 %: the difference must exceed 1.96 standard deviations."""
    sd = 0.05 / Z_95
    found = places([_around(math.exp(arms * sd * math.sqrt(2) * Z_95 / 2.0), 0.05), _around(1.0, 0.05)])
    assert found == [1, place]


def test_the_more_pairs_the_larger_the_difference_must_be() -> None:
    two = [_around(1.08, 0.05), _around(1.0, 0.05)]
    assert places(two) == [1, 2]
    assert places([*two, *(_around(1.04, 0.05) for _ in range(10))])[1] == 1


def test_the_arms_that_face_each_other_count() -> None:
    narrow_below = PlacedFigure(1.2, 1.19, 3.0)
    assert places([narrow_below, PlacedFigure(1.0, 0.5, 1.01)]) == [1, 2]
    assert places([PlacedFigure(1.2, 0.5, 1.21), PlacedFigure(1.0, 0.99, 3.0)]) == [1, 1]


def test_without_intervals_the_value_decides_and_equal_ones_tie() -> None:
    assert places(
        [PlacedFigure(2.0), PlacedFigure(2.0), PlacedFigure(1.0), PlacedFigure(None), PlacedFigure(None)]
    ) == [1, 1, 3, 4, 4]


def test_an_interval_beside_a_figure_without_one_does_not_count() -> None:
    assert places([PlacedFigure(2.0), _around(1.9, 0.5), PlacedFigure(1.8)]) == [1, 2, 3]


def test_intervals_of_no_width_show_the_clocks_steps_and_not_the_noise() -> None:
    assert places([PlacedFigure(1.05, 1.05, 1.05), PlacedFigure(1.0, 1.0, 1.0)]) == [1, 1]
    assert places([PlacedFigure(1.5, 1.5, 1.5), PlacedFigure(1.0, 1.0, 1.0)]) == [1, 2]


@pytest.mark.parametrize("figures", [[], [PlacedFigure(None)], [PlacedFigure(1.0)], [PlacedFigure(1.0, 0.9, 1.1)]])
def test_nobody_or_one_alone(figures: list[PlacedFigure]) -> None:
    assert places(figures) == [1] * len(figures)


def test_of_equal_code_seldom_anybody_is_called_better() -> None:
    """Twenty equal entrants whose errors are as large as their intervals say: on 95 % of boards all tie."""
    drawn, told = np.random.default_rng(7), 0
    for _ in range(400):
        found = places([_around(float(np.exp(0.05 / Z_95 * one)), 0.05) for one in drawn.standard_normal(20)])
        told += max(found) > 1
    assert told / 400 < 0.08
