"""Free build slots go to the build that is expected to take longest, nobody waits for ever, and no slot is lost."""

import heapq
import random
import threading
import time
from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any

import pytest

from runners.agent import build_queue
from runners.agent.build_queue import OVERDUE_SECONDS, BuildOrder, Turn
from runners.agent.durations import Guess, Kinds
from runners.agent.errors import Cancelled
from runners.agent.slots import Lanes
from runners.agent.steps import build_guess, build_kinds
from tests.agent.machine import Machine, shell_problem, task_of

SOON = 10.0
SLOTS = 16
Wanted = Sequence[tuple[Kinds, float]]
"""Builds in order of arrival: kinds and the seconds that each will take."""


def one_pack(seed: int) -> Wanted:
    """60 builds that take 500 s, give or take: half of them 1 to 3 s each, twelve 20 to 37 s."""
    rng = random.Random(seed)
    parts = ((12, 20.0, 37.0, ("a",)), (30, 1.0, 3.0, ("b", "c", "d", "e")), (18, 3.0, 9.0, ("f", "g", "h")))
    builds = [((rng.choice(kinds),), rng.uniform(low, high)) for n, low, high, kinds in parts for _ in range(n)]
    rng.shuffle(builds)
    return builds


def first_come_first_served(builds: Wanted) -> float:
    """Seconds until all have ended."""
    free = [0.0] * SLOTS
    for _, seconds in builds:
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)


class Simulation:
    """A queue whose builds take exactly what is said."""

    def __init__(self, slots: int = SLOTS) -> None:
        self.order = BuildOrder(range(slots))
        self.now = 0.0
        self.started: list[tuple[float, Turn]] = []
        self.seconds: dict[Turn, float] = {}
        self._running: list[tuple[float, int, Turn]] = []

    def arrive(self, kinds: Kinds, seconds: float, guess: Guess | None = None) -> Turn:
        turn = self.order.arrive(kinds, self.now, guess)
        self.seconds[turn] = seconds
        self._hand_out()
        return turn

    def step(self) -> bool:
        """Until the next one ends; False where none runs."""
        if not self._running:
            return False
        self.now, _, turn = heapq.heappop(self._running)
        self.order.end(turn, self.now)
        self.order.leave(turn)
        self._hand_out()
        return True

    def run(self, builds: Wanted) -> float:
        """Seconds until all have ended; they arrive at once."""
        began = self.now
        for kinds, seconds in builds:
            self.arrive(kinds, seconds)
        while self.step():
            pass
        return self.now - began

    def _hand_out(self) -> None:
        for turn in self.order.hand_out(self.now):
            self.order.begin(turn, self.now)
            self.started.append((self.now, turn))
            heapq.heappush(self._running, (self.now + self.seconds[turn], len(self.started), turn))


def test_sixty_builds_of_which_nothing_is_known_end_sooner_than_first_come_first_served() -> None:
    packs = [one_pack(seed) for seed in range(100)]
    ours = [Simulation().run(pack) for pack in packs]
    theirs = [first_come_first_served(pack) for pack in packs]
    assert mean(ours) < 0.9 * mean(theirs)
    assert sum(one < other for one, other in zip(ours, theirs, strict=True)) >= 85


def test_what_one_pack_taught_shortens_the_next() -> None:
    gains = []
    for seed in range(100):
        node = Simulation()
        node.run(one_pack(seed))
        pack = one_pack(1000 + seed)
        gains.append(node.run(pack) / first_come_first_served(pack))
    assert mean(gains) < 0.85


def cudnn_pack(seed: int) -> Wanted:
    """60 builds of two groups: what they include tells the twelve long ones, their groups do not."""
    rng = random.Random(seed)
    parts = ((12, 35.0, 60.0, "cudnn_frontend.h"), (48, 1.0, 3.0, ""))
    builds: list[tuple[Kinds, float]] = [
        (((number, header), rng.choice("ab")), rng.uniform(low, high))
        for n, low, high, header in parts
        for number in range(n)
    ]
    rng.shuffle(builds)
    return builds


def test_on_a_fresh_node_guesses_bring_long_builds_forward() -> None:
    gains = []
    for seed in range(100):
        pack, node = cudnn_pack(seed), Simulation()
        for kinds, seconds in pack:
            node.arrive(kinds, seconds, Guess(63.0 if seconds > 30.0 else 3.0, n_kinds=1))
        while node.step():
            pass
        gains.append(node.now / Simulation().run(pack))
    assert mean(gains) < 0.95


