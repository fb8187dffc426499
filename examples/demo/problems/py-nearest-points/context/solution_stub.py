"""The function to implement, in a file named solution.py."""


def nearest(points: list[list[int]], queries: list[list[int]]) -> list[int]:
    """For each query [x, y] the index of the point nearest to it; of equally near points the smallest index."""
    raise NotImplementedError
