"""Two lanes: builds on CPU slots, runs on run slots; a benchmark has its device alone."""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import cycle
from threading import Condition, Event, Lock

from runners.agent.devices.porter import Porter
from runners.agent.ground.locks import FairLock, Tenancy, wait_until


@dataclass(eq=False)
class _Turn:
    given: Condition
    """Wakes this thread alone: dozens wait while samples are short."""
    slot: int | None = None


class Slots:
    """Each slot is used by one thread at a time."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._free = list(reversed(numbers))
        self._waiting: deque[_Turn] = deque()
        self._lock = Lock()

    @contextmanager
    def taken(self, cancelled: Event | None = None, *, first: bool = False) -> Iterator[int]:
        """Wait for a slot, with `first` before all others that wait, and hold it.

        Raises Cancelled if `cancelled` is set during the wait.
        """
        turn = _Turn(Condition(self._lock))
        with self._lock:
            self._waiting.insert(0 if first else len(self._waiting), turn)
            self._hand_out()
            try:
                wait_until(turn.given, lambda: turn.slot is not None, cancelled)
            except BaseException:
                self._leave(turn)
                raise
        assert turn.slot is not None
        try:
            yield turn.slot
        finally:
            with self._lock:
                self._leave(turn)

    def _leave(self, turn: _Turn) -> None:
        if turn.slot is None:
            self._waiting.remove(turn)
        else:
            self._free.append(turn.slot)
        self._hand_out()

    def _hand_out(self) -> None:
        while self._free and self._waiting:
            turn = self._waiting.popleft()
            turn.slot = self._free.pop()
            turn.given.notify()


BESIDE = 20
"""Number of benchmarks that may be under way at a time on a device. All of them occupy its memory."""
TESTS_WAIT_SECONDS = 0.5
"""Without a porter, benchmarks start before a waiting test or build for this long. Then all that wait start at once."""
ALONE_WAITS_SECONDS = 30.0
"""A command that needs the device alone lets others start before it for this long, because the device must empty."""
STARTS_WAIT_SECONDS = 10.0
"""Several such commands in a row keep others from starting for at most this long."""


@dataclass(frozen=True)
class Place:
    """The tenant whose commands run, and their device. The tenant may be empty."""

    tenant: str = ""
    """Commands of different tenants never share a device. The device is cleaned between two tenants."""
    device: str = ""
    cancelled: Event | None = field(default=None, compare=False, repr=False)
    """Setting this event ends every wait for a seat with Cancelled."""


ANYWHERE = Place()


@dataclass(frozen=True)
class Seat:
    """A command's slot, which it uses alone, and the GPUs that it may use."""

    slot: int
    gpu_uuids: tuple[str, ...] = ()
    porter: Porter | None = None
    """Set if the command runs beside others and waits at the device's gate before each use."""
    alone: bool = False
    """Whether the command has the device alone during its turns. Otherwise other tests may share its turns."""

    @property
    def gpu_uuid(self) -> str:
        return self.gpu_uuids[0] if self.gpu_uuids else ""


class LaneDevice:
    """A GPU, or all cores of a machine without one."""

    def __init__(self, uuid: str, clean: Callable[[str], None] | None) -> None:
        self.uuid = uuid
        self.lock = FairLock(TESTS_WAIT_SECONDS)
        self.porter = Porter(uuid)
        self.presence = FairLock(STARTS_WAIT_SECONDS, ALONE_WAITS_SECONDS)
        """Shared by commands that wait at the gate, and held by a benchmark that needs the device alone."""
        self.beside = Slots(range(BESIDE))
        self._tenancy = Tenancy(lambda: clean(uuid)) if clean else None

    @contextmanager
    def alone(self, cancelled: Event | None = None, *, first: bool = False) -> Iterator[None]:
        """Hold the device so that nothing else runs or starts on it."""
        with self.presence.exclusive(cancelled, first=first), self.lock.exclusive(cancelled, first=first):
            yield

    def tenancy(self, place: Place) -> AbstractContextManager[None]:
        return self._tenancy.of(place.tenant, place.cancelled) if self._tenancy else nullcontext()


