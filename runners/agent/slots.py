"""Two lanes: builds on CPU slots, runs on run slots; a benchmark has its device alone."""

import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import cycle
from threading import Event, Lock

from runners.agent.build_queue import UNNAMED, BuildQueue, Turn
from runners.agent.durations import Durations, Guess, Kinds
from runners.agent.gpu.porter import Porter
from runners.agent.locks import FairLock, Tenancy
from runners.agent.run_slots import RunSlots

BESIDE = 20
"""How many benchmarks may be under way at a time on a device; their memory is taken meanwhile."""
TESTS_WAIT_SECONDS = 0.5
"""How long tests gather while benchmarks wait too, where no porter sees to it."""
ALONE_WAITS_SECONDS = 30.0
"""How long a command that must be quite alone lets others start before it: for it the device has to run empty."""
GATHER_SECONDS = 0.5
"""How long those that have come to the queues wait for another one that is to come."""
GATHER_LONGEST_SECONDS = 5.0
"""In all, and for the first of them, which may have to wait until its device is clean."""
GATHER_LOOK_SECONDS = 0.005
STARTS_WAIT_SECONDS = 10.0
"""How long several such in a row keep others from starting."""


@dataclass(frozen=True)
class Place:
    """Whose commands run, and on which device; the first of these is free to be empty."""

    tenant: str = ""
    """Commands of different tenants never share a device: it is cleaned in between."""
    device: str = ""
    seconds: float = math.inf
    """How long all runs of the sample are expected to take: a long one that begins last ends alone."""
    long_benchmark: bool = False
    """Whether it is known to take long: then it begins beside its test, and needs no quiet for its start."""
    cancelled: Event | None = field(default=None, compare=False, repr=False)
    """Who waits for a seat there waits no more once this is set, and raises Cancelled."""


ANYWHERE = Place()


@dataclass(frozen=True)
class Seat:
    """Where a command runs: a slot's number, used for nothing else meanwhile, and the GPUs it may use."""

    slot: int
    gpu_uuids: tuple[str, ...] = ()
    porter: Porter | None = None
    """Set where the command runs beside others and waits at the device's gate for every use of it."""
    alone: bool = False
    """Whether it has the device to itself then, or shares its turns with others that do not."""
    seconds: float = math.inf
    long_benchmark: bool = False
    """See `Place`, both."""
    turn: Turn | None = None
    """A build's."""

    @property
    def gpu_uuid(self) -> str:
        return self.gpu_uuids[0] if self.gpu_uuids else ""

    @property
    def crowded(self) -> bool:
        """Whether so many others were built beside this build that it says nothing where it ran out of time."""
        return self.turn is not None and self.turn.crowded

    @property
    def is_long(self) -> bool:
        """Whether this build is expected to take long beside the others that waited or ran when it got its slot."""
        return self.turn is not None and self.turn.is_long


class Device:
    """A GPU, or all cores of a machine without one."""

    def __init__(self, uuid: str, clean: Callable[[str], None] | None) -> None:
        self.uuid = uuid
        self.lock = FairLock(TESTS_WAIT_SECONDS if uuid else 0.0)
        self.porter = Porter(uuid)
        self.presence = FairLock(STARTS_WAIT_SECONDS, ALONE_WAITS_SECONDS)
        """Shared by what runs beside others and waits at the gate; a benchmark that must be quite alone holds it."""
        self.beside = RunSlots(range(BESIDE))
        self._tenancy = Tenancy(lambda: clean(uuid)) if clean else None

    @contextmanager
    def alone(self, cancelled: Event | None = None) -> Iterator[None]:
        """Nothing runs or starts on it meanwhile."""
        with self.presence.exclusive(cancelled), self.lock.exclusive(cancelled):
            yield

    def tenancy(self, place: Place) -> AbstractContextManager[None]:
        return self._tenancy.of(place.tenant, place.cancelled) if self._tenancy else nullcontext()


