"""Intervals as people read them."""

from leaderboard.site.numerals import (
    ends,
    general,
    milliseconds,
    milliseconds_interval,
    ratio,
    ratio_interval,
    supported,
)


def test_an_interval_is_written_by_its_ends_even_or_lopsided() -> None:
    assert ends(0.4, 0.6, 100) == "40.0–60.0"
    assert ends(0.676, 1.0, 100) == "67.6–100.0"
    assert ends(1.0, 1.0, digits=2) == "1.00–1.00"


def test_no_interval_is_nothing() -> None:
    assert ends(None, None) == ""


def test_a_figure_of_any_size_is_short_whether_number_or_text() -> None:
    written = [general(value) for value in (0.25, 1.2345e-7, "0.012500001", "inf", 3e20, None)]
    assert written == ["0.25", "1.23e-07", "0.0125", "inf", "3e+20", "–"]


def test_a_small_ratio_keeps_two_significant_digits() -> None:
    written = [ratio(value) for value in (0.00312, 0.012, 0.0996, 0.1, 0.453, 1.2345, 73.1, 1234.5, 0.0, None)]
    assert written == ["0.0031×", "0.012×", "0.100×", "0.10×", "0.45×", "1.23×", "73.10×", "1,234×", "0.00×", "–"]
    assert ratio_interval(0.0031, 0.45) == "95 % interval 0.0031–0.45×"


def test_a_figure_has_the_decimals_that_its_interval_supports() -> None:
    intervals = [(1.29, 3.01), (1.81, 1.87), (1.840, 1.846), (80.0, 120.0), (1.0, 1.0), (None, None)]
    assert [supported(*ends) for ends in intervals] == [1, 3, 4, 0, None, None]
    assert [ratio(1.8437, *ends) for ends in intervals[:3]] == ["1.8×", "1.844×", "1.8437×"]
    assert ratio_interval(1.29, 3.01) == "95 % interval 1.3–3.0×"


def test_a_time_has_the_decimals_that_its_interval_supports_in_its_unit() -> None:
    assert milliseconds(1.23456, 1.2, 1.3) == "1.23 ms"
    assert milliseconds(0.0234567, 0.0230, 0.0240) == "23.5 µs"
    assert milliseconds(1.23456) == "1.235 ms"
    assert milliseconds_interval(0.0234567, 0.0230, 0.0240, 6) == "23.0 to 24.0 µs"
    assert milliseconds_interval(1.2, None, None, 3) == "no interval (n = 3)"
