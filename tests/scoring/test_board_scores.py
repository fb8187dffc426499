"""A whole board: each figure against a plain loop, and what must not move a score."""

import math
import statistics
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.board import BoardScores, incomplete, score_board
from scoring.board_input import BoardInput, from_samples
from scoring.computed import BoardWork, means_of_groups, scored_by
from scoring.metrics import SOL_SCORE, SPEEDUP, UnknownMetric
from scoring.pass_at_k import most_trials
from scoring.rules import SECOND
from scoring.uncertainty import Estimate, bounded, geometric, mean_interval, means, share_interval

NAN = float("nan")


def random_samples(entrants: int, problems: int, samples: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    passed = rng.random((entrants, problems, samples)) < rng.random((entrants, 1, 1))
    speedups = np.where(passed & (rng.random(passed.shape) < 0.9), rng.lognormal(0.2, 0.6, passed.shape), np.nan)
    return passed, speedups


def random_board(entrants: int = 5, problems: int = 8, samples: int = 4, seed: int = 0) -> BoardInput:
    return replace(from_samples(*random_samples(entrants, problems, samples, seed), "digest"), ks=(1, 3), draws=200)


def as_bytes(scores: BoardScores) -> dict[str, object]:
    return {field.name: flat(getattr(scores, field.name)) for field in fields(scores)}


def flat(value):
    if isinstance(value, dict):
        return {key: flat(one) for key, one in value.items()}
    if isinstance(value, Estimate):
        return tuple(flat(one) for one in (value.value, value.low, value.high, dict(getattr(value, "parts", {}))))
    return value.tobytes() if isinstance(value, np.ndarray) else value


def estimate(value: Estimate) -> tuple[bytes, ...]:
    return tuple(one.tobytes() for one in (value.value, value.low, value.high))


ROWS = ("n", "passed", "pending", "skipped", "ln_speedup_sum", "correct_ln_sum", "correct_count", "fast_counts")
ROWS += ("rankable", "gflops")


def in_order(board: BoardInput, order: np.ndarray) -> BoardInput:
    figures = {name: values[order] for name, values in board.figures.items()}
    return replace(board, **{name: getattr(board, name)[order] for name in ROWS}, figures=figures)


def test_each_figure_agrees_with_a_plain_loop():
    passed, speedups = random_samples(4, 7, 5)
    scores = score_board(replace(from_samples(passed, speedups, "digest"), ks=(1, 2)))
    for entrant in range(4):
        cells = [list(zip(passed[entrant, p], speedups[entrant, p], strict=True)) for p in range(7)]
        pass_1 = statistics.mean(sum(ok for ok, _ in cell) / 5 for cell in cells)
        gained = [statistics.mean(math.log(s) if ok and s > 1 else 0.0 for ok, s in cell) for cell in cells]
        times = [[math.log(s) for ok, s in cell if ok and not math.isnan(s)] for cell in cells]
        correct = [statistics.mean(logs) for logs in times if logs]
        assert scores.figures["pass@1"].value[entrant] == pytest.approx(pass_1)
        assert scores.figures["speedup"].value[entrant] == pytest.approx(math.exp(statistics.mean(gained)))
        assert scores.solved[entrant] == sum(any(ok for ok, _ in cell) for cell in cells)
        if correct:
            assert scores.figures["correct_speedup"].value[entrant] == pytest.approx(math.exp(statistics.mean(correct)))


def test_all_samples_failing_is_a_speedup_of_one_and_no_correct_speedup():
    scores = score_board(from_samples(np.zeros((1, 3, 2), dtype=bool), np.full((1, 3, 2), 4.0), "digest"))
    assert scores.figures["speedup"].value.tolist() == [1.0]
    assert np.isnan(scores.figures["correct_speedup"].value).tolist() == [True]


def test_voided_and_skipped_problems_leave_the_denominators():
    board = random_board(problems=8)
    voided, skipped = np.zeros(8, dtype=bool), np.zeros((5, 8), dtype=bool)
    voided[2], skipped[:, 5] = True, True
    found = score_board(replace(board, voided=voided, skipped=skipped))
    kept = [0, 1, 3, 4, 6, 7]
    passed, speedups = random_samples(5, 8, 4)
    alone = score_board(replace(from_samples(passed[:, kept], speedups[:, kept], "digest"), ks=(1, 3), draws=200))
    assert found.figures["correct_speedup"].value == pytest.approx(alone.figures["correct_speedup"].value)
    correct = {"correct_speedup": alone.figures["correct_speedup"]}
    same = replace(found, samples=alone.samples, figures=found.figures | correct)
    assert as_bytes(same) == as_bytes(alone)
    assert found.problems.tolist() == [6] * 5
    assert found.samples.tolist() == [28] * 5


def test_only_problems_with_a_rankable_baseline_count_for_speedup():
    board = random_board()
    baseline = np.array([True] * 3 + [False] * 5)
    scores = score_board(replace(board, has_rankable_baseline=baseline))
    assert scores.figures["speedup"].parts["problems"].tolist() == [3] * 5
    assert scores.figures["speedup"].value == pytest.approx(np.exp((board.ln_speedup_sum / 4)[:, :3].mean(axis=1)))
    assert scores.figures["pass@1"].value == pytest.approx((board.passed / 4).mean(axis=1))


def test_an_unresolved_sample_keeps_an_entrant_unranked_but_shown():
    board = random_board()
    pending = np.zeros((5, 8), dtype=np.int64)
    pending[1, 3] = 1
    scores = score_board(replace(board, pending=pending))
    assert scores.incomplete.tolist() == [False, True, False, False, False]
    assert (scores.rank[1], scores.rank_low[1], scores.rank_high[1]) == (0, 0, 0)
    assert scores.problems.tolist() == [8, 7, 8, 8, 8]
    assert np.isfinite(scores.figures["pass@1"].value[1])
    assert sorted(scores.rank[scores.rank > 0])[0] == 1


def test_an_unresolved_sample_of_a_voided_problem_holds_nobody_up():
    board = random_board()
    pending = np.zeros((5, 8), dtype=np.int64)
    pending[1, 3] = 1
    assert not score_board(replace(board, pending=pending, voided=np.arange(8) == 3)).incomplete.any()


@pytest.mark.parametrize(("primary", "unranked"), [("pass@1", False), ("speedup", True)])
def test_an_undecided_time_matters_only_where_time_ranks(primary, unranked):
    waiting = np.zeros((5, 8), dtype=np.int64)
    waiting[2, 0] = 1
    scores = score_board(replace(random_board(), time_pending=waiting, primary=primary))
    assert bool(scores.incomplete[2]) is unranked
    assert scores.problems.tolist() == [8] * 5


def test_too_few_samples_leave_pass_at_k_open_and_the_rest_stands():
    passed, speedups = random_samples(2, 4, 3)
    present = np.ones_like(passed)
    present[0, 1, 2] = False
    scores = score_board(replace(from_samples(passed, speedups, "digest", present), ks=(1, 3), primary="pass@3"))
    assert np.isnan(scores.figures["pass@3"].value).tolist() == [True, False]
    assert not np.isnan(scores.figures["pass@1"].value).any()
    assert scores.rank.tolist() == [0, 1]
    assert scores.samples.tolist() == [11, 12]


def test_weights_change_the_weighted_score_alone():
    board = random_board()
    weights = np.linspace(0.2, 1.8, 8)
    scores = score_board(replace(board, weights=weights, primary="weighted"))
    expected = (board.passed / 4) @ weights / weights.sum()
    assert scores.figures["weighted"].value == pytest.approx(expected)
    assert scores.rank.tolist() == [1 + int((expected > own + 1e-9).sum()) for own in expected]
    assert flat(scores.figures["pass@3"]) == flat(score_board(board).figures["pass@3"])


def test_coding_problems_and_questions_have_a_mean_each():
    board = random_board()
    questions, weights = np.arange(8) >= 5, np.where(np.arange(8) < 5, np.linspace(0.2, 1.8, 8), 0.0)
    scores = score_board(replace(board, questions=questions, weights=weights, primary="coding"))
    passes = board.passed / 4
    assert scores.figures["coding"].value == pytest.approx(passes[:, :5].mean(axis=1))
    assert scores.figures["weighted"].value == pytest.approx(passes[:, :5] @ weights[:5] / weights.sum())
    assert scores.figures["questions"].value == pytest.approx(passes[:, 5:].mean(axis=1))
    assert np.argmin(scores.rank) == np.argmax(scores.figures["coding"].value)


def test_a_board_of_coding_problems_alone_has_no_figure_for_questions():
    scores = score_board(replace(random_board(), questions=np.zeros(8, dtype=bool), primary="coding"))
    assert "questions" not in scores.figures
    assert estimate(scores.figures["coding"]) == estimate(scores.figures["pass@1"])


def test_gflops_are_averaged_over_a_fixed_set_in_which_the_baseline_counts_for_no_time():
    board = random_board(entrants=2, problems=4)
    gflops = np.array([[4.0, NAN, 9.0, NAN], [1.0, 16.0, NAN, NAN]])
    board = replace(board, gflops=gflops, baseline_gflops=np.array([2.0, 4.0, NAN, 8.0]), primary="gflops")
    scores = score_board(replace(board, voided=np.array([False, False, False, True])))
    assert scores.figures["gflops"].value == pytest.approx([math.sqrt(4 * 4), math.sqrt(1 * 16)])
    assert scores.figures["gflops"].parts["problems"].tolist() == [2, 2]
    assert scores.figures["gflops"].parts["own"].tolist() == [1, 2]


def test_a_problem_that_the_track_skips_leaves_the_fixed_set():
    board = random_board(entrants=2, problems=2)
    skipped = np.array([[True, False], [False, False]])
    board = replace(board, gflops=np.full((2, 2), NAN), baseline_gflops=np.array([2.0, 8.0]), skipped=skipped)
    scores = score_board(board)
    assert scores.figures["gflops"].value == pytest.approx([8.0, 4.0])
    assert scores.figures["gflops"].parts["problems"].tolist() == [1, 2]


def whole_board(seed: int) -> BoardInput:
    """A board with a figure in every metric, a pending sample, a skipped and a voided problem."""
    board, rng = random_board(6, 9, 4, seed), np.random.default_rng(seed)
    timed = rng.random((6, 9)) < 0.6
    pending, skipped = np.zeros((6, 9), dtype=np.int64), np.zeros((6, 9), dtype=bool)
    pending[1, 2], skipped[4, 5] = 1, True
    questions = np.arange(9) >= 7
    return replace(
        board, pending=pending, skipped=skipped, voided=np.arange(9) == 3, questions=questions,
        weights=np.where(questions, 0.0, rng.random(9) + 0.1), gflops=np.where(timed, rng.lognormal(size=(6, 9)), NAN),
        baseline_gflops=np.where(rng.random(9) < 0.8, rng.lognormal(size=9), NAN),
        figures={name: np.where(timed, rng.random((6, 9)), 0.0) for name in ("roofline", "sol_score")},
        at_bound=np.zeros(9, dtype=bool), time_pending=(rng.random((6, 9)) < 0.1).astype(np.int64), shared_ln_sd=0.01,
    )  # fmt: skip


def of_entrants(board: BoardInput, chosen: list[int]) -> BoardInput:
    rows = {name: getattr(board, name)[chosen] for name in (*ROWS, "time_pending") if getattr(board, name) is not None}
    return replace(board, **rows, figures={name: values[chosen] for name, values in board.figures.items()})


def figures_of(scores: BoardScores, place: int) -> dict[str, object]:
    """Everything of one entrant but its place among the others."""
    found = as_rows({field.name: getattr(scores, field.name) for field in fields(scores)}, place)
    return {name: value for name, value in found.items() if not name.startswith("rank")}


def as_rows(value, place: int):
    if isinstance(value, dict):
        return {key: as_rows(one, place) for key, one in value.items()}
    if isinstance(value, Estimate):
        return [as_rows(one, place) for one in (value.value, value.low, value.high, value.parts)]
    return value[place].tobytes() if isinstance(value, np.ndarray) else value


METRICS = ("pass@1", "pass@3", "speedup", "coding", "weighted", "questions", "gflops", "roofline", "sol_score")


@pytest.mark.parametrize("primary", METRICS)
@given(st.integers(0, 50), st.sets(st.integers(0, 5), min_size=1))
@settings(max_examples=60, deadline=None)
def test_who_else_is_on_the_board_changes_no_figure_of_an_entrant(primary, seed, chosen):
    board, kept = replace(whole_board(seed), primary=primary), sorted(chosen)
    whole, part = score_board(board), score_board(of_entrants(board, kept))
    for place, entrant in enumerate(kept):
        assert figures_of(part, place) == figures_of(whole, entrant)


def test_by_the_second_rules_another_entrant_changed_the_gflops_of_all():
    """The rule that the fixed set replaces: the property above does not hold for a published release of those rules."""
    gflops = np.array([[1.0, 10.0], [4.0, NAN]])
    board = replace(random_board(2, 2), gflops=gflops, baseline_gflops=np.ones(2), rules=2)
    whole, part = score_board(board), score_board(of_entrants(board, [0]))
    assert (whole.figures["gflops"].value[0], part.figures["gflops"].value[0]) == (
        pytest.approx(1.0),
        pytest.approx(math.sqrt(10)),
    )


def test_gflops_are_averaged_over_the_problems_all_ranked_entrants_have_by_the_second_rules():
    board = random_board(entrants=3, problems=4)
    gflops = np.array([[1.0, 10.0, NAN, 5.0], [4.0, 40.0, 7.0, NAN], [NAN, 2.0, 2.0, 2.0]])
    scores = score_board(
        replace(
            board, gflops=gflops, rankable=np.array([True, True, False]), primary="gflops", tie_tolerance=1e-6, rules=2
        )
    )
    assert scores.figures["gflops"].parts["problems"].tolist() == [2, 2, 2]
    assert scores.figures["gflops"].value[:2] == pytest.approx([math.sqrt(10), math.sqrt(160)])
    assert np.isnan(scores.figures["gflops"].value[2])
    assert scores.rank.tolist() == [2, 1, 0]


def test_roofline_is_a_mean_in_which_a_failure_is_zero():
    board, figures = random_board(entrants=2, problems=3), np.array([[0.5, 0.0, NAN], [0.2, 0.4, NAN]])
    scores = score_board(replace(board, figures={"roofline": figures}, primary="roofline"))
    assert scores.figures["roofline"].value == pytest.approx([0.25, 0.3])
    assert scores.rank.tolist() == [2, 1]


def test_sol_score_is_a_mean_over_problems_and_counts_those_left_out():
    board = random_board(entrants=2, problems=4)
    figures, at_bound = np.array([[0.5, 0.0, NAN, NAN], [0.2, 0.4, NAN, NAN]]), np.array([False, False, True, False])
    scores = score_board(replace(board, figures={"sol_score": figures}, at_bound=at_bound, primary="sol_score"))
    assert scores.figures["sol_score"].value == pytest.approx([0.25, 0.3])
    assert scores.rank.tolist() == [2, 1]
    assert scores.figures["sol_score"].parts["problems"].tolist() == [2, 2]
    assert scores.figures["sol_score"].parts["left_out"].tolist() == [1, 1]


def test_figures_a_release_lacks_are_absent():
    assert list(score_board(random_board()).figures) == ["pass@1", "pass@3", "speedup", "correct_speedup", "fast_1"]


def test_the_same_input_gives_the_same_bytes():
    board = random_board()
    assert as_bytes(score_board(board)) == as_bytes(score_board(board))


@pytest.mark.parametrize("primary", ["pass@1", "speedup", "gflops", "roofline", "sol_score"])
def test_the_order_of_entrants_changes_no_byte(primary):
    rng = np.random.default_rng(9)
    figures = rng.lognormal(size=(37, 23))
    shares = figures / 100
    board = replace(random_board(37, 23, 6), gflops=figures, primary=primary)
    board = replace(board, figures={"roofline": shares, "sol_score": shares})
    order = rng.permutation(37)
    back = np.argsort(order)
    straight, shuffled = score_board(board), score_board(in_order(board, order))
    for name in ("speedup", "gflops", "roofline", "sol_score"):
        one, other = straight.figures[name], shuffled.figures[name]
        assert estimate(one) == estimate(Estimate(other.value[back], other.low[back], other.high[back]))
    for name in ("correct_speedup", "fast_1"):
        assert straight.figures[name].value.tobytes() == shuffled.figures[name].value[back].tobytes()
    for name in ("rank", "rank_low", "rank_high"):
        assert getattr(straight, name).tobytes() == getattr(shuffled, name)[back].tobytes()


def test_another_entrant_moves_no_other_score():
    passed, speedups = random_samples(6, 9, 3)
    alone = score_board(from_samples(passed[:5], speedups[:5], "digest"))
    together = score_board(from_samples(passed, speedups, "digest"))
    assert alone.figures["speedup"].low.tobytes() == together.figures["speedup"].low[:5].tobytes()
    assert alone.figures["pass@1"].high.tobytes() == together.figures["pass@1"].high[:5].tobytes()


def test_the_first_rules_draw_by_the_release_digest_and_the_second_draw_nothing():
    board = random_board()
    newest = [score_board(replace(board, release_digest=digest)) for digest in ("digest", "another")]
    assert as_bytes(newest[0]) == as_bytes(newest[1])
    board = replace(board, rules=1)
    other = score_board(replace(board, release_digest="another"))
    assert flat(score_board(board).figures["pass@1"]) != flat(other.figures["pass@1"])
    assert score_board(board).figures["pass@1"].value.tobytes() == other.figures["pass@1"].value.tobytes()


@settings(max_examples=40)
@given(st.integers(1, 6), st.integers(1, 10), st.integers(3, 5), st.integers(0, 10_000))
def test_intervals_hold_their_value_and_ranks_their_place(entrants, problems, samples, seed):
    board = random_board(entrants, problems, samples, seed)
    scores = score_board(board)
    one, three = scores.figures["pass@1"], scores.figures["pass@3"]
    assert (three.value >= one.value - 1e-12).all()
    known = np.isfinite(one.low)
    assert (one.low[known] <= one.value[known] + 1e-9).all()
    assert (one.value[known] <= one.high[known] + 1e-9).all()
    if problems >= 5:
        assert ((scores.rank_low >= 1) & (scores.rank_low <= scores.rank) & (scores.rank <= scores.rank_high)).all()
    else:
        assert not (scores.rank_low.any() or scores.rank_high.any())
    assert not (np.diff(scores.fast_p, axis=1) > 1e-12).any()
    assert (scores.figures["speedup"].value[np.isfinite(scores.figures["speedup"].value)] >= 1).all()


@settings(max_examples=60)
@given(st.integers(0, 1000), st.integers(0, 4), st.integers(0, 7))
def test_one_more_pass_never_worsens_a_rank(seed, entrant, problem):
    passed, speedups = random_samples(5, 8, 4, seed)
    before = score_board(from_samples(passed, speedups, "digest"))
    passed[entrant, problem, :] = True
    after = score_board(from_samples(passed, speedups, "digest"))
    assert after.figures["pass@1"].value[entrant] >= before.figures["pass@1"].value[entrant] - 1e-12
    assert after.rank[entrant] <= before.rank[entrant]


def test_an_empty_board_is_no_error():
    scores = score_board(from_samples(np.zeros((0, 3, 2), dtype=bool), np.zeros((0, 3, 2)), "digest"))
    assert scores.rank.tolist() == []
    scores = score_board(from_samples(np.zeros((2, 0, 2), dtype=bool), np.zeros((2, 0, 2)), "digest"))
    assert scores.rank.tolist() == [0, 0]


def test_a_metric_the_board_lacks_is_refused_by_name():
    with pytest.raises(ValueError, match=r"'pass@5' is not on this board; it has pass@1, pass@3, speedup"):
        score_board(replace(random_board(), primary="pass@5"))


def test_arrays_that_do_not_fit_are_refused_by_name():
    with pytest.raises(ValueError, match=r"voided has shape \(7,\), expected \(8,\)"):
        replace(random_board(), voided=np.zeros(7, dtype=bool))
    with pytest.raises(ValueError, match="positive"):
        replace(random_board(), ks=())


def test_each_rules_keep_their_own_intervals_and_ranks():
    board = random_board(entrants=12, problems=30)
    first, second = (score_board(replace(board, rules=rules)) for rules in (1, 2))
    assert flat(first.figures["pass@1"]) != flat(second.figures["pass@1"])
    assert first.figures["pass@1"].value == pytest.approx(second.figures["pass@1"].value)
    assert first.rank.tolist() == second.rank.tolist()
    assert (first.rank_high - first.rank_low).sum() < (second.rank_high - second.rank_low).sum()


def test_rules_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="there are no rules 9, only 1, 2, 3"):
        replace(random_board(), rules=9)


