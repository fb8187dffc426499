"""Arrays in device memory that checker and contestant share, with guards around each array.

The contestant maps its inputs read-only, but can change that mapping itself. So the checker compares each input with
its own copy after every call.
"""

import os
import secrets
from collections.abc import Callable
from typing import Any

from .clock import Flush, Words
from .cuda import READ_WRITE, Driver, tensor_of
from .messages import GUARD_BYTES, Array

CACHES = 2
"""Times the size of the L2 cache that is written before a call."""
HEAD_START_FILLS = 50
"""Fills of that memory: they take milliseconds."""


class SharedCudaArray:
    """One array: the checker's mapping and the descriptor that the contestant maps."""

    def __init__(self, driver: Driver, granularity: int, size: int, writable: bool) -> None:
        self._driver = driver
        self.size = size
        self.writable = writable
        self.offset = GUARD_BYTES
        self.mapped = (2 * GUARD_BYTES + size + granularity - 1) // granularity * granularity
        handle = driver.create(self.mapped)
        self.file = driver.exported(handle)
        self._start = driver.mapped(handle, self.mapped, READ_WRITE)
        driver.release(handle)
        self.address = self._start + self.offset
        self._byte = secrets.randbits(8)
        for guard in self._guards():
            guard.fill_(self._byte)

    def _guards(self) -> tuple[Any, Any]:
        behind = self.offset + self.size
        return tensor_of(self._start, self.offset), tensor_of(self._start + behind, min(1 << 16, self.mapped - behind))

    def is_overrun(self) -> bool:
        """Whether something was written right before or after the array."""
        return self.writable and any(bool((guard != self._byte).any()) for guard in self._guards())

    def described(self, dtype: str, shape: list[int]) -> Array:
        return Array(dtype, tuple(shape), self.writable, self.offset, self.size, self.mapped)

    def close(self) -> None:
        os.close(self.file)
        self._driver.unmap(self._start, self.mapped)


class SharedWords:
    """The words of a hand-off: the checker's mappings, and the descriptors that the contestant maps. Each has a page of
    its own, since the contestant may not write the first."""

    def __init__(self, driver: Driver, size: int) -> None:
        self._driver = driver
        self.size = size
        self.files: list[int] = []
        self._starts: list[int] = []
        for _ in range(2):
            handle = driver.create(size)
            self.files.append(driver.exported(handle))
            self._starts.append(driver.mapped(handle, size, READ_WRITE))
            driver.release(handle)
            tensor_of(self._starts[-1], size).zero_()

    @property
    def addresses(self) -> Words:
        return Words(*self._starts)

    def close(self) -> None:
        for file, start in zip(self.files, self._starts, strict=True):
            os.close(file)
            self._driver.unmap(start, self.size)


class CudaMemory:
    """Makes shared arrays on the device. Raises CudaError and what torch raises."""

    def __init__(self) -> None:
        import torch

        torch.cuda.init()
        cache_bytes = torch.cuda.get_device_properties(0).L2_cache_size
        self._flushed = torch.zeros(CACHES * cache_bytes, dtype=torch.uint8, device="cuda")
        torch.cuda.synchronize()
        self.flush = Flush(self._flushed.data_ptr(), CACHES * cache_bytes)
        self._driver = Driver()
        self._granularity = self._driver.granularity()

    def finish(self) -> None:
        """Wait for what the checker itself has begun on the device, so that none of it delays a call."""
        import torch

        torch.cuda.synchronize()

    def give_back(self) -> None:
        """Leave the device's memory to others: the problem's next sample may come much later."""
        import torch

        torch.cuda.empty_cache()

    def work_ns(self, work: Callable[[], object]) -> float:
        """How long the device works on this. Other work keeps it busy while the operations are launched."""
        import torch

        begun, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(HEAD_START_FILLS):
            self._flushed.zero_()
        begun.record()
        work()
        ended.record()
        ended.synchronize()
        return float(begun.elapsed_time(ended)) * 1e6

    def fill_ns(self, size: int) -> float:
        """How long the device fills so many bytes that no cache holds."""
        import torch

        filled = torch.empty(size, dtype=torch.uint8, device="cuda")
        return self.work_ns(lambda: self._driver.fill(filled.data_ptr(), size))

    def words(self) -> SharedWords:
        return SharedWords(self._driver, self._granularity)

    def array(self, size: int, writable: bool) -> SharedCudaArray:
        return SharedCudaArray(self._driver, self._granularity, size, writable)

    def write(self, shared: SharedCudaArray, content: int) -> None:
        """Copy what is at the device address `content` into the array."""
        tensor_of(shared.address, shared.size).copy_(tensor_of(content, shared.size))
        self.finish()

    def is_changed(self, shared: SharedCudaArray, content: int) -> bool:
        """Whether an input no longer holds what the checker wrote there."""
        import torch

        return not torch.equal(tensor_of(shared.address, shared.size), tensor_of(content, shared.size))
