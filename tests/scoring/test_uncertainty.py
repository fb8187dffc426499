"""Intervals of means over problems: by hand where a hand can, by simulation where coverage is the promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.pass_at_k import most_trials
from scoring.uncertainty import Means, bounded, mean_interval, means, share_interval, student_t, wilson_interval


def interval_of(values, kind=share_interval, weights=None, **more):
    given = np.atleast_2d(np.asarray(values, dtype=np.float64))
    found = kind(means(given, np.ones_like(given) if weights is None else np.atleast_2d(weights)), **more)
    return found.low[0], found.value[0], found.high[0]


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.706205), (2, 4.302653), (4, 2.776445), (5, 2.570582), (7, 2.364624), (24, 2.063899), (99, 1.984217)],
)
def test_students_quantile_is_the_tables(freedom, quantile):
    assert student_t(np.array([float(freedom)])) == pytest.approx(quantile, abs=1e-3)


def test_the_variance_of_the_mean_is_that_of_the_influences():
    values = np.random.default_rng(1).random((3, 20))
    found = means(values, np.ones_like(values))
    assert found.variance == pytest.approx(values.var(axis=1) / 20)
    assert found.influence.sum(axis=1) == pytest.approx(0.0)


def test_passes_and_failures_are_as_many_trials_as_problems():
    """One sample a problem: Wilson's own interval of 25 trials."""
    low, value, high = interval_of([1.0] * 10 + [0.0] * 15)
    expected = [float(end) for end in wilson_interval(0.4, 25)]
    assert (low, value, high) == (pytest.approx(expected[0]), 0.4, pytest.approx(expected[1]))


def test_shares_that_vary_less_are_worth_more_trials_than_problems():
    once, often = ([*([1.0] * 5), *([0.0] * 5)], [0.6] * 5 + [0.4] * 5)
    assert interval_of(often)[2] - interval_of(often)[0] < (interval_of(once)[2] - interval_of(once)[0]) / 3


def test_samples_bound_the_trials_of_a_problem():
    nearly = [1.0] * 9 + [0.999]
    assert interval_of(nearly)[0] > 0.99
    quantile = np.sqrt((1.959964**2 + 2.262157**2) / 2)  # each problem is two trials: half of the way to Student's
    expected = float(wilson_interval(np.mean(nearly), 20, quantile)[0])
    assert interval_of(nearly, most_trials=np.array([2.0]))[0] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("n", "k", "trials"), [(10, 1, 10), (20, 10, 40 / 11), (3, 3, 1.5)])
def test_samples_are_fewer_trials_of_a_larger_k(n, k, trials):
    assert most_trials(np.array([float(n)]), k) == pytest.approx(trials)


@pytest.mark.parametrize("share", [0.0, 0.05, 1 / 3, 1.0])
def test_problems_that_are_all_alike_are_a_trial_each(share):
    low, value, high = interval_of([share] * 6)
    ends = [float(end) for end in wilson_interval(share, 6)]
    assert (low, high) == (pytest.approx(ends[0], abs=1e-3), pytest.approx(ends[1], abs=1e-3))
    assert 0 <= low <= value <= high <= 1
    assert high - low > 0.01


def test_even_logarithms_have_students_interval():
    values = np.linspace(-1, 1, 9)
    low, value, high = interval_of(values, mean_interval)
    arm = 2.306004 * values.std() / 3
    assert value == pytest.approx(0)
    assert (low, high) == (pytest.approx(-arm, abs=1e-3), pytest.approx(arm, abs=1e-3))


def test_a_long_tail_lengthens_the_arm_on_its_side():
    low, value, high = interval_of([0, 0, 0, 0, 0, 0, 0.2, 1.5], mean_interval)
    assert high - value > 2 * (value - low)
    low, value, high = interval_of([0, 0, 0, 0, 0, 0, -0.2, -1.5], mean_interval)
    assert value - low > 2 * (high - value)


@pytest.mark.parametrize("value", [0.0, np.log(2.0), -40.0])
def test_logarithms_that_are_all_alike_have_an_interval(value):
    low, _, high = interval_of([value] * 6, mean_interval)
    assert (low, high) == (pytest.approx(value - 0.390, abs=1e-3), pytest.approx(value + 0.390, abs=1e-3))


def test_an_end_does_not_pass_what_a_value_can_be():
    given_means = means(np.array([[0.0] * 8, [0.1] * 8]), np.ones((2, 8)))
    found = bounded(mean_interval(given_means), 0.0, 0.2)
    assert found.low.tolist() == [0, 0]
    assert found.high.tolist() == [0.2, 0.2]


def test_noise_that_all_problems_share_widens_both_arms():
    values = np.linspace(-1, 1, 9)
    low, _, high = interval_of(values, mean_interval)
    wider = interval_of(values, mean_interval, shared_sd=np.array([0.3]))
    assert wider[2] == pytest.approx(np.hypot(high, 1.959964 * 0.3))
    assert wider[0] == pytest.approx(-np.hypot(low, 1.959964 * 0.3))


def test_a_problem_of_no_weight_does_not_matter():
    values = np.array([[0.2, 0.8, 0.5, np.nan]])
    some = share_interval(means(values, np.array([[1.0, 1.0, 1.0, 0.0]])))
    without = share_interval(means(values[:, :3], np.ones((1, 3))))
    assert [some.low[0], some.value[0], some.high[0]] == [without.low[0], without.value[0], without.high[0]]


def test_a_missing_value_that_counts_leaves_no_mean_and_spares_the_others():
    found = share_interval(means(np.array([[0.2, np.nan], [0.2, 0.4]]), np.ones((2, 2))))
    assert np.isnan([found.value[0], found.low[0], found.high[0]]).all()
    assert found.value[1] == pytest.approx(0.3)