def test_noise_that_problems_share_widens_speedups_by_the_share_that_is_faster():
    passed, speedups = np.ones((2, 20, 2), dtype=bool), np.full((2, 20, 2), 0.5)
    speedups[0] = np.linspace(1.5, 3.0, 20)[:, None]
    board = from_samples(passed, speedups, "digest")
    quiet, noisy = (score_board(replace(board, shared_ln_sd=sd)).figures["speedup"] for sd in (0.0, 0.05))
    assert noisy.high[0] > quiet.high[0]
    assert noisy.low[0] < quiet.low[0]
    assert (noisy.low[1], noisy.high[1]) == (quiet.low[1], quiet.high[1])


def test_the_primary_figure_is_that_of_the_metric_that_ranks() -> None:
    board = random_board()
    for primary, name in (("pass@3", "pass@3"), ("speedup", "speedup")):
        scores = score_board(replace(board, primary=primary))
        expected = scores.figures["speedup"] if name == "speedup" else scores.figures["pass@3"]
        assert flat(scores.primary) == flat(expected)


def test_each_figure_says_over_how_many_problems_it_is() -> None:
    passed = np.ones((2, 4, 1), dtype=bool)
    speedups = np.array([[2.0, NAN, NAN, 2.0], [2.0, 2.0, 2.0, NAN]]).reshape(2, 4, 1)
    roofline = np.array([[0.5, NAN, NAN, 0.1], [0.5, 0.5, NAN, NAN]])
    board = replace(from_samples(passed, speedups, "digest"), figures={"roofline": roofline})
    scores = score_board(board)
    assert scores.figures["correct_speedup"].parts["problems"].tolist() == [2, 3]
    assert scores.figures["roofline"].parts["problems"].tolist() == [2, 2]
    part = score_board(replace(board, voided=np.array([True, False, False, False])))
    assert part.figures["roofline"].parts["problems"].tolist() == [1, 1]


