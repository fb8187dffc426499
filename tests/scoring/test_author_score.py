"""FlashInfer-Bench's scores by hand: a failed sample scores 0, an author's mean is over what was attempted."""

import pytest

from scoring.author_score import NOTHING, SolutionScore, best, solution_score


def test_a_solution_has_the_arithmetic_mean_of_its_ratios_and_the_share_above_one() -> None:
    assert solution_score({"a": 8.0, "b": 3.0}, {"a": 2.0, "b": 3.0}) == SolutionScore(2.5, 0.5)
    assert solution_score({"a": 12.0}, {"a": 6.0}) == SolutionScore(2.0, 1.0)


def test_a_ratio_of_exactly_one_is_no_win() -> None:
    assert solution_score({"a": 3.0}, {"a": 3.0}) == SolutionScore(1.0, 0.0)


@pytest.mark.parametrize("own", [{"a": 1.0, "b": None}, {"a": 1.0}, {}])
def test_a_case_without_an_own_time_gives_the_solution_nothing(own: dict[str, float | None]) -> None:
    assert solution_score({"a": 8.0, "b": 3.0}, own) == NOTHING


def test_a_case_without_a_baseline_is_left_out() -> None:
    assert solution_score({"a": 8.0}, {"a": 2.0, "b": 1.0}).ratio == 4.0
    assert solution_score({}, {"a": 2.0}) == NOTHING


def test_the_best_solution_counts_whatever_the_others_did() -> None:
    good = SolutionScore(1.2, 0.5)
    assert best([NOTHING, good, SolutionScore(1.1, 1.0)]) == good
    assert best([]) == NOTHING
