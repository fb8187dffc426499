"""torch, with every tensor of a definition on one device, whatever device the definition names."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from .arrays import ITEM_BYTES, Replacements, numpy_replacements

_VIEW_BYTES = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}


class TorchArrays:
    """torch on a CPU or a GPU."""

    name = "torch"

    def __init__(self, device: str) -> None:
        self._torch: Any = importlib.import_module("torch")
        self._np: Any = importlib.import_module("numpy")
        self._device = device

    def dtype(self, name: str) -> Any:
        return getattr(self._torch, "uint8" if name == "float4_e2m1fn_x2" else name, None)

    def dtype_name(self, array: Any) -> str:
        return str(array.dtype).rpartition(".")[2]

    def is_array(self, value: Any) -> bool:
        return isinstance(value, self._torch.Tensor)

    def owned(self, array: Any, dtype: str) -> Any:
        return array.detach().to(device=self._device, dtype=self.dtype(dtype)).contiguous()

    def copy(self, array: Any) -> Any:
        return array.clone()

    def fill(self, array: Any, values: Any) -> None:
        array.copy_(values)

    def guarded(self, array: Any) -> Any:
        """A tensor cannot be made read-only, but it counts its changes."""
        return array.detach().clone() if array.numel() < 2 else _remembered(array.detach())

    def is_changed(self, guarded: Any) -> bool:
        return bool(guarded._version != getattr(guarded, "podium_version", guarded._version))

    def generator(self, seed: int) -> Any:
        return self._torch.Generator(device=self._device).manual_seed(seed)

    def seed_globally(self, seed: int) -> None:
        self._torch.manual_seed(seed)
        self._np.random.seed(seed & 0xFFFFFFFF)

    def seed_replacements(self, seeded: Callable[[object], Any]) -> Replacements:
        return [*numpy_replacements(self._np, seeded), *_torch_replacements(self._torch, self._device, seeded)]

    def wide(self, flat: Any) -> Any:
        return flat.to(self._torch.float64)

    def ravelled(self, array: Any) -> Any:
        return array.contiguous().reshape(-1)

    def same(self, left: Any, right: Any) -> Any:
        """Bit for bit: torch cannot compare every data type."""
        view = getattr(self._torch, _VIEW_BYTES[ITEM_BYTES[self.dtype_name(left)]])
        return left.view(view) == right.view(view)

    def distance(self, left: Any, right: Any) -> Any:
        return (left - right).abs()

    def positions(self, mask: Any, count: int) -> list[int]:
        return [int(one) for one in mask.nonzero().reshape(-1)[:count]]


def _remembered(array: Any) -> Any:
    array.podium_version = array._version
    return array


def _torch_replacements(torch: Any, device: str, seeded: Callable[[object], Any]) -> Replacements:
    """Stand-ins for torch's functions that take a seed, and for generators of a named device."""
    plain_seed = torch.manual_seed
    plain_class: Any = torch.Generator

    class Generator(plain_class):  # type: ignore[misc]
        def __new__(cls, device: Any = device) -> Any:
            return super().__new__(cls, device=device)

        def manual_seed(self, seed: int) -> Any:
            super().manual_seed(seeded(seed))
            return self

    def manual_seed(seed: int) -> Any:
        return plain_seed(seeded(seed))

    return [(torch, "manual_seed", manual_seed), (torch, "Generator", Generator)]
