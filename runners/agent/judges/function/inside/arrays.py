"""The checker's view of numpy arrays and torch tensors: their bytes, and new ones for answers."""

from collections.abc import Sequence
from typing import Any


class NumpyArrays:
    """Arrays of a CPU problem."""

    def __init__(self) -> None:
        import numpy as np

        self._np = np

    def contiguous(self, array: Any) -> Any:
        return self._np.ascontiguousarray(array)

    def address(self, array: Any) -> int:
        return int(array.ctypes.data)

    def size(self, array: Any) -> int:
        return int(array.nbytes)

    def shape(self, array: Any) -> list[int]:
        return list(array.shape)

    def dtype(self, array: Any) -> str:
        return str(array.dtype)

    def empty_like(self, array: Any) -> Any:
        return self._np.empty(array.shape, array.dtype)

    def first(self, array: Any, count: int) -> list[Any]:
        """The first elements as Python's numbers."""
        values: list[Any] = array.reshape(-1)[:count].tolist()
        return values

    def unwritten(self, array: Any, poison: int) -> Any:
        """Mask of the elements all of whose bytes are the poison's."""
        flat = self._np.ascontiguousarray(array).reshape(-1)
        if flat.size == 0:
            return self._np.zeros(array.shape, bool)
        raw = flat.view(self._np.uint8).reshape(flat.size, array.dtype.itemsize)
        return (raw == poison).all(axis=1).reshape(array.shape)


class TorchArrays:
    """Tensors, on a CPU or a GPU."""

    def __init__(self) -> None:
        import torch

        self._torch = torch

    def contiguous(self, array: Any) -> Any:
        return array.detach().contiguous()

    def address(self, array: Any) -> int:
        return int(array.data_ptr())

    def size(self, array: Any) -> int:
        return int(array.numel() * array.element_size())

    def shape(self, array: Any) -> list[int]:
        return list(array.shape)

    def dtype(self, array: Any) -> str:
        return str(array.dtype).replace("torch.", "")

    def empty_like(self, array: Any) -> Any:
        return self._torch.empty_like(array, memory_format=self._torch.contiguous_format)

    def first(self, array: Any, count: int) -> list[Any]:
        """The first elements as Python's numbers."""
        first = array.reshape(-1)[:count].cpu()
        narrow = first.is_floating_point() and first.dtype is not self._torch.float64
        values: list[Any] = (first.float() if narrow else first).tolist()
        return values

    def unwritten(self, array: Any, poison: int) -> Any:
        """Mask of the elements all of whose bytes are the poison's."""
        if array.numel() == 0:
            return self._torch.zeros(array.shape, dtype=self._torch.bool, device=array.device)
        raw = array.contiguous().reshape(-1, 1).view(self._torch.uint8)
        return (raw == poison).all(dim=1).reshape(array.shape)


def arrays_of(kind: str) -> Any:
    """`numpy` or `torch`."""
    return TorchArrays() if kind == "torch" else NumpyArrays()


def n_bytes(arrays: Any, values: Sequence[Any]) -> int:
    return sum(arrays.size(value) for value in values)
