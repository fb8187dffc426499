"""The median time of passed samples: over the problems that count, with an interval from order statistics."""

from dataclasses import replace

import numpy as np
import pytest

from scoring.board import MetricMissing, score_board
from scoring.board_input import BoardInput, from_samples
from scoring.computed import Figure

NAN = float("nan")


def board_of(times: list[list[float]]) -> BoardInput:
    figures = {"median_ms": np.array(times)}
    passed = np.ones((*figures["median_ms"].shape, 1), dtype=bool)
    return replace(from_samples(passed, np.full(passed.shape, NAN), "digest"), figures=figures)


def median_of(board: BoardInput) -> Figure:
    return score_board(board).figures["median_ms"]


def test_it_is_the_median_over_problems_with_a_time_and_its_interval_their_first_and_last_of_six() -> None:
    found = median_of(board_of([[1.0, 9.0, 2.0, 3.0, 5.0, 4.0, NAN], [7.0, 8.0, NAN, NAN, NAN, NAN, NAN]]))
    assert found.value.tolist() == [3.5, 7.5]
    assert (found.low[0], found.high[0]) == (1.0, 9.0), "below six problems no pair of them covers 95 %"
    assert np.isnan([found.low[1], found.high[1]]).all()
    assert found.parts["problems"].tolist() == [6, 2]


def test_problems_that_do_not_count_and_entrants_without_a_time_are_left_out() -> None:
    board = replace(board_of([[1.0, 100.0, 3.0], [NAN, 100.0, NAN]]), voided=np.array([False, True, False]))
    found = median_of(board)
    assert found.value[0] == pytest.approx(2.0)
    assert np.isnan(found.value[1])
    assert found.parts["problems"].tolist() == [2, 0]


def test_it_ranks_nobody() -> None:
    with pytest.raises(ValueError, match="is no metric"):
        score_board(replace(board_of([[1.0]]), primary="median_ms", time_pending=np.zeros((1, 1), dtype=np.int64)))
    with pytest.raises(MetricMissing, match=r"it has pass@1, speedup$"):
        score_board(replace(board_of([[1.0]]), primary="median_ms"))
