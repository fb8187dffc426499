"""A free slot goes to who has longest to go; who has waited for a minute comes first."""

import math
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

from runners.agent.run_slots import OVERDUE_SECONDS, RunSlots

SOON = 5.0


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Queue:
    """Threads that wait for the one slot, and the order in which they got it."""

    slots: RunSlots
    got: list[str] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)

    def join(self, name: str, seconds: float) -> None:
        waiting = len(self.slots._waiting)

        def run() -> None:
            with self.slots.taken(seconds):
                self.got.append(name)

        thread = threading.Thread(target=run)
        thread.start()
        self._threads.append(thread)
        deadline = time.monotonic() + SOON
        while len(self.slots._waiting) == waiting:
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def end(self) -> list[str]:
        for thread in self._threads:
            thread.join(SOON)
        return self.got


def test_the_longest_comes_first_and_of_equals_the_first_come() -> None:
    slots = RunSlots([7])
    queue = Queue(slots)
    with slots.taken(1.0) as slot:
        assert slot == 7
        for name, seconds in (("short", 1.0), ("long", 30.0), ("middle", 5.0), ("also middle", 5.0)):
            queue.join(name, seconds)
    assert queue.end() == ["long", "middle", "also middle", "short"]


def test_what_is_unknown_may_be_long() -> None:
    slots = RunSlots([0])
    queue = Queue(slots)
    with slots.taken(1.0):
        queue.join("known", 1e6)
        queue.join("unknown", math.inf)
    assert queue.end() == ["unknown", "known"]


def test_who_waits_too_long_comes_first() -> None:
    clock = Clock()
    slots = RunSlots([0], clock)
    queue = Queue(slots)
    with slots.taken(1.0):
        queue.join("short", 1.0)
        clock.now = OVERDUE_SECONDS + 1
        queue.join("long", 100.0)
    assert queue.end() == ["short", "long"]


def test_each_slot_is_one_threads_at_a_time() -> None:
    slots = RunSlots([3, 4])
    with ExitStack() as stack:
        assert {stack.enter_context(slots.taken(1.0)) for _ in range(2)} == {3, 4}
    with slots.taken(1.0) as again:
        assert again in {3, 4}


def test_who_is_interrupted_while_waiting_leaves_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    slots = RunSlots([0])
    with slots.taken(1.0):
        monkeypatch.setattr(slots._changed, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt), slots.taken(1.0):
            pass
        assert not slots._waiting
    monkeypatch.undo()
    with slots.taken(1.0) as slot:
        assert slot == 0


def interrupted(*_: object) -> bool:
    raise KeyboardInterrupt
