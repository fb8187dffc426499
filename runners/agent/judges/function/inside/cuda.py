"""The CUDA driver's memory calls, by ctypes: memory that two processes map, passed as a file descriptor.

Both sides use the context that torch has made current. Sizes and addresses are bytes.
"""

import ctypes
from typing import Any

READ, READ_WRITE = 1, 3
"""Rights of a mapping (CUmemAccess_flags)."""
_PINNED, _ON_DEVICE, _FILE_DESCRIPTOR = 1, 1, 1
"""CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR"""
_MINIMUM = 0
"""CU_MEM_ALLOC_GRANULARITY_MINIMUM"""
_EQUAL = 1
"""CU_STREAM_WAIT_VALUE_EQ"""


class CudaError(Exception):
    """A call of the driver failed. The message names it and the driver's word."""


class _Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class _Properties(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", _Location),
        ("windows", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    ]


class _Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = [("location", _Location), ("flags", ctypes.c_int)]


class Driver:
    """The driver's library. Raises OSError if it is missing."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver. Raises CudaError."""
        status = getattr(self._library, name)(*arguments)
        if status:
            word = ctypes.c_char_p()
            self._library.cuGetErrorName(status, ctypes.byref(word))
            raise CudaError(f"{name}: {(word.value or b'unknown error').decode()}")

    def fill(self, address: int, size: int) -> None:
        """Queue zeros for these bytes, in the legacy default stream."""
        self.call("cuMemsetD8Async", ctypes.c_ulonglong(address), ctypes.c_ubyte(0), ctypes.c_size_t(size), None)

    def granularity(self) -> int:
        """Size of which every shared allocation is a multiple."""
        found = ctypes.c_size_t()
        self.call("cuMemGetAllocationGranularity", ctypes.byref(found), ctypes.byref(_properties()), _MINIMUM)
        return found.value

    def create(self, size: int) -> ctypes.c_ulonglong:
        """A handle of new device memory that can be exported."""
        handle = ctypes.c_ulonglong()
        properties = _properties()
        self.call(
            "cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(size), ctypes.byref(properties), ctypes.c_ulonglong(0)
        )
        return handle

    def exported(self, handle: ctypes.c_ulonglong) -> int:
        """A file descriptor of the memory."""
        file = ctypes.c_int(-1)
        self.call("cuMemExportToShareableHandle", ctypes.byref(file), handle, _FILE_DESCRIPTOR, ctypes.c_ulonglong(0))
        return file.value

    def imported(self, file: int) -> ctypes.c_ulonglong:
        """A handle of memory that another process has exported."""
        handle = ctypes.c_ulonglong()
        self.call("cuMemImportFromShareableHandle", ctypes.byref(handle), ctypes.c_void_p(file), _FILE_DESCRIPTOR)
        return handle

    def mapped(self, handle: ctypes.c_ulonglong, size: int, rights: int) -> int:
        """Address at which this process reaches the memory."""
        address = ctypes.c_ulonglong()
        none = ctypes.c_ulonglong(0)
        self.call("cuMemAddressReserve", ctypes.byref(address), ctypes.c_size_t(size), ctypes.c_size_t(0), none, none)
        self.call("cuMemMap", address, ctypes.c_size_t(size), ctypes.c_size_t(0), handle, none)
        access = _Access(_Location(_ON_DEVICE, 0), rights)
        self.call("cuMemSetAccess", address, ctypes.c_size_t(size), ctypes.byref(access), ctypes.c_size_t(1))
        return address.value

    def wait_for_word(self, stream: int, address: int, value: int) -> None:
        """Have a stream wait until the word holds this value."""
        self._of_word("cuStreamWaitValue32_v2", stream, address, value, _EQUAL)

    def write_word(self, stream: int, address: int, value: int) -> None:
        """Have a stream write the word when its work before is done."""
        self._of_word("cuStreamWriteValue32_v2", stream, address, value, 0)

    def _of_word(self, name: str, stream: int, address: int, value: int, flags: int) -> None:
        where = ctypes.c_void_p(stream), ctypes.c_ulonglong(address)
        self.call(name, *where, ctypes.c_uint(value), ctypes.c_uint(flags))

    def release(self, handle: ctypes.c_ulonglong) -> None:
        """Give up a handle; mappings keep the memory."""
        self.call("cuMemRelease", handle)

    def unmap(self, address: int, size: int) -> None:
        self.call("cuMemUnmap", ctypes.c_ulonglong(address), ctypes.c_size_t(size))
        self.call("cuMemAddressFree", ctypes.c_ulonglong(address), ctypes.c_size_t(size))


def _properties() -> _Properties:
    return _Properties(_PINNED, _FILE_DESCRIPTOR, _Location(_ON_DEVICE, 0), None, (ctypes.c_ubyte * 8)())


class DeviceBytes:
    """Device memory as torch reads it through the CUDA array interface: bytes that may be written.

    torch refuses memory that is marked read-only, although its mapping may be.
    """

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
        }


def tensor_of(address: int, size: int) -> Any:
    """The memory as a flat uint8 tensor."""
    import torch

    if size == 0:
        return torch.empty(0, dtype=torch.uint8, device="cuda")
    return torch.as_tensor(DeviceBytes(address, size), device="cuda")
