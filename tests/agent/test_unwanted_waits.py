"""A thread that waits for a slot, a device or its tenancy stops waiting once nobody wants the work, and leaves
nothing behind."""

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from runners.agent.devices.lanes import Lanes, Place
from runners.agent.ground.errors import Cancelled
from tests.patience import SOON

GPU = "GPU-1"
Lane = Callable[[], AbstractContextManager[Any]]


def ends_cancelled(lane: Lane, cancelled: threading.Event) -> bool:
    """Whether one that waits in the lane is still there after a while, and gone soon after it was cancelled."""
    told: list[str] = []

    def wait() -> None:
        try:
            with lane():
                told.append("entered")
        except Cancelled:
            told.append("cancelled")

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    time.sleep(0.1)
    assert not told
    cancelled.set()
    thread.join(SOON)
    return told == ["cancelled"]


@pytest.mark.parametrize(
    ("holds", "waits"),
    [
        ("test", "test"),
        ("test", "benchmark"),
        ("benchmark", "test"),
        ("benchmark", "benchmark"),
        ("gated_test", "benchmark"),
        ("benchmark", "gated_test"),
        ("benchmark", "gated_benchmark"),
    ],
)
def test_for_a_run(holds: str, waits: str) -> None:
    lanes = Lanes(1, 1 if waits == "test" == holds else 8, (GPU,))
    cancelled = threading.Event()
    place = Place("one", GPU, cancelled=cancelled)
    with getattr(lanes, holds)(Place("one", GPU)):
        assert ends_cancelled(lambda: getattr(lanes, waits)(place), cancelled)
    for lane in (holds, waits, "benchmark"):
        with getattr(lanes, lane)(Place("one", GPU)):
            pass


def test_for_a_device_that_another_tenant_has() -> None:
    lanes = Lanes(1, 8, (GPU,), clean=lambda _uuid: None)
    cancelled = threading.Event()
    with lanes.test(Place("one", GPU)):
        assert ends_cancelled(lambda: lanes.test(Place("two", GPU, cancelled=cancelled)), cancelled)
        with lanes.test(Place("one", GPU)):
            pass
    with lanes.test(Place("two", GPU)):
        pass


def test_for_a_build_slot() -> None:
    lanes = Lanes(1, 1, (GPU,))
    cancelled = threading.Event()
    with lanes.build():
        assert ends_cancelled(lambda: lanes.build(cancelled), cancelled)
    with lanes.build():
        pass


def test_for_cores_that_a_benchmark_has() -> None:
    lanes = Lanes(1, 2)
    cancelled = threading.Event()
    with lanes.benchmark():
        assert ends_cancelled(lambda: lanes.build(cancelled), cancelled)
    with lanes.build():
        pass


def test_those_behind_one_who_goes_are_let_in() -> None:
    """A writer that waits keeps readers out; once it goes they enter."""
    lanes = Lanes(1, 8, (GPU,))
    cancelled = threading.Event()
    entered = threading.Event()

    def read() -> None:
        with lanes.test(Place("one", GPU)):
            entered.set()

    with lanes.test(Place("one", GPU)):
        writer = threading.Thread(
            target=lambda: ends_cancelled(lambda: lanes.benchmark(Place("one", GPU, cancelled=cancelled)), cancelled)
        )
        writer.start()
        time.sleep(0.05)
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        writer.join(SOON)
        assert entered.wait(SOON)
        reader.join(SOON)
