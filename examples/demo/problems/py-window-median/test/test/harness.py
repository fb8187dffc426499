"""Tests and times window_medians; the solution runs in a process of its own."""

import os
import random
from bisect import bisect_left, insort

from contestant import Contestant, benchmark_wanted, check

fresh = random.Random(os.urandom(16))


def expected(values: list[int], width: int) -> list[int]:
    window = sorted(values[:width])
    medians = [window[(width - 1) // 2]]
    for old, new in zip(values, values[width:]):
        del window[bisect_left(window, old)]
        insort(window, new)
        medians.append(window[(width - 1) // 2])
    return medians


def edge_cases() -> list[tuple[list[int], int]]:
    return [
        ([4], 1),
        ([1, 2], 2),
        ([2, 1], 2),
        ([9, 8, 7], 1),
        ([5] * 40, 7),
        (list(range(60)), 10),
        (list(range(60, 0, -1)), 9),
        ([0, 1] * 40, 4),
        ([10**15, -(10**15)] * 20, 3),
        ([-1, -1, 0, -1, 0, 0], 5),
    ]


def random_cases() -> list[tuple[list[int], int]]:
    cases = []
    for _ in range(200):
        values = [fresh.randrange(-6, 7) for _ in range(fresh.randrange(1, 40))]
        cases.append((values, fresh.randrange(1, len(values) + 1)))
    for width in (2, 63, 64, 1500):
        cases.append(([fresh.randrange(-(10**9), 10**9) for _ in range(2000)], width))
    return cases


def ask(contestant: Contestant, values: list[int], width: int) -> None:
    reply, right = contestant.call(values, width), expected(values, width)
    check(reply == right, f"{len(values)} values {values[:12]}…, width {width}: {reply!r:.80}, not {right!r:.80}")


def run_tests(contestant: Contestant) -> None:
    for values, width in edge_cases() + random_cases():
        ask(contestant, values, width)
    # Work proportional to the width for every window is not enough.
    ask(contestant, [fresh.randrange(10**6) for _ in range(60_000)], 20_000)


def run_benchmark(contestant: Contestant) -> None:
    """Two lists, so that nothing can be kept from one to the next; the medians looked at are drawn after the reply."""
    for width in (200, 201):
        values = [int(10**6 * fresh.random()) for _ in range(16_000)]
        reply = contestant.call(values, width)
        windows = len(values) - width + 1
        check(isinstance(reply, list) and len(reply) == windows, f"{windows} medians wanted")
        for start in fresh.sample(range(windows), 300):
            right = sorted(values[start : start + width])[(width - 1) // 2]
            check(reply[start] == right, f"window at {start}: {reply[start]!r:.80}, not {right}")


(run_benchmark if benchmark_wanted() else run_tests)(Contestant("window_medians"))
