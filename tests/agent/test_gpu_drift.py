"""Drift of the golden program: what counts, and what does not yet."""

import pytest

from runners.agent.devices.drift import drift, has_drifted

STEADY = [5.0] * 20


def test_a_steady_device_has_not_drifted() -> None:
    assert not has_drifted([5.0, 5.01, 4.99, 5.02, 5.0, 5.01, 4.98, 5.0])


def test_one_slow_run_is_forgiven() -> None:
    assert not has_drifted([*STEADY, 5.5])
    assert not has_drifted([*STEADY, 5.5, 5.0])
    assert not has_drifted([*STEADY, 5.5, 5.0, 5.5])


def test_two_slow_runs_in_a_row_are_a_drift() -> None:
    assert has_drifted([*STEADY, 5.11, 5.11])


def test_two_fast_runs_in_a_row_are_a_drift_too() -> None:
    assert has_drifted([*STEADY, 4.8, 4.8])


def test_just_under_two_per_cent_is_allowed() -> None:
    assert not has_drifted([*STEADY, 5.099, 4.901])


def test_fewer_than_five_earlier_runs_allow_no_judgement() -> None:
    assert drift([5.0] * 4, 9.0) is None
    assert not has_drifted([*[5.0] * 4, 9.0, 9.0])
    assert has_drifted([*[5.0] * 5, 9.0, 9.0])


def test_no_runs_at_all_allow_none_either() -> None:
    assert not has_drifted([])
    assert not has_drifted([5.0])


def test_drift_is_relative_to_the_median_of_the_last_twenty_alone() -> None:
    assert drift([*[50.0] * 30, *[5.0] * 20], 5.05) == pytest.approx(0.01)
    assert drift([5.0] * 5, 4.5) == pytest.approx(-0.1)


def test_a_slow_creep_is_seen_once_it_leaves_the_window_behind() -> None:
    creeping = [5.0 * 1.003**hour for hour in range(30)]
    assert has_drifted(creeping)
