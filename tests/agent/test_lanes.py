"""A benchmark has its device alone, nobody starves, and builds pause only where they share the cores."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from runners.agent.devices.lanes import Lanes, Place
from runners.agent.ground.locks import FairLock, Tenancy
from tests.patience import SOON, until

NEVER_SECONDS = 0.15


class Clock:
    """Seconds, which pass when the test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Holder(threading.Thread):
    """Enters a context and stays in it until told to leave."""

    def __init__(self, enter: Callable[[], AbstractContextManager[Any]], log: list[str], name: str) -> None:
        super().__init__(daemon=True)
        self._enter, self._log, self._label = enter, log, name
        self.asks, self.inside, self._leave = threading.Event(), threading.Event(), threading.Event()
        self.start()

    def run(self) -> None:
        self.asks.set()
        with self._enter():
            self._log.append(self._label)
            self.inside.set()
            self._leave.wait(SOON)

    def leave(self) -> None:
        self._leave.set()
        self.join(SOON)


def waits(holder: Holder) -> bool:
    return holder.asks.wait(SOON) and not holder.inside.wait(NEVER_SECONDS)


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


def test_readers_that_wait_together_enter_together_however_many_writers_wait_between_them() -> None:
    lock, log = FairLock(), []
    first = Holder(lock.exclusive, log, "first")
    assert first.inside.wait(SOON)
    kinds = (("r1", lock.shared), ("w1", lock.exclusive), ("r2", lock.shared), ("w2", lock.exclusive))
    queue = {}
    for name, enter in kinds:
        queue[name] = Holder(enter, log, name)
        assert waits(queue[name])
    first.leave()
    assert queue["r1"].inside.wait(SOON)
    assert queue["r2"].inside.wait(SOON)
    assert waits(queue["w1"])
    for name in ("r1", "r2", "w1", "w2"):
        assert queue[name].inside.wait(SOON)
        queue[name].leave()
    assert log[-2:] == ["w1", "w2"]


def test_a_gpu_is_cleaned_before_another_tenants_first_command_and_not_between_a_tenants_own() -> None:
    cleaned: list[str] = []
    lanes = Lanes(1, 2, ["GPU-a"], cleaned.append)
    for tenant, times in (("one", 1), ("one", 1), ("two", 2), ("one", 3)):
        with lanes.test(Place(tenant)):
            assert len(cleaned) == times
    assert set(cleaned) == {"GPU-a"}


def test_tenants_never_share_a_device_though_each_may_use_it_many_times_at_once() -> None:
    log: list[str] = []
    lanes = Lanes(1, 4, ["GPU-a"], lambda _: log.append("cleaned"))
    mine = [Holder(lambda: lanes.test(Place("one")), log, "one") for _ in range(2)]
    assert all(holder.inside.wait(SOON) for holder in mine)
    other = Holder(lambda: lanes.test(Place("two")), log, "two")
    assert waits(other)
    for holder in mine:
        holder.leave()
    assert other.inside.wait(SOON)
    other.leave()
    assert log == ["cleaned", "one", "one", "cleaned", "two"]


def test_a_tenant_past_its_turn_lets_the_next_one_in() -> None:
    log: list[str] = []
    tenancy = Tenancy(lambda: None, turn_seconds=0.0)
    first = Holder(lambda: tenancy.of("one"), log, "one")
    assert first.inside.wait(SOON)
    other = Holder(lambda: tenancy.of("two"), log, "two")
    assert waits(other)
    late = Holder(lambda: tenancy.of("one"), log, "late")
    assert waits(late)
    first.leave()
    assert other.inside.wait(SOON)
    other.leave()
    assert late.inside.wait(SOON)
    late.leave()
    assert log == ["one", "two", "late"]


def test_a_device_that_could_not_be_cleaned_belongs_to_nobody() -> None:
    answers: list[Exception | None] = [OSError("no"), None]

    def clean(_: str) -> None:
        if (error := answers.pop(0)) is not None:
            raise error

    lanes = Lanes(1, 1, ["GPU-a"], clean)
    with pytest.raises(OSError, match="no"), lanes.test(Place("one")):
        pass
    with lanes.test(Place("one")) as seat:
        assert seat.gpu_uuid == "GPU-a"
    assert answers == []


