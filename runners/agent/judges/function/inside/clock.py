"""The checker's clock: ctypes around libpodium_clock (native/clock.cpp), which makes one timed call."""

import ctypes
import enum
import math
from typing import NamedTuple

NO_BRAKE = -1
MOST_GOES = 64


class Region(ctypes.Structure):
    """One array. Addresses are of the host or of the device, as the call says."""

    _fields_ = [
        ("shared", ctypes.c_void_p),
        ("content", ctypes.c_void_p),
        ("copy", ctypes.c_void_p),
        ("size", ctypes.c_uint64),
        ("go", ctypes.c_uint64),
    ]


class _Call(ctypes.Structure):
    _fields_ = [
        ("channel", ctypes.c_int32),
        ("brake", ctypes.c_int32),
        ("on_gpu", ctypes.c_uint32),
        ("copies_all", ctypes.c_uint32),
        ("n_regions", ctypes.c_uint32),
        ("poison", ctypes.c_uint32),
        ("n_goes", ctypes.c_uint32),
        ("n_calls", ctypes.c_uint32),
        ("index", ctypes.c_uint64),
        ("secret", ctypes.c_uint64),
        ("timeout_ns", ctypes.c_uint64),
        ("regions", ctypes.POINTER(Region)),
        ("flush", ctypes.c_void_p),
        ("flush_size", ctypes.c_uint64),
    ]


class _Times(ctypes.Structure):
    _fields_ = [
        ("status", ctypes.c_uint32),
        ("n_tasks", ctypes.c_uint32),
        ("clock_ns", ctypes.c_uint64),
        ("complete_ns", ctypes.c_uint64),
        ("go_ns", ctypes.c_uint64),
        ("copy_ns", ctypes.c_uint64),
        ("prepare_ns", ctypes.c_uint64),
        ("write_ns", ctypes.c_uint64),
        ("ran_ns", ctypes.c_uint64),
        ("each_ns", ctypes.c_uint64 * MOST_GOES),
        ("whole_ms", ctypes.c_float),
        ("events_ms", ctypes.c_float),
        ("span_ms", ctypes.c_float),
        ("words", ctypes.c_char * 2000),
    ]


class Status(enum.IntEnum):
    """How a call ended."""

    DONE = 0
    LATE = 1
    GONE = 2
    ERROR = 3
    NOT_STOPPED = 4
    BAD_ANSWER = 5
    DEVICE_FAULT = 6


class Times(NamedTuple):
    """One call. The clock's parts are the completing of the inputs, the way from go to done, and the copying of the
    outputs, of which a CPU copies but some secret lines inside the clock. `prepare_ns` comes before, and `write_ns` is
    its part that writes the arrays. Two are by device events, as the contestant tells them (0 on a CPU):
    until the device has finished, and until all work of the default stream has. `each_ns` has the clock of each go, on
    a CPU without the copying. `span_ms` is the kernel span, in the one process that tells it (else 0)."""

    status: Status
    clock_ns: int
    complete_ns: int
    go_ns: int
    copy_ns: int
    prepare_ns: int
    write_ns: int
    words: str
    whole_ms: float = 0.0
    events_ms: float = 0.0
    each_ns: tuple[int, ...] = ()
    span_ms: float = 0.0


class Link(NamedTuple):
    """The checker's ends of a contestant's channel and brake, as descriptors."""

    channel: int
    brake: int


class Flush(NamedTuple):
    """Device memory that is written before each call, so that the caches hold nothing else."""

    address: int
    size: int


class Clock:
    """The library. Raises OSError if it cannot be loaded."""

    def __init__(self, library: str, flush: Flush | None = None) -> None:
        self._library = ctypes.CDLL(library)
        self._flush = flush
        if flush is not None:
            missing = ctypes.create_string_buffer(200)
            if not self._library.podium_open_driver(missing, ctypes.c_uint64(200)):
                raise OSError(f"the CUDA driver lacks {missing.value.decode()}")

    def stop(self, link: Link) -> bool:
        """Stop the contestant; whether it is seen stopped."""
        return bool(self._library.podium_stop(link.brake))

    def let_go(self, link: Link) -> None:
        """Let the contestant go on, as to map new arrays."""
        self._library.podium_let_go(link.brake)

    def call(
        self,
        link: Link,
        regions: list[Region],
        *,
        n_goes: int,
        n_calls: int,
        index: int,
        secret: int,
        poison: int,
        timeout_s: float,
        copies_all: bool,
    ) -> Times:
        """So many timed goes of so many calls. `secret` decides the cache lines that are written inside the clock."""
        order = _Call(
            channel=link.channel,
            brake=link.brake,
            on_gpu=self._flush is not None,
            copies_all=copies_all,
            n_regions=len(regions),
            poison=poison,
            n_goes=n_goes,
            n_calls=n_calls,
            index=index,
            secret=secret,
            timeout_ns=max(1, int(timeout_s * 1e9)),
            regions=(Region * len(regions))(*regions),
            flush=self._flush.address if self._flush else None,
            flush_size=self._flush.size if self._flush else 0,
        )
        times = _Times()
        self._library.podium_call_once(ctypes.byref(order), ctypes.byref(times))
        words = bytes(times.words).decode("utf-8", "replace")
        parts = times.complete_ns, times.go_ns, times.copy_ns, times.prepare_ns, times.write_ns
        told_ms = times.whole_ms, times.events_ms, times.span_ms
        whole_ms, events_ms, span_ms = (ms if math.isfinite(ms) and ms > 0 else 0.0 for ms in told_ms)
        each_ns = tuple(times.each_ns[:n_goes])
        return Times(Status(times.status), times.clock_ns, *parts, words, whole_ms, events_ms, each_ns, span_ms)
