"""A benchmark has its device alone, nobody starves, and builds pause only where they share the cores."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from runners.agent.slots import FairLock, Lanes

SOON, NEVER_SECONDS = 5.0, 0.15


class Holder(threading.Thread):
    """Enters a context and stays in it until told to leave."""

    def __init__(self, enter: Callable[[], AbstractContextManager[Any]], log: list[str], name: str) -> None:
        super().__init__(daemon=True)
        self._enter, self._log, self._label = enter, log, name
        self.inside, self._leave = threading.Event(), threading.Event()
        self.start()

    def run(self) -> None:
        with self._enter():
            self._log.append(self._label)
            self.inside.set()
            self._leave.wait(SOON)

    def leave(self) -> None:
        self._leave.set()
        self.join(SOON)


def waits(holder: Holder) -> bool:
    return not holder.inside.wait(NEVER_SECONDS)


def test_readers_share_and_a_writer_is_alone() -> None:
    lock, log = FairLock(), []
    readers = [Holder(lock.shared, log, "r") for _ in range(2)]
    assert all(reader.inside.wait(SOON) for reader in readers)
    writer = Holder(lock.exclusive, log, "w")
    assert waits(writer)
    for reader in readers:
        reader.leave()
    assert writer.inside.wait(SOON)
    late = Holder(lock.shared, log, "late")
    assert waits(late)
    writer.leave()
    assert late.inside.wait(SOON)
    late.leave()


def test_readers_do_not_pass_a_waiting_writer_and_writers_do_not_pass_waiting_readers() -> None:
    lock, log = FairLock(), []
    first = Holder(lock.shared, log, "first")
    assert first.inside.wait(SOON)
    queue = []
    for name, enter in (("w1", lock.exclusive), ("r", lock.shared), ("w2", lock.exclusive)):
        queue.append(Holder(enter, log, name))
        assert waits(queue[-1])
    first.leave()
    for holder in queue:
        assert holder.inside.wait(SOON)
        holder.leave()
    assert log == ["first", "w1", "r", "w2"]


def test_on_a_cpu_node_builds_and_tests_pause_while_a_benchmark_runs() -> None:
    lanes, log = Lanes(2, 2), []
    benchmark = Holder(lanes.benchmark, log, "benchmark")
    assert benchmark.inside.wait(SOON)
    others = [Holder(lanes.build, log, "build"), Holder(lanes.test, log, "test")]
    assert all(waits(other) for other in others)
    benchmark.leave()
    assert all(other.inside.wait(SOON) for other in others)
    for other in others:
        other.leave()


def test_on_a_gpu_node_builds_go_on_while_a_benchmark_runs() -> None:
    lanes, log = Lanes(1, 2, ["GPU-a"]), []
    benchmark = Holder(lanes.benchmark, log, "benchmark")
    assert benchmark.inside.wait(SOON)
    build, test = Holder(lanes.build, log, "build"), Holder(lanes.test, log, "test")
    assert build.inside.wait(SOON)
    assert waits(test)
    for holder in (benchmark, build, test):
        holder.leave()


def test_two_gpus_run_two_benchmarks() -> None:
    lanes = Lanes(1, 2, ["GPU-a", "GPU-b"])
    with lanes.benchmark() as first, lanes.benchmark() as second:
        assert {first.gpu_uuids, second.gpu_uuids} == {("GPU-a",), ("GPU-b",)}


def test_slots_are_bounded_and_never_used_twice_at_once() -> None:
    lanes, log = Lanes(1, 2), []
    with lanes.build() as build, lanes.test() as one, lanes.test() as other:
        assert len({build.slot, one.slot, other.slot}) == 3
        third = Holder(lanes.test, log, "third")
        assert waits(third)
    assert third.inside.wait(SOON)
    third.leave()