def test_gated_commands_start_beside_each_other_and_share_their_devices_porter() -> None:
    lanes = Lanes(1, 4, ["GPU-a", "GPU-b"])
    here, there = Place(device="GPU-a"), Place(device="GPU-b")
    with lanes.gated_benchmark(here) as one, lanes.gated_test(here) as other, lanes.gated_benchmark(there) as third:
        assert one.porter is other.porter is not None
        assert third.porter is not one.porter
        assert (one.alone, other.alone) == (True, False)
    with lanes.benchmark(here) as seat:
        assert seat.porter is None


def test_a_device_is_picked_in_turn_and_of_the_wanted_kind_alone() -> None:
    lanes = Lanes(1, 1, ["GPU-a", "GPU-b", "GPU-c"])
    assert [lanes.pick() for _ in range(4)] == ["GPU-a", "GPU-b", "GPU-c", "GPU-a"]
    assert [lanes.pick(("GPU-a", "GPU-c")) for _ in range(4)] == ["GPU-c", "GPU-a", "GPU-c", "GPU-a"]
    assert lanes.pick(("GPU-gone",)) == "GPU-b"


def test_writers_pass_readers_that_have_not_waited_long_and_then_all_readers_enter_together() -> None:
    clock, log = Clock(), []
    lock = FairLock(readers_wait_seconds=0.5, clock=clock)
    first = Holder(lock.exclusive, log, "first")
    assert first.inside.wait(SOON)
    queue = {}
    for name, enter in (("r1", lock.shared), ("r2", lock.shared), ("w1", lock.exclusive), ("w2", lock.exclusive)):
        queue[name] = Holder(enter, log, name)
    assert waits(queue["w2"])
    first.leave()
    assert queue["w1"].inside.wait(SOON), "a benchmark passes tests that came a moment ago"
    assert waits(queue["r1"])
    clock.seconds += 0.5
    queue["w1"].leave()
    assert queue["r1"].inside.wait(SOON)
    assert queue["r2"].inside.wait(SOON)
    assert waits(queue["w2"])
    for name in ("r1", "r2", "w2"):
        queue[name].leave()
    assert sorted(log) == ["first", "r1", "r2", "w1", "w2"]


def test_a_sample_that_goes_on_comes_before_those_that_wait_for_the_device() -> None:
    log: list[str] = []
    lanes = Lanes(1, 4, ["GPU-a"])
    first = Holder(lanes.benchmark, log, "first")
    assert first.inside.wait(SOON)
    waiting = Holder(lanes.benchmark, log, "waiting")
    assert waits(waiting)
    goes_on = Holder(lambda: lanes.benchmark(goes_on=True), log, "goes on")
    assert waits(goes_on)
    first.leave()
    assert goes_on.inside.wait(SOON)
    assert waits(waiting)
    goes_on.leave()
    assert waiting.inside.wait(SOON)
    waiting.leave()


def test_readers_need_no_patience_where_no_writer_waits() -> None:
    lock = FairLock(readers_wait_seconds=60)
    with lock.shared(), lock.shared():
        pass
    with lock.exclusive():
        pass
    with lock.shared():
        pass


def test_a_benchmark_that_must_be_alone_waits_for_those_that_only_start_and_keeps_them_out() -> None:
    log: list[str] = []
    lanes = Lanes(1, 4, ["GPU-a"])
    starting = Holder(lanes.gated_benchmark, log, "starting")
    assert starting.inside.wait(SOON)
    alone = Holder(lanes.benchmark, log, "alone")
    assert waits(alone)
    starting.leave()
    assert alone.inside.wait(SOON)
    late = Holder(lanes.gated_benchmark, log, "late")
    assert waits(late)
    alone.leave()
    assert late.inside.wait(SOON)
    late.leave()


def test_readers_pass_a_writer_that_has_not_waited_long_and_none_that_has() -> None:
    clock, log = Clock(), []
    lock = FairLock(readers_wait_seconds=5.0, writers_wait_seconds=0.3, clock=clock)
    first = Holder(lock.shared, log, "first")
    assert first.inside.wait(SOON)
    writers = [Holder(lock.exclusive, log, "w") for _ in range(2)]
    assert all(waits(writer) for writer in writers)
    second = Holder(lock.shared, log, "second")
    assert second.inside.wait(SOON), "the place need not run empty yet"
    clock.seconds += 0.3
    late = Holder(lock.shared, log, "late")
    assert waits(late)
    first.leave()
    second.leave()
    assert until(lambda: any(writer.inside.is_set() for writer in writers))
    assert not all(writer.inside.is_set() for writer in writers)
    for writer in writers:
        writer.leave()
    assert late.inside.wait(SOON)
    late.leave()
    assert log == ["first", "second", "w", "w", "late"], "once the place is empty, all who want it so take their turns"