def test_a_share_counts_as_many_trials_as_its_entrants_samples_allow() -> None:
    """Two samples a problem tell less than four, and samples of a voided problem tell nothing."""
    values = np.array([[0.5, 0.5, 1.0, 1.0, 1.0, 0.5, 1.0], [0.75, 1.0, 1.0, 1.0, 0.75, 1.0, 1.0]])
    n = np.array([[2] * 6 + [4], [4] * 6 + [1]])
    present = np.arange(4) < n[:, :, None]
    passed = np.arange(4) < (values * n)[:, :, None]
    voided = np.array([False] * 6 + [True])
    board = replace(from_samples(passed, np.full(passed.shape, NAN), "digest", present), voided=voided)
    found = means(values, np.where(voided, 0.0, np.ones((2, 7))))
    expected = share_interval(found, most_trials(np.array([2.0, 4.0]), 1))
    assert estimate(score_board(board).figures["pass@1"]) == estimate(expected) != estimate(share_interval(found))


def test_a_mean_of_shares_that_are_no_passes_is_bound_by_no_samples() -> None:
    board = random_board(2, 6)
    roofline = np.array([[0.5, 0.51, 0.5, 0.52, 0.5, 0.5], [0.2, 0.21, 0.2, 0.2, 0.22, 0.2]])
    found = score_board(replace(board, figures={"roofline": roofline})).figures["roofline"]
    assert estimate(found) == estimate(share_interval(means(roofline, np.ones((2, 6)))))


