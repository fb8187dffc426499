"""A build that ran out of time in a crowd is made again among few, once, and the second one counts."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from runners.agent.build_queue import OVERDUE_SECONDS, BuildOrder, Turn
from runners.agent.errors import Cancelled
from runners.agent.pipeline import Pipeline
from runners.agent.sandbox.policy import Command, Outcome
from runners.agent.slots import Lanes
from runners.agent.steps import AGAIN
from runners.agent.task import Finished, Unwatched
from runners.protocol import Verdict, Witness
from tests.agent.machine import Machine, shell_problem, task_of, temporary_folder

SOON = 10.0


class Node:
    """A build queue without threads; nothing is known of any build, and the clock stands unless it is set."""

    def __init__(self, slots: int) -> None:
        self.order = BuildOrder(range(slots))
        self.now = 0.0
        self.building: list[Turn] = []

    def arrive(self, n: int = 1, *, is_quiet: bool = False) -> list[Turn]:
        turns = []
        for _ in range(n):
            turns.append(self.order.arrive(("any",), self.now, is_quiet=is_quiet))
            self._hand_out()
        return turns

    def leave(self, *turns: Turn) -> list[Turn]:
        """Who gets the slots of these."""
        given = []
        for turn in turns:
            if turn in self.building:
                self.building.remove(turn)
            self.order.leave(turn)
            given += self._hand_out()
        return given

    def _hand_out(self) -> list[Turn]:
        given = self.order.hand_out(self.now)
        self.building += given
        return given


def have_slots(turns: list[Turn]) -> int:
    return sum(turn.slot is not None for turn in turns)


def test_a_quiet_build_waits_until_half_of_the_slots_are_empty_and_goes_before_others() -> None:
    node = Node(8)
    running = node.arrive(8)
    waiting = node.arrive(4)
    (quiet,) = node.arrive(is_quiet=True)
    assert node.leave(*running[:4]) == [], "four still run"
    assert node.leave(running[4]) == [quiet]
    assert have_slots(waiting) == 0


def test_others_go_on_beside_it_in_half_of_the_slots_and_in_all_of_them_afterwards() -> None:
    node = Node(8)
    (quiet,) = node.arrive(is_quiet=True)
    others = node.arrive(10)
    assert have_slots(others) == 3
    assert node.leave(others[0]) == [others[3]]
    given = node.leave(quiet)
    assert len(given) == 5
    assert have_slots(others) == 9  # one has left


def test_several_quiet_ones_share_the_half_and_leave_one_in_four_of_it_to_others() -> None:
    node = Node(8)
    quiet = node.arrive(6, is_quiet=True)
    assert have_slots(quiet) == 4, "nobody else wants one"
    others = node.arrive(2)
    assert node.leave(quiet[0]) == [others[0]], "three of the four are enough"
    assert node.leave(quiet[1]) == [quiet[4]]
    assert node.leave(others[0]) == [others[1]]


def test_nobody_starves_while_quiet_ones_keep_coming() -> None:
    node = Node(4)
    quiet = node.arrive(2, is_quiet=True)
    (other,) = node.arrive()
    for _ in range(3):
        node.now += 10 * OVERDUE_SECONDS
        quiet += node.arrive(2, is_quiet=True)
    node.leave(quiet[0])
    assert other.slot is not None
    (late,) = node.arrive(is_quiet=True)
    for _ in range(len(quiet)):
        node.leave(next(turn for turn in node.building if turn.is_quiet))
    assert late.slot is not None


def test_one_that_stops_waiting_holds_nobody_up() -> None:
    node = Node(8)
    node.arrive(8)
    (gone,) = node.arrive(is_quiet=True)
    waiting = node.arrive()
    assert node.leave(gone) == []
    assert node.leave(node.building[0]) == waiting


def test_all_that_have_a_slot_while_more_than_half_are_in_use_are_crowded() -> None:
    node = Node(8)
    early = node.arrive(4)
    assert not any(turn.crowded for turn in early)
    node.leave(early[0])
    late = node.arrive(2)
    assert not early[0].crowded, "it had left"
    assert all(turn.crowded for turn in [*early[1:], *late])
    node.leave(*early[1:], late[0])
    (lonely,) = node.arrive()
    assert late[1].crowded, "it once was"
    assert not lonely.crowded


def test_a_node_with_few_slots_is_never_crowded() -> None:
    node = Node(3)
    assert not any(turn.crowded for turn in node.arrive(5))
    (quiet,) = node.arrive(is_quiet=True)
    assert quiet in node.leave(*node.building), "yet a quiet build has its turn"


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 5, 16])
def test_whatever_comes_and_goes_quiet_builds_are_never_crowded_and_all_have_their_turn(slots: int) -> None:
    rng, node = random.Random(slots), Node(slots)
    turns: list[Turn] = []
    while len(turns) < 400 or node.building:
        if len(turns) < 400 and rng.random() < 0.55:
            turns += node.arrive(is_quiet=rng.random() < 0.2)
        elif node.building:
            node.now += rng.uniform(0.0, 5.0)
            node.leave(rng.choice(node.building))
        assert len({turn.slot for turn in node.building}) == len(node.building) <= slots
        if any(turn.is_quiet for turn in node.building):
            assert len(node.building) <= max(1, slots // 2)
    assert have_slots(turns) == 400
    assert not any(turn.crowded for turn in turns if turn.is_quiet)
    assert slots < 4 or any(turn.crowded for turn in turns)


def test_threads_wait_for_quiet() -> None:
    lanes, inside, leave = Lanes(4, 1), threading.Event(), threading.Event()
    seen: list[bool] = []

    def build() -> None:
        with lanes.quiet_build() as seat:
            inside.set()
            leave.wait(SOON)
            seen.append(seat.crowded)

    with ExitStack() as one, lanes.build() as other:
        one.enter_context(lanes.build())
        thread = threading.Thread(target=build, daemon=True)
        thread.start()
        assert not inside.wait(0.1), "with it three of four would be in use"
        one.close()
        assert inside.wait(SOON)
        assert not other.crowded
        leave.set()
        thread.join(SOON)
    with lanes.build(), lanes.build() as second, lanes.build() as third:
        assert second.crowded
        assert third.crowded
    assert seen == [False]


OUT_OF_TIME = Outcome(None, 9, True, False, False, "slow words", "", False, 5e3, 1e3, 1 << 20, Witness.UNAVAILABLE)
BUILD = "echo made > product; echo built"


@dataclass
class Slow:
    """A sandbox in which the first `n_slow` builds run out of time; it says how many were asked for."""

    inner: Any
    n_slow: int
    n_builds: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def run(self, command: Command) -> Outcome:
        if command.shell != BUILD:
            return self.inner.run(command)  # type: ignore[no-any-return]
        self.n_builds += 1
        return OUT_OF_TIME if self.n_builds <= self.n_slow else self.inner.run(command)


@dataclass
class Crowd(Unwatched):
    """A crowd of builds, which ends once the sample's build is to be made again."""

    lanes: Lanes
    n_others: int = 2
    printed: bytes = b""
    others: ExitStack = field(default_factory=ExitStack)
    when_told: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        super().__init__()
        for _ in range(self.n_others):
            self.others.enter_context(self.lanes.build())

    def output(self, chunk: bytes) -> None:
        self.printed += chunk
        if chunk == AGAIN:
            self.others.close()
            self.when_told()


