"""Tests and times longest_increasing; the solution runs in a process of its own."""

import os
import random
from bisect import bisect_left

from contestant import Contestant, benchmark_wanted, check

fresh = random.Random(os.urandom(16))


def expected(values: list[int]) -> int:
    tails: list[int] = []
    for value in values:
        place = bisect_left(tails, value)
        tails[place : place + 1] = [value]
    return len(tails)


def edge_cases() -> list[list[int]]:
    return [
        [],
        [5],
        [1, 1],
        [2, 1],
        [1, 2],
        [7] * 50,
        list(range(300)),
        list(range(300, 0, -1)),
        [-3, -2, -2, -1, 0, 0, 1],
        [3, 1, 2, 1, 2, 3, 2, 3, 4],
        [2, 5, 3, 7, 11, 8, 10, 13, 6],
        [10**18, -(10**18), 0, 10**18],
    ]


def random_cases() -> list[list[int]]:
    small = [fresh.choices(range(-4, 5), k=fresh.randrange(12)) for _ in range(200)]
    large = [[fresh.randrange(-(10**9), 10**9) for _ in range(3000)] for _ in range(4)]
    # Rising blocks that fall back: the last block's end is not the answer's end.
    saw = [[block * 3 + step * 40 for block in range(40) for step in range(20)]]
    return small + large + saw


def ask(contestant: Contestant, values: list[int]) -> None:
    reply, right = contestant.call(values), expected(values)
    check(reply == right and type(reply) is int, f"{len(values)} values {values[:12]}…: {reply!r:.80}, not {right}")


def run_tests(contestant: Contestant) -> None:
    for values in edge_cases() + random_cases():
        ask(contestant, values)
    # Quadratic time is not enough.
    ask(contestant, [number + fresh.randrange(2000) for number in range(120_000)])


def run_benchmark(contestant: Contestant) -> None:
    """Four lists, so that nothing can be kept from one to the next; rising on the whole, so that the piles are many."""
    for _ in range(4):
        ask(contestant, [number + int(9000 * fresh.random()) for number in range(6_000)])


(run_benchmark if benchmark_wanted() else run_tests)(Contestant("longest_increasing"))