def test_by_the_first_rules_too_a_speedup_is_never_below_one() -> None:
    board = replace(from_samples(np.ones((1, 4, 1), dtype=bool), np.ones((1, 4, 1)), "digest"), rules=1)
    assert score_board(board).figures["speedup"].low.tolist() == [1.0]


def test_a_speedup_is_never_below_one_and_gflops_may_be() -> None:
    speedups = np.array([1.0] * 9 + [9.0]).reshape(1, 10, 1)
    board = from_samples(np.ones((1, 10, 1), dtype=bool), speedups, "digest")
    scores = score_board(replace(board, gflops=np.array([[0.1] * 4 + [90.0] * 6]), baseline_gflops=np.ones(10)))
    assert scores.figures["speedup"].low.tolist() == [1.0]
    assert scores.figures["gflops"].low[0] < 1.0 < scores.figures["gflops"].value[0] < scores.figures["gflops"].high[0]


def test_gflops_of_zero_are_none_and_without_gflops_no_problem_is_shared() -> None:
    board = replace(random_board(2, 3), rules=SECOND.version)
    scores = score_board(replace(board, gflops=np.array([[1.0, 0.0, 4.0], [1.0, 2.0, 4.0]])))
    assert scores.figures["gflops"].parts["problems"].tolist() == [2, 2]
    assert scores.figures["gflops"].value == pytest.approx([2.0, 2.0])


