"""A build that is expected to take long beside the others here gets the cores before them, on a node with GPUs."""

import os
from dataclasses import replace
from typing import Any

import pytest

from runners.agent import steps
from runners.agent.build_queue import BuildOrder, Turn
from runners.agent.durations import Guess
from runners.agent.slots import Lanes
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
        node.now += 3.0
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


def test_long_ones_that_found_slots_free_leave_the_next_to_what_came_first() -> None:
    node = Node(4)
    light, *long = (node.arrive(f"{n}", seconds) for n, seconds in enumerate((3.0, 60.0, 60.0, 60.0)))
    waiting = [node.arrive(name, seconds) for name, seconds in (("a", 3.0), ("b", 3.0), ("c", 20.0))]
    node.end(light)
    assert [turn.slot is not None for turn in waiting] == [True, False, False], "three of four are for long ones"
    node.end(long[0])
    assert [turn.slot is not None for turn in waiting] == [True, False, True]


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


def jobs_told(machine: Machine, script: str) -> int:
    """How many sources the build of this script may compile at a time."""
    subject = task_of(shell_problem(build_command=f"echo ${steps.BUILD_JOBS}"), {"solution.sh": script}).subject
    return int(steps.build(machine.environment, subject, Unwatched()).stdout)


def test_a_build_compiles_its_sources_one_by_one_where_others_keep_the_cores_busy(fresh_machine: Machine) -> None:
    fresh_machine.environment = replace(fresh_machine.environment, lanes=Lanes(4, 1))
    lanes = fresh_machine.environment.lanes
    with lanes.build(), lanes.build():
        assert jobs_told(fresh_machine, "in a crowd") == 1
    assert jobs_told(fresh_machine, "with few") >= 2


def test_without_gpus_builds_and_runs_are_alike(fresh_machine: Machine) -> None:
    assert [niceness_told(fresh_machine, seconds) for seconds in (50.0, 5.0)] == [0, 0]