def test_of_builds_never_made_the_one_guessed_longest_comes_first_and_of_equals_the_first_to_arrive() -> None:
    node = Simulation(slots=2)
    node.run([(("known",), 9.0)])
    node.arrive(("occupied",), 0.5)
    node.arrive(("occupied",), 50.0)
    guesses = {"light": 3.0, "heavy": 60.0, "heavy too": 60.0, "library": 15.0, "known": 60.0}
    for name, seconds in guesses.items():
        node.arrive((name,), 1.0, Guess(seconds, 1))
    while node.step():
        pass
    names = [turn.kinds[0] for _, turn in node.started[3:]]
    assert names == ["heavy", "heavy too", "library", "known", "light"]


def test_short_builds_go_on_while_long_ones_run() -> None:
    long: list[tuple[Kinds, float]] = [(("long",), 30.0)] * 40
    short: list[tuple[Kinds, float]] = [(("short",), 1.0)] * 40
    node = Simulation()
    node.run([*long[:1], *short[:1]])  # now both are known
    began = node.now
    node.run([*short, *long])
    early = [turn for at, turn in node.started[2:] if turn.kinds == ("short",) and at - began < 10.0]
    assert len(early) == 40


def test_every_build_runs_once_and_no_slot_has_two_at_a_time() -> None:
    node = Simulation(slots=5)
    node.run(one_pack(0))
    assert len({turn for _, turn in node.started}) == 60
    free_at = dict.fromkeys(range(5), 0.0)
    for at, turn in node.started:
        assert turn.slot is not None
        assert at >= free_at[turn.slot]
        free_at[turn.slot] = at + node.seconds[turn]


def test_a_kind_never_seen_comes_first_then_the_longer_one_and_of_equals_the_first_to_arrive() -> None:
    node = Simulation(slots=2)
    node.run([(("long",), 9.0), (("short",), 1.0)])
    names = holding_the_slot_by_arrival(node, ("short", "long", "short", "new", "new2", "long"))
    assert names == ["new", "new2", "long", "long", "short", "short"]


def test_one_slot_goes_by_arrival() -> None:
    node = Simulation(slots=1)
    node.run([(("long",), 9.0), (("short",), 1.0)])
    came = [node.arrive((name,), 1.0) for name in ("long", "short", "long")]
    while node.step():
        pass
    assert [turn for _, turn in node.started[2:]] == came


def test_the_oldest_comes_first_once_it_has_waited_too_long() -> None:
    node = Simulation(slots=4)
    node.run([(("long",), 9.0), (("short",), 1.0)])
    for _ in range(3):
        node.arrive(("long",), 9.0)
    node.arrive(("odd",), 10 * OVERDUE_SECONDS, Guess(1.0, n_kinds=1))  # it keeps the slot that goes by arrival
    came = node.now
    overdue = [node.arrive(("short",), 1.0) for _ in range(2)]
    while overdue[-1].slot is None:
        node.arrive(("long",), 9.0)
        assert node.step()
    waited = [at - came for at, turn in node.started if turn in overdue]
    assert len(waited) == 2
    assert OVERDUE_SECONDS < waited[0] <= waited[1] <= OVERDUE_SECONDS + 2 * 9.0


def holding_the_slot_by_arrival(node: Simulation, names: Sequence[str]) -> list[str]:
    """In which order builds of these kinds start on the one other slot, where all arrive while it is taken."""
    node.arrive(("occupied",), 0.5)
    node.arrive(("occupied",), 50.0)
    before = len(node.started)
    for name in names:
        node.arrive((name,), 1.0)
    while node.step():
        pass
    return [str(turn.kinds[0]) for _, turn in node.started[before:]]


def test_who_stops_waiting_gets_no_slot_and_what_did_not_end_teaches_nothing() -> None:
    order = BuildOrder(range(1))
    first, gone, last = (order.arrive((name,), 0.0) for name in ("first", "gone", "last"))
    assert order.hand_out(0.0) == [first]
    order.begin(first, 0.0)
    order.leave(gone)
    order.leave(first)
    assert order.hand_out(1.0) == [last]
    assert last.slot == 0


class Builder(threading.Thread):
    """Takes a build slot and keeps it until told to leave; `end`, where given, is raised then."""

    def __init__(self, lanes: Lanes, log: list[str], name: str, end: BaseException | None = None) -> None:
        super().__init__(daemon=True)
        self._lanes, self._log, self._label, self._end = lanes, log, name, end
        self.inside, self._leave = threading.Event(), threading.Event()
        self.start()

    def run(self) -> None:
        try:
            with self._lanes.build((self._label,)):
                self._log.append(self._label)
                self.inside.set()
                self._leave.wait(SOON)
                if self._end is not None:
                    raise self._end
        except (Cancelled, ValueError):
            self._log.append(f"{self._label} raised")

    def leave(self) -> None:
        assert self.inside.wait(SOON)
        self._leave.set()
        self.join(SOON)
        assert not self.is_alive()