class Busy:
    """A node of four build slots."""

    def __init__(self, folder: Path) -> None:
        self.machine = Machine(folder, slots=4)
        self.lanes = self.machine.environment.lanes
        self.sandbox = Slow(self.machine.environment.sandbox, 0)
        environment: Any = self.machine.environment
        self.pipeline = Pipeline(replace(environment, sandbox=self.sandbox))

    def judge(self, watcher: Unwatched, n_slow: int) -> Finished:
        self.sandbox.n_slow, self.sandbox.n_builds = n_slow, 0
        problem = shell_problem(build_command=BUILD, test_command="cat product", baseline_solution=None)
        return self.pipeline.run(task_of(problem, {"solution.sh": "x"}), watcher)


@pytest.fixture
def busy() -> Iterator[Busy]:
    with temporary_folder() as folder:
        node = Busy(Path(folder))
        yield node
        node.machine.environment.close()


def test_out_of_time_in_a_crowd_it_is_built_again_and_that_counts(busy: Busy) -> None:
    watcher = Crowd(busy.lanes)
    finished = busy.judge(watcher, n_slow=1)
    assert busy.sandbox.n_builds == 2
    assert finished.report.verdict is Verdict.PASSED
    assert (finished.outputs.build, finished.outputs.test) == ("built\n\n", "made\n\n")
    build, _ = finished.report.steps
    assert (build.name, build.timed_out, build.exit_code, build.cached) == ("build", False, 0, False)
    assert build.wall_ms < OUT_OF_TIME.wall_ms
    assert watcher.printed == AGAIN + b"built\n"
    again = busy.judge(Unwatched(), n_slow=1)
    assert (busy.sandbox.n_builds, again.report.provenance.build_cached) == (0, True)


def test_out_of_time_among_few_as_well_it_is_out_of_time(busy: Busy) -> None:
    finished = busy.judge(Crowd(busy.lanes), n_slow=2)
    assert busy.sandbox.n_builds == 2, "no third one"
    assert finished.report.verdict is Verdict.TIMED_OUT
    assert [step.timed_out for step in finished.report.steps] == [True]
    busy.judge(Unwatched(), n_slow=0)
    assert busy.sandbox.n_builds == 1, "and nothing of it was kept"


def test_out_of_time_where_few_were_built_it_is_built_once(busy: Busy) -> None:
    watcher = Crowd(busy.lanes, n_others=1)
    finished = busy.judge(watcher, n_slow=1)
    watcher.others.close()
    assert busy.sandbox.n_builds == 1
    assert finished.report.verdict is Verdict.TIMED_OUT
    assert watcher.printed == b""


def test_what_ends_in_a_crowd_by_itself_is_built_once(busy: Busy) -> None:
    watcher = Crowd(busy.lanes)
    finished = busy.judge(watcher, n_slow=0)
    watcher.others.close()
    assert busy.sandbox.n_builds == 1
    assert finished.report.verdict is Verdict.PASSED


def test_what_is_cancelled_in_between_is_not_built_again(busy: Busy) -> None:
    watcher = Crowd(busy.lanes)
    watcher.when_told = watcher.cancelled.set
    with pytest.raises(Cancelled):
        busy.judge(watcher, n_slow=1)
    assert busy.sandbox.n_builds == 1
    with busy.lanes.build(), busy.lanes.build(), busy.lanes.build(), busy.lanes.build():
        pass  # all slots are free again


def test_a_cancelled_build_is_not_built_again(busy: Busy, monkeypatch: pytest.MonkeyPatch) -> None:
    watcher = Crowd(busy.lanes)
    cancelled = replace(OUT_OF_TIME, cancelled=True)
    monkeypatch.setattr("tests.agent.test_quiet_builds.OUT_OF_TIME", cancelled)
    with pytest.raises(Cancelled):
        busy.judge(watcher, n_slow=2)
    watcher.others.close()
    assert busy.sandbox.n_builds == 1
