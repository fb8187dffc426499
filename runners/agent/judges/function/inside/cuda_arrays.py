"""The contestant's side of shared device memory: arrays as torch tensors."""

import os
from typing import Any

from .cuda import READ, READ_WRITE, Driver, tensor_of
from .messages import Array


class CudaArrays:
    """Maps arrays of a GPU. Inputs are mapped read-only."""

    def __init__(self) -> None:
        import torch

        torch.cuda.init()
        torch.zeros(1, device="cuda")  # makes the context current
        self._torch = torch
        self._driver = Driver()
        self._mapped: list[tuple[int, int]] = []
        self._words = (0, 0)

    def take(self, file: int, wanted: Array) -> Any:
        """The array as a tensor of its data type."""
        handle = self._driver.imported(file)
        os.close(file)
        address = self._driver.mapped(handle, wanted.mapped, READ_WRITE if wanted.writable else READ)
        self._driver.release(handle)
        self._mapped.append((address, wanted.mapped))
        dtype = getattr(self._torch, wanted.dtype)
        return tensor_of(address + wanted.offset, wanted.size).view(dtype).reshape(wanted.shape)

    def take_words(self, files: list[int], size: int) -> None:
        """Map the words of a hand-off."""
        addresses = []
        for file, rights in zip(files, (READ, READ_WRITE), strict=True):
            handle = self._driver.imported(file)
            os.close(file)
            addresses.append(self._driver.mapped(handle, size, rights))
            self._driver.release(handle)
        self._words = addresses[0], addresses[1]

    def wait_for_go(self, index: int) -> None:
        """Have the present stream wait."""
        self._driver.wait_for_word(self._stream, self._words[0], index)

    def tell_done(self, index: int) -> None:
        """Have the present stream write the word that ends the call."""
        self._driver.write_word(self._stream, self._words[1], index)

    @property
    def _stream(self) -> int:
        return int(self._torch.cuda.current_stream().cuda_stream)

    def synchronize(self) -> None:
        self._torch.cuda.synchronize()

    def drop(self) -> None:
        self._torch.cuda.synchronize()
        for address, size in self._mapped:
            self._driver.unmap(address, size)
        self._mapped.clear()
