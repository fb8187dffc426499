"""The function to implement, in a file named solution.py."""


def longest_increasing(values: list[int]) -> int:
    """Length of the longest strictly increasing subsequence of `values`; 0 for an empty list."""
    raise NotImplementedError
