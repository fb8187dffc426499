"""Who waits for a slot, a device or its tenancy waits no more once nobody wants the work, and leaves nothing behind."""

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import pytest

from runners.agent import pipeline
from runners.agent.durations import kind_of_benchmark
from runners.agent.errors import Cancelled
from runners.agent.pipeline import Pipeline
from runners.agent.slots import Lanes, Place
from runners.protocol import Profiler, TimingPolicy, Verdict
from tests.agent.machine import Machine, task_of
from tests.agent.test_early import Notes, problem

SOON = 5.0
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


@pytest.mark.parametrize("is_quiet", [False, True])
def test_for_a_build_slot(is_quiet: bool) -> None:
    lanes = Lanes(1, 1, (GPU,))
    cancelled = threading.Event()
    with lanes.build():
        lane = lanes.quiet_build if is_quiet else lanes.build
        assert ends_cancelled(lambda: lane(cancelled=cancelled), cancelled)
    with lanes.build():
        pass


def test_for_cores_that_a_benchmark_has() -> None:
    lanes = Lanes(1, 2)
    cancelled = threading.Event()
    with lanes.benchmark():
        assert ends_cancelled(lambda: lanes.build((), None, cancelled), cancelled)
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


def test_a_test_that_fails_takes_a_benchmark_out_of_the_queue(
    fresh_machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    timer = Notes(waits_at_gate=True)
    monkeypatch.setattr(pipeline, "timer_for", lambda *_: timer)
    lanes = fresh_machine.environment.lanes
    task = task_of(problem(test_command="exit 3"), {"solution.py": ""})
    kind = kind_of_benchmark(task.subject.problem_sha256, TimingPolicy.QUICK, Profiler.NONE)
    fresh_machine.environment.durations.add((kind,), 40.0)
    began = time.monotonic()
    device = lanes._device(Place())
    with device.presence.exclusive():
        finished = fresh_machine.pipeline.run(task)
    assert finished.report.verdict is Verdict.TEST_FAILED
    assert time.monotonic() - began < SOON
    assert timer.began == []


def test_a_failing_test_waits_for_no_other_samples_baseline(
    fresh_machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "timer_for", lambda *_: Notes(waits_at_gate=True))
    fresh_machine.environment = replace(fresh_machine.environment, lanes=Lanes(6, 6))
    runner = Pipeline(fresh_machine.environment)
    given = problem(
        test_command="! grep bad solution.py",
        benchmark_command="sleep 6",
        baseline_solution={"type": "file", "task_id": "t", "files": [{"path": "solution.py", "content": "own"}]},
    )
    good, bad = (task_of(given, {"solution.py": content}) for content in ("good", "bad"))
    kind = kind_of_benchmark(good.subject.problem_sha256, TimingPolicy.QUICK, Profiler.NONE)
    fresh_machine.environment.durations.add((kind,), 40.0)
    verdicts: list[Verdict] = []
    first = threading.Thread(target=lambda: verdicts.append(runner.run(good).report.verdict))
    first.start()
    time.sleep(2.0)
    began = time.monotonic()
    assert runner.run(bad).report.verdict is Verdict.TEST_FAILED
    assert time.monotonic() - began < 3.0, "the baseline takes another four seconds"
    first.join(20.0)
    assert verdicts == [Verdict.PASSED]
