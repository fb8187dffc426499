"""Samples that begin together get slots by length, in whatever order their threads come to the queues."""

import threading
import time

import pytest

from runners.agent import slots
from runners.agent.build_queue import BuildQueue
from runners.agent.durations import Guess
from runners.agent.errors import Cancelled
from runners.agent.slots import Lanes, Place

SOON = 5.0


def never() -> bool:
    return False


class Crowd:
    """Threads that take a slot each, one after the other, and the order in which they got it."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes
        self._threads: list[threading.Thread] = []
        self.got: list[float] = []

    def test(self, seconds: float) -> None:
        self._begin(lambda: self._lanes.test(Place(seconds=seconds)), seconds)

    def build(self, seconds: float) -> None:
        self._begin(lambda: self._lanes.build((f"takes {seconds}",), Guess(seconds, 1)), seconds)

    def _begin(self, lane: object, seconds: float) -> None:
        def run() -> None:
            with lane():  # type: ignore[operator]
                self.got.append(seconds)
                time.sleep(0.05)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self._threads.append(thread)
        time.sleep(0.01)

    def end(self) -> list[float]:
        for thread in self._threads:
            thread.join(SOON)
        return self.got


@pytest.mark.parametrize(("kind", "first"), [("test", [3.0]), ("build", [1.0, 3.0])])
def test_of_those_that_come_together_the_longest_gets_a_slot_first(kind: str, first: list[float]) -> None:
    """Of two build slots one goes by arrival."""
    lanes = Lanes(2, 1)
    crowd = Crowd(lanes)
    with lanes.gathering(3, never):
        for seconds in (1.0, 2.0, 3.0):
            getattr(crowd, kind)(seconds)
        assert crowd.got == []
    assert sorted(crowd.end()[: len(first)]) == first
    assert sorted(crowd.got) == [1.0, 2.0, 3.0]


def test_those_that_do_not_come_are_waited_for_for_a_moment_only() -> None:
    lanes = Lanes(1, 1)
    crowd = Crowd(lanes)
    since = time.monotonic()
    with lanes.gathering(3, never):
        crowd.test(1.0)
    assert slots.GATHER_SECONDS <= time.monotonic() - since < slots.GATHER_LONGEST_SECONDS
    assert crowd.end() == [1.0]


def test_the_first_to_come_is_waited_for_longer() -> None:
    """As while the device is cleaned for them all; and each that comes lets the next one come."""
    lanes = Lanes(1, 1)
    crowd = Crowd(lanes)
    lengths = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]

    def come() -> None:
        for seconds in lengths:
            crowd.test(seconds)
            time.sleep(0.2 * slots.GATHER_SECONDS)

    late = threading.Timer(1.5 * slots.GATHER_SECONDS, come)
    with lanes.gathering(len(lengths), never):
        late.start()
    late.join(SOON)
    assert crowd.end() == lengths[::-1]


def test_whoever_goes_on_coming_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "GATHER_LONGEST_SECONDS", 2 * slots.GATHER_SECONDS)
    lanes, over = Lanes(1, 1), threading.Event()
    crowd = Crowd(lanes)

    def come() -> None:
        while not over.wait(0.2 * slots.GATHER_SECONDS):
            crowd.test(1.0)

    coming = threading.Thread(target=come)
    with lanes.gathering(1000, never):
        coming.start()
    over.set()
    coming.join(SOON)
    assert crowd.end()


def test_nobody_is_waited_for_once_it_is_over() -> None:
    lanes, over = Lanes(1, 1), threading.Event()
    since = time.monotonic()
    threading.Timer(0.1, over.set).start()
    with lanes.gathering(3, over.is_set):
        pass
    assert 0.1 <= time.monotonic() - since < slots.GATHER_SECONDS


def test_nobody_is_kept_waiting_by_one_who_fails_to_gather() -> None:
    lanes = Lanes(1, 1)
    with pytest.raises(ValueError, match="broken"), lanes.gathering(3, never):
        raise ValueError("broken")
    with lanes.test(), lanes.build():
        pass


def test_who_leaves_a_queue_that_is_held_waits_no_more() -> None:
    queue, cancelled = BuildQueue(range(1)), threading.Event()
    queue.hold(True)
    left: list[str] = []

    def wait() -> None:
        try:
            with queue.taken(cancelled=cancelled):
                left.append("taken")
        except Cancelled:
            left.append("cancelled")

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    deadline = time.monotonic() + SOON
    while queue.n_waiting == 0 and time.monotonic() < deadline:
        time.sleep(0.005)
    assert (queue.n_waiting, left) == (1, [])
    cancelled.set()
    thread.join(SOON)
    assert (queue.n_waiting, left) == (0, ["cancelled"])
    queue.hold(False)
    with queue.taken():
        pass
