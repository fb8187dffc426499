"""Arrays in memory that checker and contestant share on a CPU: sealed memfds with guards around each array."""

import ctypes
import fcntl
import mmap
import os
import secrets
import time
from collections.abc import Callable

from .messages import GUARD_BYTES, Array

F_ADD_SEALS = 1033
"""The command of fcntl that seals shared memory (linux/fcntl.h)."""
SEAL_SEAL, SEAL_SHRINK, SEAL_GROW, SEAL_FUTURE_WRITE = 0x1, 0x2, 0x4, 0x10
"""Seals (linux/fcntl.h): no further seals, no smaller or larger file, no new writable mapping."""


class SharedArray:
    """One array: the checker's mapping and the descriptor that the contestant maps.

    An array that the contestant may not write is sealed after the checker has mapped it. A descriptor that was only
    opened read-only could be reopened for writing.
    """

    def __init__(self, size: int, writable: bool) -> None:
        self.size = size
        self.writable = writable
        self.offset = GUARD_BYTES
        page = mmap.PAGESIZE
        self.mapped = (2 * GUARD_BYTES + size + page - 1) // page * page
        self.file = os.memfd_create("podium-array", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.file, self.mapped)
        self._map = mmap.mmap(self.file, self.mapped)
        more = 0 if writable else SEAL_FUTURE_WRITE
        fcntl.fcntl(self.file, F_ADD_SEALS, SEAL_SHRINK | SEAL_GROW | SEAL_SEAL | more)
        self._start = ctypes.c_char.from_buffer(self._map)
        self.address = ctypes.addressof(self._start) + self.offset
        self._before, self._after = secrets.token_bytes(self.offset), secrets.token_bytes(self._after_bytes)
        self._map[: self.offset] = self._before
        self._map[self.offset + size :] = self._after

    @property
    def _after_bytes(self) -> int:
        return self.mapped - self.offset - self.size

    def is_overrun(self) -> bool:
        """Whether something was written before or after the array."""
        if not self.writable:
            return False
        after = self._map[self.offset + self.size :]
        return self._map[: self.offset] != self._before or after != self._after

    def described(self, dtype: str, shape: list[int]) -> Array:
        return Array(dtype, tuple(shape), self.writable, self.offset, self.size, self.mapped)

    def close(self) -> None:
        os.close(self.file)
        del self._start
        self._map.close()


class HostMemory:
    """Makes shared arrays. The seal keeps the contestant from changing its inputs, so nothing needs to be compared."""

    flush = None
    least_reference_ns = 20_000.0
    """A case in which the problem's own reference takes less is too short to have a time. Its caches are warm here, and
    cold in a solution's calls."""

    def finish(self) -> None:
        """Do nothing: what the checker has made is there."""

    def give_back(self) -> None:
        """Do nothing: what is not used any more has gone."""

    def work_ns(self, work: Callable[[], object]) -> float:
        """How long this work takes."""
        began = time.perf_counter_ns()
        work()
        return time.perf_counter_ns() - began

    def array(self, size: int, writable: bool) -> SharedArray:
        return SharedArray(size, writable)

    def write(self, shared: SharedArray, content: int) -> None:
        """Copy what is at the address `content` into the array."""
        ctypes.memmove(shared.address, content, shared.size)

    def is_changed(self, shared: SharedArray, content: int) -> bool:  # noqa: ARG002 - the device's memory needs both
        return False
