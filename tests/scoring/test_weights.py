"""Weights of groups, and the boards they make, against the published figures of PMPP-eval's 18 chapters."""

from dataclasses import replace

import numpy as np
import pytest

from problems.spec.ranking import weights_of_problems
from scoring.board import BoardScores, score_board
from scoring.board_input import from_samples
from scoring.weights import group_weights
from tests.chapters import CHAPTERS, FAILED, PROBLEMS, PUBLISHED

OF_PROBLEM = np.repeat(CHAPTERS, PROBLEMS)
"""The chapter of each of the 53 problems."""


def chapter_weights():
    rates = 1 - np.array(FAILED) / (27 * np.array(PROBLEMS))
    return group_weights(rates, PROBLEMS)


def board_of(*solved: list[int], n_questions: int = 0) -> BoardScores:
    """The board of entrants that solve all problems of these chapters and no others, and every question."""
    passed = np.array([np.isin(OF_PROBLEM, chapters) for chapters in solved])
    passed = np.concatenate([passed, np.ones((len(solved), n_questions), dtype=bool)], axis=1)[:, :, None]
    by_group = dict(zip(map(str, CHAPTERS), np.round(chapter_weights(), 6).tolist(), strict=True))
    weights = [*weights_of_problems(by_group, list(map(str, OF_PROBLEM))), *[0.0] * n_questions]
    questions = np.arange(len(weights)) >= len(OF_PROBLEM)
    board = from_samples(passed, np.full(passed.shape, np.nan), "digest")
    return score_board(replace(board, weights=np.array(weights), questions=questions, primary="weighted"))


def percents(scores: BoardScores) -> list[tuple[float, float]]:
    """Raw and weighted score of each entrant."""
    pairs = zip(scores.figures["coding"].value, scores.figures["weighted"].value, strict=True)
    return [(round(100 * raw, 2), round(100 * weighted, 2)) for raw, weighted in pairs]


def test_the_published_chapter_weights_come_out_to_six_decimals():
    assert np.round(chapter_weights(), 6).tolist() == PUBLISHED


def test_the_mean_weight_is_one_over_problems_not_over_chapters():
    weights = chapter_weights()
    assert float(weights @ PROBLEMS) / sum(PROBLEMS) == pytest.approx(1.0, abs=1e-12)
    assert weights.mean() == pytest.approx(0.873043, abs=5e-7)


def test_a_board_weighs_solved_chapters_by_their_difficulty():
    without_13 = [chapter for chapter in CHAPTERS if chapter != 13]
    scores = board_of(CHAPTERS, without_13, [2, 3, 9], [])
    assert percents(scores) == [(100.0, 100.0), (90.57, 81.14), (13.21, 4.41), (0.0, 0.0)]
    assert scores.rank.tolist() == [1, 2, 3, 4]


def test_questions_move_neither_the_raw_nor_the_weighted_score():
    without_13 = [chapter for chapter in CHAPTERS if chapter != 13]
    scores = board_of(without_13, [2, 3, 9], n_questions=138)
    assert percents(scores) == [(90.57, 81.14), (13.21, 4.41)]
    assert scores.figures["questions"].value.tolist() == [1.0, 1.0]
    assert scores.figures["pass@1"].value == pytest.approx([(48 + 138) / 191, (7 + 138) / 191])


def test_a_group_that_everybody_solves_weighs_nothing_without_epsilon():
    assert group_weights([1.0, 0.5], [2, 2], epsilon=0.0).tolist() == [0.0, 2.0]


@pytest.mark.parametrize(
    ("rates", "sizes", "epsilon"), [([1.5], [1], 0.05), ([0.5], [0], 0.05), ([0.5, 0.5], [1], 0.05), ([1.0], [1], 0.0)]
)
def test_weights_that_mean_nothing_are_refused(rates, sizes, epsilon):
    with pytest.raises(ValueError, match="weight"):
        group_weights(rates, sizes, epsilon)


def test_without_groups_there_are_no_weights() -> None:
    assert group_weights([], []).tolist() == []


@pytest.mark.parametrize(("rates", "sizes", "epsilon"), [([-0.1], [1], 0.05), ([0.5], [0], 0.05), ([0.5], [1], -0.1)])
def test_the_refusal_names_what_weights_need(rates: list[float], sizes: list[int], epsilon: float) -> None:
    with pytest.raises(ValueError, match=r"^weights need pass rates from 0 to 1, .* epsilon >= 0$"):
        group_weights(rates, sizes, epsilon)


def test_rates_of_zero_and_one_have_weights() -> None:
    assert group_weights([0.0, 1.0], [1, 1], epsilon=0.5) == pytest.approx([1.5, 0.5])
    with pytest.raises(ValueError, match=r"^every weight is 0"):
        group_weights([1.0], [1], epsilon=0.0)
