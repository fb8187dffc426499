"""The order of names that hold numbers, as people expect it."""

import re


def natural_key(name: str) -> list[tuple[int, str]]:
    """A sort key under which `ch2` comes before `ch10`."""
    parts = re.split(r"([0-9]+)", name)  # every second one is a number
    return [_number_key(part) if place % 2 else (-1, part) for place, part in enumerate(parts)]


def _number_key(digits: str) -> tuple[int, str]:
    """Numbers in their order, however long: Python converts 4300 digits at most."""
    number = digits.lstrip("0")
    return len(number), number