class Lanes:
    """A node's slots. Without GPUs all cores are one device, which builds and tests share and a benchmark holds.

    `clean` is called with a GPU's UUID before another tenant's first command runs there. If it raises, that command
    fails with the same exception.
    """

    def __init__(
        self,
        build_slots: int,
        run_slots: int,
        gpu_uuids: Sequence[str] = (),
        clean: Callable[[str], None] | None = None,
    ) -> None:
        self.build_slots, self.run_slots = build_slots, run_slots
        self._builds = Slots(range(build_slots))
        self._runs = Slots(range(build_slots, build_slots + run_slots))
        self._devices = {uuid: LaneDevice(uuid, clean if uuid else None) for uuid in gpu_uuids or ("",)}
        self._cores = FairLock() if gpu_uuids else self._devices[""].lock
        self._turns = cycle(self._devices)
        self._picking = Lock()

    def pick(self, among: Collection[str] = ()) -> str:
        """The next device in turn, among those named or else among all; "" without GPUs."""
        wanted = self._devices.keys() & set(among) or self._devices.keys()
        with self._picking:
            return next(device for device in self._turns if device in wanted)

    @contextmanager
    def build(self, cancelled: Event | None = None) -> Iterator[Seat]:
        """A CPU slot. On a node without GPUs, builds and benchmarks exclude each other."""
        with self._builds.taken(cancelled) as slot, self._cores.shared(cancelled):
            yield Seat(slot)

    @contextmanager
    def test(self, place: Place = ANYWHERE) -> Iterator[Seat]:
        """A run slot on a device that other tests of the same tenant may share."""
        device = self._device(place)
        with (
            device.tenancy(place),
            self._runs.taken(place.cancelled) as slot,
            device.lock.shared(place.cancelled),
        ):
            yield _seat(slot, device)

    @contextmanager
    def benchmark(self, place: Place = ANYWHERE, *, goes_on: bool = False) -> Iterator[Seat]:
        """A run slot on a device that nothing else uses at the same time.

        With `goes_on` it comes before those that wait: it ends a sample that was there before them.
        """
        device = self._device(place)
        with (
            device.tenancy(place),
            self._runs.taken(place.cancelled, first=goes_on) as slot,
            device.alone(place.cancelled, first=goes_on),
        ):
            yield _seat(slot, device)

    @contextmanager
    def gated_test(self, place: Place = ANYWHERE) -> Iterator[Seat]:
        """A run slot beside benchmarks. The porter lets the test in together with other tests of the same tenant."""
        device = self._device(place)
        with (
            device.tenancy(place),
            self._runs.taken(place.cancelled) as slot,
            device.presence.shared(place.cancelled),
        ):
            yield replace(_seat(slot, device), porter=device.porter)

    @contextmanager
    def gated_benchmark(self, place: Place = ANYWHERE) -> Iterator[Seat]:
        """A run slot beside others that take turns. The porter gives the benchmark the device alone."""
        device = self._device(place)
        with (
            device.tenancy(place),
            device.beside.taken(place.cancelled),
            self._runs.taken(place.cancelled) as slot,
            device.presence.shared(place.cancelled),
        ):
            yield replace(_seat(slot, device), porter=device.porter, alone=True)

    def hold(self, uuid: str) -> AbstractContextManager[None]:
        """The device alone, for the node's own programs such as the golden program."""
        return self._devices[uuid].alone()

    def _device(self, place: Place) -> LaneDevice:
        return self._devices[place.device] if place.device in self._devices else self._devices[self.pick()]


def _seat(slot: int, device: LaneDevice) -> Seat:
    return Seat(slot, (device.uuid,) if device.uuid else ())