def test_shared_noise_widens_a_speedup_by_what_is_faster_than_the_baseline() -> None:
    """It moves GFLOPS whole, and a speedup only where it is above 1, unless the board does not say where that is."""
    speedups = np.stack([np.full((8, 1), 1.5), np.where(np.arange(8) < 4, 1.5, 0.5)[:, None]])
    board = replace(from_samples(np.ones((2, 8, 1), dtype=bool), speedups, "digest"), gflops=np.full((2, 8), 3.0))
    board = replace(board, baseline_gflops=np.ones(8))
    noisy = replace(board, shared_ln_sd=0.2)
    whole, half = means(np.log(np.maximum(speedups[:, :, 0], 1.0)), np.ones((2, 8))), np.array([0.2, 0.1])
    assert estimate(score_board(noisy).figures["speedup"]) == estimate(
        geometric(bounded(mean_interval(whole, half), 0.0))
    )
    coarse = replace(noisy, thresholds=(0.0, 2.0), fast_counts=board.fast_counts[:, :, :2])
    assert estimate(score_board(coarse).figures["speedup"]) == estimate(
        geometric(bounded(mean_interval(whole, np.full(2, 0.2)), 0.0))
    )
    gflops = mean_interval(means(np.log(np.full((2, 8), 3.0)), np.ones((2, 8))), np.full(2, 0.2))
    assert estimate(score_board(noisy).figures["gflops"]) == estimate(geometric(gflops))


