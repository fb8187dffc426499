"""A free slot goes to who came first, and is used by one at a time."""

import threading
import time

import pytest

from runners.agent.devices.lanes import Slots
from runners.agent.ground.errors import Cancelled
from tests.patience import SOON, until


class Queue:
    """Threads that join one after the other and note the order in which they got a slot."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.got: list[str] = []
        self._threads: list[threading.Thread] = []

    def join(self, name: str, cancelled: threading.Event | None = None, *, first: bool = False) -> None:
        joined = threading.Event()
        thread = threading.Thread(target=self._take, args=(name, joined, cancelled, first))
        thread.start()
        self._threads.append(thread)
        assert joined.wait(SOON)
        time.sleep(0.05)  # it now waits, or has its slot

    def _take(self, name: str, joined: threading.Event, cancelled: threading.Event | None, first: bool) -> None:
        joined.set()
        try:
            with self.slots.taken(cancelled, first=first):
                self.got.append(name)
        except Cancelled:
            self.got.append(f"{name} gave up")

    def end(self) -> list[str]:
        for thread in self._threads:
            thread.join(SOON)
        return self.got


def test_first_come_first_served() -> None:
    slots = Slots([7])
    queue = Queue(slots)
    with slots.taken() as slot:
        assert slot == 7
        for name in "abcd":
            queue.join(name)
        assert queue.got == []
    assert queue.end() == list("abcd")


def test_who_comes_back_for_more_is_served_before_those_that_wait() -> None:
    slots = Slots([0])
    queue = Queue(slots)
    with slots.taken():
        queue.join("a")
        queue.join("b")
        queue.join("more", first=True)
    assert queue.end() == ["more", "a", "b"]


def test_every_slot_has_its_own_number_and_is_given_away_again() -> None:
    slots = Slots([3, 4])
    with slots.taken() as one:
        with slots.taken() as other:
            assert {one, other} == {3, 4}
        with slots.taken() as again:
            assert again == other


def test_a_thread_that_is_cancelled_leaves_its_place_to_the_next() -> None:
    slots = Slots([0])
    queue, cancelled = Queue(slots), threading.Event()
    with slots.taken():
        queue.join("first", cancelled)
        queue.join("second")
        cancelled.set()
        assert until(lambda: queue.got)
    assert queue.end() == ["first gave up", "second"]


def test_a_slot_comes_back_from_a_command_that_raises() -> None:
    slots = Slots([0])
    with pytest.raises(ValueError, match="broken"), slots.taken():
        raise ValueError("broken")
    with slots.taken() as slot:
        assert slot == 0
