"""A build that is expected to take long beside the others here gets the cores before them, on a node with GPUs."""

import os
from dataclasses import replace
from typing import Any

import pytest

from runners.agent import steps
from runners.agent.build_queue import BuildOrder, Turn
from runners.agent.durations import Guess
from runners.agent.steps import BUILD_NICENESS, LONG_BUILD_NICENESS
from runners.agent.task import Unwatched
from tests.agent.machine import Machine, shell_problem, task_of


class Node:
    """A build queue without threads whose builds begin at once; the clock stands unless it is set."""

    def __init__(self, slots: int) -> None:
        self.order = BuildOrder(range(slots))
        self.now = 0.0

    def arrive(self, name: str, guess_seconds: float) -> Turn:
        turn = self.order.arrive((name,), self.now, Guess(guess_seconds, 1))
        self._hand_out()
        return turn

    def end(self, turn: Turn) -> None:
        self.order.end(turn, self.now)
        self.order.leave(turn)
        self._hand_out()

    def _hand_out(self) -> None:
        for turn in self.order.hand_out(self.now):
            self.order.begin(turn, self.now)


def test_long_is_what_takes_at_least_half_as_long_as_the_longest_that_runs() -> None:
    node = Node(4)
    turns = [node.arrive(f"{seconds}", seconds) for seconds in (40.0, 19.9, 20.0, 3.0)]
    assert [turn.is_long for turn in turns] == [True, False, True, False]


def test_long_is_what_takes_at_least_half_as_long_as_the_longest_that_waits() -> None:
    node = Node(1)
    runs = node.arrive("runs", 3.0)
    waiting = {seconds: node.arrive(f"{seconds}", seconds) for seconds in (29.0, 30.0, 60.0)}
    for turn in (runs, *waiting.values()):
        node.end(turn)  # the only slot goes by arrival
    assert {seconds: turn.is_long for seconds, turn in waiting.items()} == {29.0: False, 30.0: True, 60.0: True}


def test_all_are_long_where_all_are_alike() -> None:
    node = Node(2)
    turns = [node.arrive("any", 3.0) for _ in range(6)]
    for turn in turns:
        node.end(turn)
    assert all(turn.is_long for turn in turns)


def test_what_nothing_is_known_of_is_not_long_and_makes_nothing_else_short() -> None:
    order = BuildOrder(range(2))
    unknown = [order.arrive((name,), 0.0) for name in ("new", "also new")]
    guessed = order.arrive(("guessed",), 0.0, Guess(3.0, 1))
    assert order.hand_out(0.0) == unknown
    order.leave(unknown[0])
    assert order.hand_out(0.0) == [guessed]
    assert [turn.is_long for turn in (*unknown, guessed)] == [False, False, True]


def test_what_was_seen_counts_for_more_than_a_guess() -> None:
    node = Node(2)
    for name, seconds in (("long", 90.0), ("short", 2.0)):
        turn = node.arrive(name, 10.0)
        node.now += seconds
        node.end(turn)
    assert node.arrive("long", 1.0).is_long
    assert not node.arrive("short", 99.0).is_long


def test_what_runs_for_longer_than_was_guessed_shortens_others() -> None:
    node = Node(2)
    node.arrive("slow", 3.0)
    node.now += 30.0
    assert not node.arrive("light", 10.0).is_long


@pytest.mark.parametrize("leaves", ["while it waits", "its slot"])
def test_one_that_left_shortens_nobody(leaves: str) -> None:
    node = Node(1)
    runs, longest, last = (node.arrive(f"{seconds}", seconds) for seconds in (3.0, 60.0, 4.0))
    if leaves == "while it waits":
        node.order.leave(longest)
    node.end(runs)
    if leaves == "its slot":
        node.end(longest)
    assert last.is_long


def niceness_told(machine: Machine, seconds: float) -> int:
    """To a build that is expected to take so long beside one of a minute, beyond this process's own."""
    lanes = machine.environment.lanes
    subject = task_of(shell_problem(build_command="nice"), {"solution.sh": f"takes {seconds}"}).subject
    lanes.durations.add(steps.build_kinds(subject), seconds)
    lanes.durations.add(("a minute",), 60.0)
    with lanes.build(("a minute",)):
        built = steps.build(machine.environment, subject, Unwatched())
    return int(built.stdout) - os.nice(0)


def test_on_a_node_with_gpus_a_long_build_has_the_cores_before_other_builds_and_after_runs(
    fresh_machine: Machine,
) -> None:
    gpus: Any = object()  # a build never touches them
    fresh_machine.environment = replace(fresh_machine.environment, gpus=gpus)
    assert niceness_told(fresh_machine, 50.0) == LONG_BUILD_NICENESS
    assert niceness_told(fresh_machine, 5.0) == BUILD_NICENESS
    assert 0 < LONG_BUILD_NICENESS < BUILD_NICENESS


def test_without_gpus_builds_and_runs_are_alike(fresh_machine: Machine) -> None:
    assert [niceness_told(fresh_machine, seconds) for seconds in (50.0, 5.0)] == [0, 0]