class Lanes:
    """A node's slots. Without GPUs all cores are one device, which builds and tests share and a benchmark holds.

    `clean` is called with a GPU's UUID before another tenant's first command runs there; what it raises ends that
    command.
    """

    def __init__(
        self,
        build_slots: int,
        run_slots: int,
        gpu_uuids: Sequence[str] = (),
        clean: Callable[[str], None] | None = None,
    ) -> None:
        self.build_slots, self.run_slots = build_slots, run_slots
        self.durations = Durations()
        """Of builds and runs."""
        self._builds = BuildQueue(range(build_slots), self.durations)
        self._runs = RunSlots(range(build_slots, build_slots + run_slots))
        self._devices = {uuid: Device(uuid, clean if uuid else None) for uuid in gpu_uuids or ("",)}
        self._cores = FairLock() if gpu_uuids else self._devices[""].lock
        self._turns = cycle(self._devices)
        self._picking = Lock()

    def pick(self, among: Collection[str] = ()) -> str:
        """The device whose turn it is, of those named or else of all; "" without GPUs."""
        wanted = self._devices.keys() & set(among) or self._devices.keys()
        with self._picking:
            return next(device for device in self._turns if device in wanted)

    @contextmanager
    def gathering(self, n: int, is_over: Callable[[], bool]) -> Iterator[None]:
        """Hand out no slot before this is left and `n` wait for one, or no more come, as once `is_over` says so:
        samples that are begun together come to the queues in any order, and the longest must not come last for that.
        """
        queues = self._builds, self._runs
        for queue in queues:
            queue.hold(True)
        try:
            yield
            n_there, last = 0, time.monotonic() + GATHER_LONGEST_SECONDS
            deadline = last
            while n_there < n and time.monotonic() < deadline and not is_over():
                time.sleep(GATHER_LOOK_SECONDS)
                n_before, n_there = n_there, sum(queue.n_waiting for queue in queues)
                if n_there > n_before:
                    deadline = min(last, time.monotonic() + GATHER_SECONDS)
        finally:
            for queue in queues:
                queue.hold(False)

    def build(
        self, kinds: Kinds = UNNAMED, guess: Guess | None = None, cancelled: Event | None = None
    ) -> AbstractContextManager[Seat]:
        """A CPU slot, sooner where such builds take long; on a CPU node it pauses while a benchmark runs."""
        return self._build(self._builds.taken(kinds, guess, cancelled=cancelled), cancelled)

    def quiet_build(self, kinds: Kinds = UNNAMED, cancelled: Event | None = None) -> AbstractContextManager[Seat]:
        """The same before others, with at most half of the slots in use."""
        return self._build(self._builds.taken(kinds, is_quiet=True, cancelled=cancelled), cancelled)

    @contextmanager
    def _build(self, taken: AbstractContextManager[Turn], cancelled: Event | None) -> Iterator[Seat]:
        with taken as turn, self._cores.shared(cancelled), self._builds.timed(turn):
            assert turn.slot is not None
            yield Seat(turn.slot, turn=turn)

    @contextmanager
    def test(self, place: Place = ANYWHERE) -> Iterator[Seat]:
        """A run slot on a device that other tests of the tenant may share."""
        device = self._device(place)
        with (
            device.tenancy(place),
            self._runs.taken(place.seconds, place.cancelled) as slot,
            device.lock.shared(place.cancelled),
        ):
            yield _seat(slot, device)

    @contextmanager
    def benchmark(self, place: Place = ANYWHERE) -> Iterator[Seat]:
        """A run slot on a device that nothing else uses meanwhile."""
        device = self._device(place)
        with (
            device.tenancy(place),
            self._runs.taken(place.seconds, place.cancelled) as slot,
            device.alone(place.cancelled),
        ):
            yield _seat(slot, device)

    @contextmanager
    def gated_test(self, place: Place = ANYWHERE) -> Iterator[Seat]:
        """A run slot beside benchmarks; the porter lets in together with other tests of the tenant."""
        device = self._device(place)
        with (
            device.tenancy(place),
            self._runs.taken(place.seconds, place.cancelled) as slot,
            device.presence.shared(place.cancelled),
        ):
            yield replace(_seat(slot, device), porter=device.porter, seconds=place.seconds)

    @contextmanager
    def gated_benchmark(self, place: Place = ANYWHERE) -> Iterator[Seat]:
        """A run slot beside others that wait for their turns as well; the porter gives the device alone."""
        device = self._device(place)
        with (
            device.tenancy(place),
            device.beside.taken(place.seconds, place.cancelled),
            self._runs.taken(place.seconds, place.cancelled) as slot,
            device.presence.shared(place.cancelled),
        ):
            seat = _seat(slot, device)
            seat = replace(seat, porter=device.porter, alone=True)
            yield replace(seat, seconds=place.seconds, long_benchmark=place.long_benchmark)

    def hold(self, uuid: str) -> AbstractContextManager[None]:
        """The device alone, for the node's own programs."""
        return self._devices[uuid].alone()

    def _device(self, place: Place) -> Device:
        return self._devices[place.device] if place.device in self._devices else self._devices[self.pick()]


def _seat(slot: int, device: Device) -> Seat:
    return Seat(slot, (device.uuid,) if device.uuid else ())