def busy(lanes: Lanes, log: list[str]) -> tuple[Builder, Builder]:
    """Builds on both of two slots; the first one's goes by length, the other's by arrival."""
    by_length = Builder(lanes, log, "by length")
    assert by_length.inside.wait(SOON)
    by_arrival = Builder(lanes, log, "by arrival")
    assert by_arrival.inside.wait(SOON)
    log.clear()
    return by_length, by_arrival


def waiting(lanes: Lanes, log: list[str], *names: str) -> dict[str, Builder]:
    """Builds that have come in this order and wait, as all slots are taken."""
    builders = {}
    for name in names:
        builders[name] = Builder(lanes, log, name)
        assert not builders[name].inside.wait(0.05)
    return builders


def taught(lanes: Lanes, **seconds: float) -> None:
    for name, long in seconds.items():
        with lanes.build((name,)):
            time.sleep(long)


def test_threads_get_slots_by_length() -> None:
    lanes, log = Lanes(2, 1), list[str]()
    taught(lanes, long=0.2, short=0.01)
    first, other = busy(lanes, log)
    queue = waiting(lanes, log, "short", "long", "new")
    first.leave()
    for name in ("new", "long", "short"):
        queue[name].leave()
    other.leave()
    assert log == ["new", "long", "short"]


@pytest.mark.parametrize("end", [Cancelled(), ValueError()])
def test_a_build_that_raises_gives_its_slot_back_and_teaches_nothing(end: BaseException) -> None:
    lanes, log = Lanes(2, 1), list[str]()
    taught(lanes, known=0.1)
    failing = Builder(lanes, log, "failing", end)
    failing.leave()
    first, other = busy(lanes, log)
    queue = waiting(lanes, log, "known", "failing")
    first.leave()
    for name in ("failing", "known"):
        queue[name].leave()
    other.leave()
    assert log == ["failing", "known"], "it would count as short if it had taught anything"


def test_a_pause_for_a_benchmark_is_no_build_time() -> None:
    lanes, log = Lanes(2, 1), list[str]()
    taught(lanes, long=0.2)
    with lanes.benchmark():
        paused = waiting(lanes, log, "paused")["paused"]
        time.sleep(0.4)
    paused.leave()
    first, other = busy(lanes, log)
    queue = waiting(lanes, log, "paused", "long")
    first.leave()
    for name in ("long", "paused"):
        queue[name].leave()
    other.leave()
    assert log == ["long", "paused"]


def test_a_thread_that_has_waited_too_long_comes_before_longer_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_queue, "OVERDUE_SECONDS", 1.0)
    lanes, log = Lanes(2, 1), list[str]()
    taught(lanes, long=0.1, short=0.01)
    first, other = busy(lanes, log)
    queue = waiting(lanes, log, "short", "long")
    first.leave()
    assert queue["long"].inside.wait(SOON), "the short one has not waited for long yet"
    late = waiting(lanes, log, "later")
    time.sleep(1.0)
    queue["long"].leave()
    queue["short"].leave()
    late["later"].leave()
    other.leave()
    assert log == ["long", "short", "later"]


def test_many_threads_never_share_a_slot_and_all_get_one() -> None:
    lanes, guard = Lanes(4, 2), threading.Lock()
    held: set[int] = set()
    faults: list[str] = []
    done: list[int] = []

    def work(number: int) -> None:
        rng = random.Random(number)
        for _ in range(10):
            try:
                with lanes.build((rng.randrange(5),)) as seat:
                    with guard:
                        if seat.slot in held or seat.slot not in range(4):
                            faults.append(f"slot {seat.slot}")
                        held.add(seat.slot)
                    time.sleep(rng.uniform(0, 0.002))
                    with guard:
                        held.remove(seat.slot)
                    if rng.random() < 0.3:
                        raise Cancelled
            except Cancelled:
                pass
            done.append(number)

    run_all([lambda number=number: work(number) for number in range(24)])
    assert faults == []
    assert len(done) == 240
    with lanes.build() as one, lanes.build() as two, lanes.build() as three, lanes.build() as four:
        assert {one.slot, two.slot, three.slot, four.slot} == {0, 1, 2, 3}


def run_all(calls: Sequence[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=call, daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
    assert not any(thread.is_alive() for thread in threads)


def test_the_pipeline_says_of_what_kind_its_builds_are_and_how_long_they_may_take(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Kinds, Guess | None]] = []
    lanes = machine.environment.lanes
    build = lanes.build

    def watched(kinds: Kinds, guess: Guess | None, *more: Any) -> Any:
        asked.append((kinds, guess))
        return build(kinds, guess, *more)

    monkeypatch.setattr(lanes, "build", watched)
    problem = shell_problem(build_command="echo built", group="some group")
    machine.judge(problem, {"solution.sh": "asked of the queue"})
    subject = task_of(problem, {"solution.sh": "asked of the queue"}).subject
    assert asked == [(build_kinds(subject), build_guess(subject))]
