"""torch, with every tensor of a definition on one device, whatever device the definition names."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from .arrays import ITEM_BYTES, Replacements, numpy_replacements

MOST_SHAPES = 256
"""As many as a manifest may have cases."""
_ROUNDING = 1 + 2.0**-20
"""More than the roundings of a difference and of its bound in float32 can come to."""
_LEAST_REACH = 2.0**-100
"""A bound below this may have lost digits in float32."""
_LARGEST = float("inf")
_VIEW_BYTES = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}


class TorchArrays:
    """torch on a CPU or a GPU."""

    name = "torch"
    block = 1 << 24
    has_values = True

    def __init__(self, device: str) -> None:
        self._torch: Any = importlib.import_module("torch")
        self._np: Any = importlib.import_module("numpy")
        self.device = device
        # A reference must be as exact as its data type.
        self._torch.backends.cuda.matmul.allow_tf32 = False
        self._torch.backends.cudnn.allow_tf32 = False

    def dtype(self, name: str) -> Any:
        return getattr(self._torch, "uint8" if name == "float4_e2m1fn_x2" else name, None)

    def dtype_name(self, array: Any) -> str:
        return str(array.dtype).rpartition(".")[2]

    def is_array(self, value: Any) -> bool:
        return isinstance(value, self._torch.Tensor)

    def owned(self, array: Any, dtype: str) -> Any:
        return array.detach().to(device=self.device, dtype=self.dtype(dtype)).contiguous()

    def copy(self, array: Any) -> Any:
        return array.clone()

    def fill(self, array: Any, values: Any) -> None:
        array.copy_(values)

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Compiles by torch.compile, once for each shape. The cache of its compiler lives as long as this process."""
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()
        os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
        dynamo = importlib.import_module("torch._dynamo")
        dynamo.config.recompile_limit = MOST_SHAPES
        compiled: Callable[..., Any] = self._torch.compile(function, dynamic=False)
        return compiled

    def guarded(self, array: Any) -> Any:
        """A tensor cannot be made read-only, but it counts its changes."""
        return _remembered(array.detach())

    def is_changed(self, guarded: Any) -> bool:
        return bool(guarded._version != getattr(guarded, "podium_version", guarded._version))

    def generator(self, seed: int) -> Any:
        return self._torch.Generator(device=self.device).manual_seed(seed)

    def seed_globally(self, seed: int) -> None:
        self._torch.manual_seed(seed)
        self._np.random.seed(seed & 0xFFFFFFFF)

    def seed_replacements(self, seeded: Callable[[object], Any]) -> Replacements:
        return [*numpy_replacements(self._np, seeded), *_torch_replacements(self._torch, self.device, seeded)]

    def placing(self) -> AbstractContextManager[Any]:
        return _on_cpu(self._torch) if self.device == "cpu" else nullcontext()

    def on_cpu(self, array: Any) -> Any:
        return array.cpu()

    def wide(self, flat: Any) -> Any:
        return flat.to(self._torch.float64)

    def ravelled(self, array: Any) -> Any:
        return array.contiguous().reshape(-1)

    def as_bytes(self, flat: Any) -> Any:
        return flat.view(self._torch.uint8)

    def same(self, left: Any, right: Any) -> Any:
        """Bit for bit: torch cannot compare every data type."""
        view = getattr(self._torch, _VIEW_BYTES[ITEM_BYTES[self.dtype_name(left)]])
        return left.view(view) == right.view(view)

    def all_same(self, left: Any, right: Any) -> bool:
        view = getattr(self._torch, _VIEW_BYTES[ITEM_BYTES[self.dtype_name(left)]])
        return bool(self._torch.equal(left.view(view), right.view(view)))

    def all_near(self, expected: Any, actual: Any, rtol: float, atol: float) -> bool:
        """In float32 where the data type has no more digits: it takes half the memory and is faster on every GPU.

        Elements too near the bound for that are looked at again in float64. An answer that is one step of a narrow
        data type off, where that is the bound, has many of them.
        """
        is_wide = self.dtype_name(expected) == "float64"
        want, got = (expected, actual) if is_wide else (expected.float(), actual.float())
        gap = (got - want).abs_()
        if atol > _LEAST_REACH and float(gap.max()) * _ROUNDING <= atol:  # the largest gap is NaN if any is
            return True
        reach = want.abs().mul_(rtol).add_(atol)
        sure = (gap == 0) | ((gap * _ROUNDING <= reach) & (gap < _LARGEST) & (reach > _LEAST_REACH))
        if bool(sure.all()):
            return True
        want, got = self.wide(expected[~sure]), self.wide(actual[~sure])
        reach = want.abs()
        return bool(((reach < _LARGEST) & (self.distance(want, got) <= atol + rtol * reach)).all())

    def distance(self, left: Any, right: Any) -> Any:
        return (left - right).abs()

    def positions(self, mask: Any, count: int) -> list[int]:
        return [int(one) for one in mask.nonzero().reshape(-1)[:count]]


class FakeTorch(TorchArrays):
    """torch without values: shapes and data types alone, without memory or a GPU."""

    has_values = False

    def __init__(self) -> None:
        super().__init__("cpu")
        fake: Any = importlib.import_module("torch._subclasses.fake_tensor")
        self._mode: Any = fake.FakeTensorMode(allow_non_fake_inputs=True)

    @contextmanager
    def placing(self) -> Iterator[None]:
        with _on_cpu(self._torch), self._mode:
            yield


def _remembered(array: Any) -> Any:
    array.podium_version = array._version
    return array


def _on_cpu(torch: Any) -> AbstractContextManager[Any]:
    """A mode in which whatever names a GPU is done on the CPU."""
    mode_class: Any = torch.overrides.TorchFunctionMode

    class OnCpu(mode_class):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = dict(kwargs or {})
            if function is torch.Tensor.cuda:
                return args[0]
            if function is torch.Tensor.to:
                args = (args[0], *(_cpu_for_gpu(torch, one) for one in args[1:]))
            if "device" in kwargs:
                kwargs["device"] = _cpu_for_gpu(torch, kwargs["device"])
            return function(*args, **kwargs)

    mode: AbstractContextManager[Any] = OnCpu()
    return mode


def _cpu_for_gpu(torch: Any, device: Any) -> Any:
    if isinstance(device, str) and device.startswith("cuda"):
        return "cpu"
    return torch.device("cpu") if isinstance(device, torch.device) and device.type == "cuda" else device


def _torch_replacements(torch: Any, own_device: str, seeded: Callable[[object], Any]) -> Replacements:
    """Stand-ins for torch's functions that take a seed, and for generators of a named device."""
    plain_class: Any = torch.Generator

    class Generator(plain_class):  # type: ignore[misc]
        def __new__(cls, device: Any = "cpu") -> Any:
            return super().__new__(cls, device=_cpu_for_gpu(torch, device) if own_device == "cpu" else device)

        def manual_seed(self, seed: int) -> Any:
            super().manual_seed(seeded(seed))
            return self

    seeders = [(torch, "manual_seed"), (torch.cuda, "manual_seed"), (torch.cuda, "manual_seed_all")]
    replaced = [(place, name, _mixing_seed(getattr(place, name), seeded)) for place, name in seeders]
    return [*replaced, (torch, "Generator", Generator)]


def _mixing_seed(plain: Any, seeded: Callable[[object], Any]) -> Any:
    def seed_all(seed: int) -> Any:
        return plain(seeded(seed))

    return seed_all