def test_noise_that_problems_share_widens_intervals_of_ranks() -> None:
    speedups = np.random.default_rng(1).lognormal([[1.5], [0.9]], 0.05, (2, 30))[:, :, None]
    board = replace(from_samples(np.ones((2, 30, 1), dtype=bool), speedups, "digest"), primary="speedup")
    for noise, high in ((0.0, [1, 2]), (2.0, [2, 2])):
        scores = score_board(replace(board, shared_ln_sd=noise))
        assert (scores.rank.tolist(), scores.rank_high.tolist()) == ([1, 2], high)


def test_a_time_that_awaits_a_decision_holds_up_a_board_of_times_where_a_baseline_may_rank() -> None:
    board = replace(random_board(4, 3), has_rankable_baseline=np.array([True, True, False]), primary="speedup")
    pending, waiting = np.zeros((4, 3), dtype=np.int64), np.zeros((4, 3), dtype=np.int64)
    pending[0, 0] = waiting[1, 1] = waiting[2, 2] = 1
    held = replace(board, pending=pending, time_pending=waiting)
    assert score_board(held).incomplete.tolist() == [True, True, False, False]
    assert score_board(replace(held, primary="pass@1")).incomplete.tolist() == [True, False, False, False]


def test_a_problem_that_does_not_count_has_no_weight() -> None:
    passed = np.array([[[True], [False], [True]]])
    board = replace(
        from_samples(passed, np.full(passed.shape, NAN), "digest"),
        weights=np.array([1.0, 3.0, 2.0]),
        questions=np.zeros(3, dtype=bool),
        voided=np.array([False, False, True]),
    )
    found = score_board(board).figures["weighted"]
    assert found is not None
    assert found.value == pytest.approx([1 / 4])


