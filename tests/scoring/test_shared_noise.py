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
