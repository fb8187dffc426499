"""Noise that all times of a node and day share, found in simulated times whose noise is known."""

import numpy as np
import pytest

from scoring.shared_noise import shared_sd


def times(rng, groups, items, sd, single=0.02, kept=1.0):
    """ln times of items of very different lengths, the items and the groups; some rows are missing."""
    item, group = (one.ravel() for one in np.meshgrid(np.arange(items), np.arange(groups)))
    effect, length = sd * rng.normal(size=groups), rng.normal(0, 3, items)
    ln_times = length[item] + effect[group] + single * rng.normal(size=item.size)
    rows = rng.random(item.size) < kept
    return ln_times[rows], item[rows], group[rows]


@pytest.mark.parametrize("kept", [1.0, 0.4])
@pytest.mark.parametrize("sd", [0.0, 0.01, 0.05])
def test_the_noise_of_many_days_is_found(sd, kept):
    rng = np.random.default_rng(3)
    found = np.mean([shared_sd(*times(rng, 25, 20, sd, kept=kept)) for _ in range(30)])
    assert found == pytest.approx(1.05 * sd, abs=0.1 * sd + 0.003)


def test_few_days_are_trusted_less():
    rng = np.random.default_rng(4)
    few, many = (np.mean([shared_sd(*times(rng, days, 20, 0.05)) for _ in range(200)]) for days in (3, 30))
    assert few > 1.5 * many


@pytest.mark.parametrize("groups", [0, 1, 2])
def test_two_days_tell_nothing(groups):
    assert shared_sd(*times(np.random.default_rng(5), groups, 20, 0.05)) == 0.0


def test_items_of_one_day_tell_nothing():
    rng = np.random.default_rng(6)
    ln_times, items, groups = rng.normal(size=30), np.arange(30), np.repeat(np.arange(5), 6)
    assert shared_sd(ln_times, items, groups) == 0.0


def test_every_item_on_every_day_gives_the_spread_of_the_days_less_that_of_single_times() -> None:
    """An additive model by hand: three days, two items; Student's quantile widens what two degrees of freedom say."""
    rows = np.array([[1.0, 1.5, 1.2], [3.0, 3.7, 3.1]])
    items, groups = np.repeat([0, 1], 3), np.tile([0, 1, 2], 2)
    effect = rows.mean(axis=0) - rows.mean()
    rest = ((rows - rows.mean(axis=1, keepdims=True) - effect) ** 2).sum() / 2
    expected = np.sqrt(effect.var(ddof=1) - rest / 2) * 4.302653 / 1.959964
    assert shared_sd(rows.ravel(), items, groups) == pytest.approx(expected, rel=1e-5)


def test_one_degree_of_freedom_is_enough_and_none_is_not() -> None:
    ln_times, items, groups = np.array([1.0, 2.0, 1.3, 3.0, 4.2]), np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 0, 1])
    assert shared_sd(ln_times, items, groups) > 0
    assert shared_sd(ln_times[:4], items[:4], groups[:4]) == 0.0


def test_an_item_of_one_day_changes_nothing_beside_others() -> None:
    ln_times, items, groups = times(np.random.default_rng(8), 5, 6, 0.05)
    more = np.append(ln_times, 9.0), np.append(items, 99), np.append(groups, 2)
    assert shared_sd(*more) == shared_sd(ln_times, items, groups) > 0


def test_where_rows_are_missing_the_effects_are_those_of_least_squares() -> None:
    """Items need not be named from 0 on."""
    ln_times, items, groups = times(np.random.default_rng(9), 4, 5, 0.3, single=0.1, kept=0.8)
    assert len(ln_times) < 20
    model = np.hstack([items[:, None] == np.arange(5), groups[:, None] == np.arange(4)]).astype(float)
    found = np.linalg.lstsq(model, ln_times, rcond=None)[0]
    rest = ((ln_times - model @ found) ** 2).sum() / (len(ln_times) - 5 - 4 + 1)
    variance = found[5:].var(ddof=1) - rest * (1 / np.bincount(groups)).mean()
    assert shared_sd(ln_times, items + 100, groups) == pytest.approx(np.sqrt(variance) * 3.182446 / 1.959964, rel=1e-5)
