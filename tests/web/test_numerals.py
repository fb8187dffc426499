"""Intervals as people read them."""

from leaderboard.board.numerals import spread


def test_an_even_interval_is_half_its_width() -> None:
    assert spread(0.5, 0.4, 0.61, 100) == "±10.5"


def test_a_lopsided_interval_is_written_by_its_ends() -> None:
    assert spread(1.0, 0.676, 1.0, 100) == "67.6–100.0"


def test_no_interval_is_nothing() -> None:
    assert spread(1.0, None, None) == ""


def test_an_interval_of_no_width_is_plus_minus_nothing() -> None:
    assert spread(1.0, 1.0, 1.0, digits=2) == "±0.00"
