"""The checker's clocks: ctypes around libpodium_clock (native/), which makes one timed call."""

import ctypes
import enum
from typing import NamedTuple

MOST_GOES = 64
"""As `kMostGoes` in native/call.h. A case has at most as many input sets."""


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
        ("go_word", ctypes.c_uint64),
        ("done_word", ctypes.c_uint64),
        ("word_last", ctypes.c_uint32),
        ("unused", ctypes.c_uint32),
    ]


class _Times(ctypes.Structure):
    _fields_ = [
        ("status", ctypes.c_uint32),
        ("is_queued", ctypes.c_uint32),
        ("clock_ns", ctypes.c_uint64),
        ("complete_ns", ctypes.c_uint64),
        ("go_ns", ctypes.c_uint64),
        ("copy_ns", ctypes.c_uint64),
        ("prepare_ns", ctypes.c_uint64),
        ("known_ns", ctypes.c_uint64),
        ("wide_ns", ctypes.c_uint64),
        ("queue_ns", ctypes.c_uint64),
        ("each_ns", ctypes.c_uint64 * MOST_GOES),
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
    """One call. By the host's clock its parts are the completing of the inputs, the way from go to done, and the
    copying of the outputs, of which a CPU copies but some secret lines inside the clock. `prepare_ns` comes before.
    `each_ns` has the clock of each go, on a CPU without the copying.
    Of a hand-off `clock_ns` is by the device, from the checker's word to the contestant's; `known_ns` is the checker's
    own work before it, `wide_ns` reaches on to its last copy, and `queue_ns` is the host's time until all work was
    queued, which is not so unless `is_queued`."""

    status: Status
    clock_ns: int
    complete_ns: int
    go_ns: int
    copy_ns: int
    prepare_ns: int
    words: str
    each_ns: tuple[int, ...] = ()
    known_ns: int = 0
    wide_ns: int = 0
    queue_ns: int = 0
    is_queued: bool = True


class Link(NamedTuple):
    """The checker's ends of a contestant's channel and brake, as descriptors."""

    channel: int
    brake: int


class Words(NamedTuple):
    """Device addresses of the words of a hand-off, in memory that the contestant maps, too: the first for reading."""

    go: int
    done: int


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
            if not self._library.podium_open_hand_off():
                raise OSError("the CUDA driver cannot wait for words in device memory")

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
        order = self._order(link, regions, index, secret, poison, timeout_s)
        order.n_goes, order.n_calls, order.copies_all = n_goes, n_calls, copies_all
        times = _Times()
        self._library.podium_call_once(ctypes.byref(order), ctypes.byref(times))
        return _seen(times, n_goes)

    def hand_off(
        self,
        link: Link,
        regions: list[Region],
        words: "Words",
        *,
        word_last: bool,
        index: int,
        secret: int,
        poison: int,
        timeout_s: float,
    ) -> Times:
        """One call on a GPU by the device's clock. `word_last`: the contestant tells the end of its work."""
        order = self._order(link, regions, index, secret, poison, timeout_s)
        order.go_word, order.done_word, order.word_last = words.go, words.done, word_last
        times = _Times()
        self._library.podium_hand_off(ctypes.byref(order), ctypes.byref(times))
        return _seen(times, 0)

    def _order(
        self, link: Link, regions: list[Region], index: int, secret: int, poison: int, timeout_s: float
    ) -> _Call:
        return _Call(
            channel=link.channel,
            brake=link.brake,
            on_gpu=self._flush is not None,
            n_regions=len(regions),
            poison=poison,
            index=index,
            secret=secret,
            timeout_ns=max(1, int(timeout_s * 1e9)),
            regions=(Region * len(regions))(*regions),
            flush=self._flush.address if self._flush else None,
            flush_size=self._flush.size if self._flush else 0,
        )


def _seen(times: _Times, n_goes: int) -> Times:
    words = bytes(times.words).decode("utf-8", "replace")
    parts = times.complete_ns, times.go_ns, times.copy_ns, times.prepare_ns
    each_ns = tuple(times.each_ns[:n_goes])
    of_hand_off = times.known_ns, times.wide_ns, times.queue_ns, bool(times.is_queued)
    return Times(Status(times.status), times.clock_ns, *parts, words, each_ns, *of_hand_off)
