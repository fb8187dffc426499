"""Where nothing is known of runs, heavy builds fill most of the slots, and what is built beside them is light."""

import random

import pytest

from podium.evaluation.order import Prospect, heavy_beside_light, longest_first


def prospects(text: str) -> list[Prospect]:
    """`a60 b3*` is a task `a` with a build of 60 s, and `b` with one of 3 s and a benchmark."""
    return [Prospect(word[0], None, float(word[1:].rstrip("*")), word.endswith("*")) for word in text.split()]


def names(order: list[Prospect]) -> str:
    return "".join(one.task for one in order)


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ("", ""),
        ("a3*", "a"),
        ("a3* b60", "ba"),
        ("a3* b5* c60* d60* e60* f60* g60* h4", "cdeahbfg"),
        ("a5* b3* c60 d60 e60 f60 g60 h60", "cdebafgh"),
        ("a1 b2 c3* d60 e60 f60 g60", "defcabg"),  # the lightest have no benchmark
        ("a1 b2 c3 d60 e61 f62", "fedcab"),  # nothing has one
        ("a60* b60* c60* d60* e60*", "abcde"),
        ("a3 b3* c3 d3* e3 f3*", "bdface"),  # of equals those with a benchmark first
    ],
)
def test_four_slots_get_three_heavy_ones_and_the_lightest_and_then_light_ones_come_first(
    tasks: str, expected: str
) -> None:
    assert names(heavy_beside_light(prospects(tasks), 4)) == expected


@pytest.mark.parametrize("slots", [1, 3, 4, 16])
def test_every_task_begins_once_and_of_those_that_begin_at_once_three_of_four_are_the_heaviest(slots: int) -> None:
    rng = random.Random(0)
    for n in range(60):
        tasks = [Prospect(str(at), None, rng.choice((0.0, 3.0, 15.0, 63.0)), rng.random() < 0.4) for at in range(n)]
        order = heavy_beside_light(tasks, slots)
        assert sorted(order, key=tasks.index) == tasks
        for at, one in enumerate(order[:slots]):
            if at % 4 != 3:
                assert one.build_seconds == max(other.build_seconds for other in order[at:])
        assert [one.build_seconds for one in order[slots:]] == sorted(one.build_seconds for one in order[slots:])


def test_one_known_run_is_enough_to_go_by_runs() -> None:
    tasks = [*prospects("a3* b60 c60 d60 e60"), Prospect("f", 1.0, 3.0, has_benchmark=True)]
    assert names(longest_first(tasks, 16)) == "bcdeaf"
