"""Wraps NVIDIA's management library. A value that driver, card or permissions do not give is None."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

LOST = (15, 16)
"""NVML_ERROR_GPU_IS_LOST and NVML_ERROR_RESET_REQUIRED."""
NO_INSTANCE = 0xFFFFFFFF


class Nvml:
    """An open library. `api` offers pynvml's functions and constants. Safe to use from several threads."""

    def __init__(self, api: Any) -> None:
        """Raises `api.NVMLError` if no driver answers."""
        self.api = api
        api.nvmlInit()

    @classmethod
    def load(cls) -> Nvml | None:
        """Open the library; None if the bindings, the library or the driver are missing."""
        try:
            import pynvml
        except ImportError:
            return None
        try:
            return cls(pynvml)
        except pynvml.NVMLError:
            return None

    def ask(self, function: str, *arguments: Any) -> Any:
        """The answer of an NVML function, or None if it fails."""
        try:
            return getattr(self.api, function)(*arguments)
        except self.api.NVMLError:
            return None

    def number(self, function: str, *arguments: Any, scale: float = 1.0) -> float | None:
        """A numeric answer times `scale`."""
        answer = self.ask(function, *arguments)
        return None if answer is None else float(answer) * scale

    def why_lost(self, handle: Any) -> str:
        """The library's error text if the device is lost or needs a reset, else ""."""
        try:
            self.api.nvmlDeviceGetPowerUsage(handle)
        except self.api.NVMLError as error:
            return str(error) if error.value in LOST else ""
        return ""

    def boards(self) -> Iterator[Any]:
        """Handles of the physical GPUs that answer."""
        for index in range(int(self.ask("nvmlDeviceGetCount") or 0)):
            handle = self.ask("nvmlDeviceGetHandleByIndex", index)
            if handle is not None:
                yield handle

    def instances(self, board: Any) -> Iterator[Any]:
        """Handles of a board's MIG devices; none if MIG is off or the card does not support it."""
        mode = self.ask("nvmlDeviceGetMigMode", board)
        if mode is None or mode[0] == 0:
            return
        for index in range(int(self.ask("nvmlDeviceGetMaxMigDeviceCount", board) or 0)):
            handle = self.ask("nvmlDeviceGetMigDeviceHandleByIndex", board, index)
            if handle is not None:
                yield handle

    def field(self, handle: Any, number: int) -> int | None:
        """A field value that is an unsigned integer."""
        values = self.ask("nvmlDeviceGetFieldValues", handle, [number])
        return int(values[0].value.uiVal) if values and values[0].nvmlReturn == 0 else None

    def same(self, one: Any, other: Any) -> bool:
        """Whether two handles name one device."""
        return bool(address(one) == address(other))

    def close(self) -> None:
        self.ask("nvmlShutdown")


def address(handle: Any) -> Any:
    """A value that identifies a handle. The library's own handles are pointers."""
    return ctypes.cast(handle, ctypes.c_void_p).value if isinstance(handle, ctypes._Pointer) else handle