def test_lower_ends_of_samples_decide_what_counts() -> None:
    passed, speedups = np.ones((1, 1, 2), dtype=bool), np.array([[[2.0, 4.0]]])
    board = from_samples(passed, speedups, "digest", lows=np.array([[[1.5, 0.9]]]))
    assert board.ln_speedup_sum.tolist() == [[math.log(2.0)]]
    assert board.correct_ln_sum == pytest.approx(np.array([[math.log(8.0)]]))


@pytest.mark.parametrize("name", ["passed", "gflops", "rankable", "fast_counts"])
def test_an_array_of_another_shape_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name} has shape \(1, 1, 1, 1\), expected"):
        replace(random_board(), **{name: np.ones((1, 1, 1, 1))})
    with pytest.raises(ValueError, match=r"^n has shape \(5,\), expected entrants × problems"):
        replace(random_board(), n=np.ones(5))


def test_one_draw_is_enough() -> None:
    assert score_board(replace(random_board(), draws=1, rules=1)).rank.max() > 0


def test_a_metric_over_a_group_is_that_of_a_board_of_its_problems_alone():
    passed, speedups = random_samples(4, 9, 3)
    board = from_samples(passed, speedups, "digest")
    groups = [f"g{n % 2}" for n in range(9)]
    odd = np.array([group == "g1" for group in groups])
    alone = score_board(from_samples(passed[:, odd], speedups[:, odd], "digest"))
    for name in ("pass@1", "speedup"):
        found = means_of_groups(BoardWork(board, incomplete(board)), name, groups)
        assert list(found) == ["g0", "g1"]
        assert found["g1"] == pytest.approx(alone.figures[name].value)


