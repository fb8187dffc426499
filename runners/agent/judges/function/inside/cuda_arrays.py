"""The contestant's side of shared device memory: arrays as torch tensors."""

import os
from typing import Any

from .cuda import READ, READ_WRITE, Driver, tensor_of
from .messages import Array
from .spans import opened_spans


class CudaArrays:
    """Maps arrays of a GPU. Inputs are mapped read-only."""

    def __init__(self, spans: str = "") -> None:
        """`spans` is the path of the library that tells kernel spans."""
        import torch

        torch.cuda.init()
        torch.zeros(1, device="cuda")  # makes the context current
        self._torch = torch
        self._driver = Driver()
        self._mapped: list[tuple[int, int]] = []
        self._begun, self._left, self._ended = [torch.cuda.Event(enable_timing=True) for _ in range(3)]
        self._spans = opened_spans(spans)

    def take(self, file: int, wanted: Array) -> Any:
        """The array as a tensor of its data type."""
        handle = self._driver.imported(file)
        os.close(file)
        address = self._driver.mapped(handle, wanted.mapped, READ_WRITE if wanted.writable else READ)
        self._driver.release(handle)
        self._mapped.append((address, wanted.mapped))
        dtype = getattr(self._torch, wanted.dtype)
        return tensor_of(address + wanted.offset, wanted.size).view(dtype).reshape(wanted.shape)

    def begin(self) -> None:
        """Mark the beginning of a call on the device."""
        if self._spans is not None:
            self._spans.begin()
        self._begun.record()

    def synchronize(self) -> tuple[float, ...]:
        """Wait for the device. Milliseconds of the call by events: until it had finished, and of the present stream;
        and of its kernel span if that is asked for."""
        self._left.record()
        self._torch.cuda.synchronize()
        self._ended.record()
        self._ended.synchronize()
        told_ms = self._begun.elapsed_time(self._ended), self._begun.elapsed_time(self._left)
        return told_ms if self._spans is None else (*told_ms, self._spans.end_ms())

    def drop(self) -> None:
        self._torch.cuda.synchronize()
        for address, size in self._mapped:
            self._driver.unmap(address, size)
        self._mapped.clear()
