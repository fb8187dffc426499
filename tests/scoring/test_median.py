"""The interval of a time that processes of a solution and of a calibration give together."""

import numpy as np
import pytest

from scoring.median import processes_interval, t_quantile


@pytest.mark.parametrize(("df", "expected"), [(5, 2.5706), (8, 2.3060), (10, 2.2281), (30, 2.0423)])
def test_a_quantile_of_t_is_known_to_two_thousandths(df: float, expected: float) -> None:
    assert t_quantile(df) == pytest.approx(expected, rel=0.002)


def test_too_few_processes_or_calibrations_have_no_interval() -> None:
    assert processes_interval([1.0, 2.0, 3.0, 4.0], [1.0, 2.0])[1:] == (None, None)
    assert processes_interval([1.0] * 6, [1.0])[1:] == (None, None)
    assert processes_interval([1.0, 2.0, 4.0], [])[0] == 2.0


@pytest.mark.parametrize("ratio", [0.3, 1.0, 2.0], ids=["steady costs", "alike", "unsteady costs"])
@pytest.mark.parametrize("heavy", [False, True], ids=["normal", "t with 5 degrees"])
def test_it_covers_the_true_time(ratio: float, heavy: bool) -> None:
    """Six processes and six calibrations, 4,000 times: the cost's error is in all processes alike."""
    rng = np.random.default_rng(20261127)
    draw = (lambda shape: rng.standard_t(5, shape)) if heavy else rng.standard_normal
    runs, costs = draw((4000, 6)), ratio * draw((4000, 6))
    runs -= costs.mean(axis=1, keepdims=True)
    found = [
        processes_interval(list(map(float, one)), list(map(float, cost))) for one, cost in zip(runs, costs, strict=True)
    ]
    covered = np.mean([one.low < 0 < one.high for one in found if one.low is not None and one.high is not None])
    assert 0.935 < covered < 0.98


@pytest.mark.parametrize(
    ("df", "quantile", "rel"), [(7, 2.36462425, 4e-4), (10, 2.22813885, 1e-4), (30, 2.04227246, 2e-6)]
)
def test_a_quantile_of_t_is_closer_the_more_degrees_there_are(df: float, quantile: float, rel: float) -> None:
    assert t_quantile(df) == pytest.approx(quantile, rel=rel)


def test_the_interval_is_welchs_with_the_variance_of_a_median() -> None:
    """Five processes and two calibrations are enough."""
    runs, costs = [1.0, 2.0, 3.0, 4.0, 6.0], [0.1, 1.3]
    of_runs, of_costs = 3.7 / 5, 0.72 / 2
    df = (of_runs + of_costs) ** 2 / (of_runs**2 / 4 + of_costs**2 / 1)
    reach = t_quantile(df) * (1.29 * of_runs + of_costs) ** 0.5
    assert processes_interval(runs, costs) == (3.0, pytest.approx(3.0 - reach), pytest.approx(3.0 + reach))


def test_times_and_costs_without_any_spread_have_no_width() -> None:
    assert processes_interval([2.0] * 5, [0.1, 0.1]) == (2.0, 2.0, 2.0)
