"""Two lanes: builds on CPU slots, runs on run slots; a benchmark has its device alone."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from queue import LifoQueue
from threading import Condition, Lock


class FairLock:
    """Many readers or one writer, first come first served: readers pass no waiting writer, and no one starves."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._queue: deque[tuple[object, bool]] = deque()
        self._readers = 0
        self._writing = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        self._enter(exclusive=False)
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        self._enter(exclusive=True)
        try:
            yield
        finally:
            self._leave()

    def _enter(self, *, exclusive: bool) -> None:
        ticket = (object(), exclusive)
        with self._changed:
            self._queue.append(ticket)
            self._changed.wait_for(lambda: self._may_enter(ticket))
            self._queue.popleft()
            self._writing = exclusive
            self._readers += not exclusive
            self._changed.notify_all()

    def _may_enter(self, ticket: tuple[object, bool]) -> bool:
        free = not self._writing and (not ticket[1] or self._readers == 0)
        return free and self._queue[0] is ticket

    def _leave(self) -> None:
        with self._changed:
            if self._writing:
                self._writing = False
            else:
                self._readers -= 1
            self._changed.notify_all()


@dataclass(frozen=True)
class Seat:
    """Where a command runs: a slot's number, used for nothing else meanwhile, and the GPUs it may use."""

    slot: int
    gpu_uuids: tuple[str, ...] = ()


class Lanes:
    """A node's slots. Without GPUs all cores are one device, which builds and tests share and a benchmark holds."""

    def __init__(self, build_slots: int, run_slots: int, gpu_uuids: Sequence[str] = ()) -> None:
        self.build_slots, self.run_slots = build_slots, run_slots
        self._builds = _pool(range(build_slots))
        self._runs = _pool(range(build_slots, build_slots + run_slots))
        self._devices = {uuid: FairLock() for uuid in gpu_uuids or ("",)}
        self._cores = self._devices[""] if not gpu_uuids else FairLock()
        self._turns = cycle(self._devices)
        self._picking = Lock()

    @contextmanager
    def build(self) -> Iterator[Seat]:
        """A CPU slot; on a CPU node it pauses while a benchmark runs."""
        with _taken(self._builds) as slot, self._cores.shared():
            yield Seat(slot)

    @contextmanager
    def test(self) -> Iterator[Seat]:
        """A run slot on a device that other tests may share."""
        device = self._pick()
        with _taken(self._runs) as slot, self._devices[device].shared():
            yield _seat(slot, device)

    @contextmanager
    def benchmark(self) -> Iterator[Seat]:
        """A run slot on a device that nothing else uses meanwhile."""
        device = self._pick()
        with _taken(self._runs) as slot, self._devices[device].exclusive():
            yield _seat(slot, device)

    def _pick(self) -> str:
        with self._picking:
            return next(self._turns)


def _seat(slot: int, device: str) -> Seat:
    return Seat(slot, (device,) if device else ())


def _pool(slots: Sequence[int]) -> LifoQueue[int]:
    pool: LifoQueue[int] = LifoQueue()
    for slot in reversed(slots):
        pool.put(slot)
    return pool


@contextmanager
def _taken(pool: LifoQueue[int]) -> Iterator[int]:
    slot = pool.get()
    try:
        yield slot
    finally:
        pool.put(slot)
