"""Tests and times nearest; the solution runs in a process of its own."""

import os
import random

from contestant import Contestant, benchmark_wanted, check

Point = list[int]

fresh = random.Random(os.urandom(16))


def nearest_to(points: list[Point], query: Point) -> int:
    x, y = query
    distances = [(px - x) ** 2 + (py - y) ** 2 for px, py in points]
    return distances.index(min(distances))


def scattered(count: int, reach: int) -> list[Point]:
    return [[fresh.randint(-reach, reach), fresh.randint(-reach, reach)] for _ in range(count)]


def edge_cases() -> list[tuple[list[Point], list[Point]]]:
    return [
        ([[0, 0]], [[5, 5], [0, 0]]),
        ([[1, 1]] * 9, [[1, 1], [-4, 2]]),
        ([[0, 0], [2, 0], [0, 2], [2, 2]], [[1, 1], [1, 0], [0, 1], [2, 1]]),
        ([[2, 2], [0, 0], [2, 2]], [[2, 2], [1, 1]]),
        ([[step, 0] for step in range(50)], [[-100, 3], [1000, 1], [25, 7]]),
        ([[10**9, 10**9], [-(10**9), -(10**9)]], [[1, 0], [-1, 0], [0, 0]]),
        # Nearer by less than a float can tell.
        ([[10**9, 1], [10**9, 0]], [[0, 0]]),
        ([[3, 4]], []),
    ]


def random_cases() -> list[tuple[list[Point], list[Point]]]:
    ties = [(scattered(fresh.randrange(1, 30), 3), scattered(20, 5)) for _ in range(150)]
    spread = [(scattered(count, 10**6), scattered(30, 2 * 10**6)) for count in (2, 17, 500, 3000)]
    # All points in one corner but one: a grid made for even scatter meets empty cells.
    lopsided = [(scattered(400, 5) + [[10**6, 10**6]], scattered(30, 10**6))]
    # Points on a ring seen from its middle are nearly equally far.
    ring = [([[1000 - abs(step), step] for step in range(-1000, 1001)], scattered(10, 2))]
    return ties + spread + lopsided + ring


def ask(contestant: Contestant, points: list[Point], queries: list[Point], looked_at: int) -> None:
    """Checks `looked_at` of the answers, drawn after the reply is in."""
    reply = contestant.call(points, queries)
    check(isinstance(reply, list) and len(reply) == len(queries), f"{len(queries)} indices wanted")
    for place in fresh.sample(range(len(queries)), looked_at):
        right = nearest_to(points, queries[place])
        check(reply[place] == right, f"query {queries[place]}: point {reply[place]!r:.80}, not {right}")


def run_tests(contestant: Contestant) -> None:
    for points, queries in edge_cases() + random_cases():
        ask(contestant, points, queries, len(queries))


def run_benchmark(contestant: Contestant) -> None:
    ask(contestant, scattered(1200, 10**6), scattered(500, 10**6), 30)


(run_benchmark if benchmark_wanted() else run_tests)(Contestant("nearest"))