def test_a_group_in_which_no_problem_counts_has_no_figure():
    board = random_board()
    voided = np.arange(8) < 2
    found = means_of_groups(
        BoardWork(replace(board, voided=voided), incomplete(board)), "speedup", ["gone"] * 2 + ["here"] * 6
    )
    assert np.isnan(found["gone"]).all()
    assert np.isfinite(found["here"]).all()
    assert means_of_groups(BoardWork(board, incomplete(board)), SOL_SCORE.name, ["a"] * 8) == {}


@pytest.mark.parametrize("name", ["pass@1", "pass@3", "coding", "weighted", "questions", "speedup", "gflops"])
def test_the_values_by_problem_have_the_metric_as_their_mean(name: str):
    questions = np.arange(8) > 5
    board = replace(
        random_board(), questions=questions, weights=np.where(questions, 0.0, np.arange(1.0, 9.0)),
        gflops=np.exp(np.random.default_rng(1).normal(3, 1, (5, 8))), baseline_gflops=np.full(8, 9.0),
    )  # fmt: skip
    work = BoardWork(board, incomplete(board))
    scored = scored_by(work, name)
    assert scored is not None
    mean = np.average(scored.values, axis=1, weights=scored.weights)
    shown = score_board(board).figures[name].value
    assert (np.exp(mean) if name in (SPEEDUP.name, "gflops") else mean) == pytest.approx(shown)


def test_values_by_problem_are_of_metrics_that_can_rank():
    work = BoardWork(random_board(), np.zeros(5, dtype=bool))
    assert scored_by(work, "roofline") is None
    with pytest.raises(UnknownMetric):
        scored_by(work, "zzz")