@pytest.mark.parametrize("kind", [share_interval, mean_interval])
def test_one_problem_has_no_interval(kind):
    low, value, high = interval_of([0.5], kind)
    assert value == 0.5
    assert np.isnan([low, high]).all()


def test_no_problem_has_no_value():
    found = share_interval(means(np.zeros((1, 3)), np.zeros((1, 3))))
    assert np.isnan([found.value[0], found.low[0], found.high[0]]).all()


@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.05, 1 / 3, 0.5, 1.0]), min_size=5, max_size=5), min_size=1, max_size=4),
    st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.5]), min_size=5, max_size=5),
    st.sampled_from([None, 1.0, 3.0]),
)
def test_no_interval_of_shares_is_without_width_or_leaves_its_bounds(shares, weights, samples):
    values, weight = np.array(shares), np.tile(weights, (len(shares), 1))
    bound = None if samples is None else np.full(len(values), samples)
    found = share_interval(means(values, weight), bound)
    known = ~np.isnan(found.low)
    assert (known == ((weight > 0).sum(axis=1) >= 2)).all()
    low, value, high = found.low[known], found.value[known], found.high[known]
    assert ((low >= 0) & (low <= value + 1e-12) & (value <= high + 1e-12) & (high <= 1)).all()
    assert (high - low > 0.001).all()


@given(st.lists(st.sampled_from([0.0, 0.0, 0.1, 0.7, 2.0, 5.0]), min_size=2, max_size=12))
def test_no_interval_of_logarithms_is_without_width(values):
    low, value, high = interval_of(values, mean_interval)
    assert low <= value <= high
    assert high - low > 0.001


@pytest.mark.parametrize(("problems", "least"), [(6, 0.935), (8, 0.935), (36, 0.935)])
@pytest.mark.parametrize(("samples", "spread"), [(1, 1.2), (3, 1.2), (20, 1.2), (3, 0.0)])
def test_shares_are_covered(problems, least, samples, spread):
    """Means of boards whose entrant's skill is drawn anew. `python -m benchmarks coverage` has the other worlds."""
    rng = np.random.default_rng([problems, samples])
    nodes, masses = np.polynomial.hermite_e.hermegauss(40)
    skill = rng.uniform(-2, 2, (3000, 1))
    chance = 1 / (1 + np.exp(-skill - spread * rng.normal(size=(3000, problems))))
    values = rng.binomial(samples, chance) / samples
    truth = (1 / (1 + np.exp(-skill - spread * nodes)) * masses).sum(axis=1) / masses.sum()
    found = share_interval(means(values, np.ones_like(values)), np.full(3000, float(samples)))
    assert least - 0.01 < np.mean((found.low <= truth) & (truth <= found.high)) < 0.996


def test_skewed_logarithms_are_covered():
    """Half of the problems gain nothing, the others' logarithms are exponential: Student's interval covers 89 %."""
    rng = np.random.default_rng(12)
    values = np.where(rng.random((4000, 12)) < 0.5, rng.exponential(1.0, (4000, 12)), 0.0)
    found = mean_interval(means(values, np.ones_like(values)))
    assert 0.93 < np.mean((found.low <= 0.5) & (found.high >= 0.5)) < 0.97


def test_a_share_that_rounding_put_outside_of_0_to_1_has_an_interval() -> None:
    for share in (1 + 2.0**-52, -(2.0**-60)):
        found = share_interval(Means(np.array([share]), np.zeros((1, 5)), np.array([5.0])))
        assert found.low[0] <= share <= found.high[0]


def test_values_that_differ_by_more_than_rounding_are_not_alike() -> None:
    values = [0.5 + 1e-7, 0.5 - 1e-7] * 5
    for kind in (share_interval, mean_interval):
        low, _, high = interval_of(values, kind)
        assert 0 < high - low < 1e-6


def test_two_problems_have_students_interval_of_one_degree() -> None:
    low, value, high = interval_of([0.0, 2.0], mean_interval)
    reach = pytest.approx(12.706205 * np.sqrt(0.5), abs=1e-3)
    assert (value - low, value, high - value) == (reach, 1.0, reach)


def test_the_arms_of_skewed_values_solve_halls_cubic() -> None:
    values = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 3.0])
    low, value, high = interval_of(values, mean_interval)
    n, spread = values.size, np.sqrt(values.var())
    skew = ((values - value) ** 3).mean() / spread**3 / np.sqrt(n)
    t, a = float(student_t(np.array([n - 1.0]))[0]), skew / 3
    for arm, quantile in ((value - low, t), (-(high - value), -t)):
        y = arm / (spread / np.sqrt(n))
        assert y + a * y**2 + a**2 * y**3 / 3 + skew / 6 == pytest.approx(quantile)


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(3, 3.18244631), (6, 2.44691185), (7, 2.36462425), (8, 2.30600414), (10, 2.22813885), (20, 2.08596345)],
)
def test_students_quantile_is_known_to_a_ten_thousandth(freedom: int, quantile: float) -> None:
    assert student_t(np.array([float(freedom)])) == pytest.approx(quantile, abs=1e-4)


def test_students_quantile_is_closer_the_more_degrees_there_are() -> None:
    assert student_t(np.array([10.0, 30.0])) == pytest.approx([2.22813885, 2.04227246], abs=1e-5)
    assert student_t(np.array([30.0])) == pytest.approx(2.04227246, abs=1e-7)


def test_a_problem_moves_a_weighted_mean_by_its_weight() -> None:
    values, weights = np.array([[1.0, 0.0, 0.5]]), np.array([[1.0, 2.0, 5.0]])
    found = means(values, weights)
    assert found.value == pytest.approx([3.5 / 8])
    assert found.influence[0] == pytest.approx((values[0] - 3.5 / 8) * weights[0] / 8)
