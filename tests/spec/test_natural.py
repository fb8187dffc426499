"""The order of names that hold numbers."""

from problems.spec.natural import natural_key


def test_numbers_within_names_are_ordered_by_their_value() -> None:
    names = ["ch10", "²", "ch2", "", "2", "10", "ch2-b", "ch"]
    assert sorted(names, key=natural_key) == ["", "2", "10", "ch", "ch2", "ch2-b", "ch10", "²"]
