"""The function to implement, in a file named solution.py."""


def window_medians(values: list[int], width: int) -> list[int]:
    """Lower median of every window of `width` neighbouring values, from left to right."""
    raise NotImplementedError
