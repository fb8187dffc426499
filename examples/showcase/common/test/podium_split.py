"""What the Python harnesses share: the solution runs in a process of its own, on device memory that both processes map.

The harness makes the inputs, checks the outputs and never imports the solution. This file, started as a program, is the
contestant's process: it takes calls from one pipe, makes them in the NVTX range where they are timed, and answers on
another. Nothing that it says is believed but that a call is over.
"""

import ctypes
import importlib
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

RANGE = "bench_region"
ALIGNMENT_BYTES = 256
PR_SET_DUMPABLE = 4
REQUESTS, REPLIES, MEMORY = 0, 1, 3
"""The contestant's descriptors."""
POSIX_DESCRIPTOR, PINNED, ON_DEVICE, READ_AND_WRITE = 1, 1, 1, 3
"""Of CUDA's driver: CUmemAllocationHandleType, CUmemAllocationType, CUmemLocationType, CUmemAccess_flags."""


def fail(words: str) -> NoReturn:
    print(f"FAILED: {words}", file=sys.stderr)
    raise SystemExit(1)


# ---- Memory that two processes map ---------------------------------------------------------------------------------


class Location(ctypes.Structure):
    """CUmemLocation."""

    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class Properties(ctypes.Structure):
    """CUmemAllocationProp; the last fields stay zero."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", Location),
        ("windows", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = (("location", Location), ("flags", ctypes.c_int))


def driver(function: str, *arguments: Any) -> None:
    """Call CUDA's driver, which torch or CuPy have loaded and initialised. Raises OSError."""
    error = getattr(ctypes.CDLL("libcuda.so.1"), function)(*arguments)
    if error != 0:
        raise OSError(f"{function} failed with CUresult {error}")


class View:
    """An array at an address of the device, for `torch.as_tensor` and `cupy.asarray`."""

    def __init__(self, address: int, shape: Sequence[int], dtype: str) -> None:
        self.__cuda_array_interface__ = {
            "shape": tuple(shape), "typestr": dtype, "data": (address, False), "version": 3, "strides": None,
        }  # fmt: skip


class Memory:
    """Device memory of `size` bytes, mapped here; `descriptor` lets another process map it."""

    def __init__(self, size: int, descriptor: int | None = None) -> None:
        place = Location(ON_DEVICE, 0)
        properties = Properties(PINNED, POSIX_DESCRIPTOR, place)
        grain, handle, address = ctypes.c_size_t(), ctypes.c_uint64(), ctypes.c_uint64()
        driver("cuMemGetAllocationGranularity", ctypes.byref(grain), ctypes.byref(properties), 0)
        self.size = -(-size // grain.value) * grain.value
        length = ctypes.c_size_t(self.size)
        if descriptor is None:
            driver("cuMemCreate", ctypes.byref(handle), length, ctypes.byref(properties), ctypes.c_uint64(0))
        else:
            given = ctypes.c_void_p(descriptor)
            driver("cuMemImportFromShareableHandle", ctypes.byref(handle), given, POSIX_DESCRIPTOR)
        nowhere = (ctypes.c_size_t(0), ctypes.c_uint64(0), ctypes.c_uint64(0))
        driver("cuMemAddressReserve", ctypes.byref(address), length, *nowhere)
        driver("cuMemMap", address, length, ctypes.c_size_t(0), handle, ctypes.c_uint64(0))
        driver("cuMemSetAccess", address, length, ctypes.byref(Access(place, READ_AND_WRITE)), ctypes.c_size_t(1))
        self.address, self._handle = address.value, handle

    def export(self) -> int:
        """A descriptor of the memory, for the contestant to inherit."""
        made = ctypes.c_int(-1)
        driver("cuMemExportToShareableHandle", ctypes.byref(made), self._handle, POSIX_DESCRIPTOR, ctypes.c_uint64(0))
        return made.value

    def view(self, offset: int, shape: Sequence[int], dtype: str) -> View:
        """Raises ValueError where the array does not lie within the memory."""
        if offset < 0 or offset + math.prod(shape) * int(dtype[2:]) > self.size:
            raise ValueError(f"{tuple(shape)} at {offset} do not fit into {self.size} bytes")
        return View(self.address + offset, shape, dtype)


class Layout:
    """Places arrays in a memory one after the other; `dtype` as in NumPy's array interface, as `<f4`."""

    def __init__(self, memory: Memory) -> None:
        self._memory, self._end = memory, 0

    def place(self, shape: Sequence[int], dtype: str) -> tuple[View, list[Any]]:
        """The next array here, and how the contestant is told of it."""
        offset = -(-self._end // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        view = self._memory.view(offset, shape, dtype)
        self._end = offset + math.prod(shape) * int(dtype[2:])
        return view, [offset, list(shape), dtype]


# ---- The harness's side --------------------------------------------------------------------------------------------


def shut_out_other_processes() -> None:
    """Deny processes of the same user this one's memory, descriptors and environment. Raises OSError."""
    if ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError("prctl(PR_SET_DUMPABLE) failed: the harness cannot protect itself")


class Contestant:
    """The child process that calls one function of `solution.py`; `framework` is `torch` or `cupy`.

    Start it when everything that the harness imports is imported: it may write to the workspace.
    """

    def __init__(self, framework: str, function: str, memory: Memory) -> None:
        shared = memory.export()
        shut_out_other_processes()
        read_requests, write_requests = os.pipe()
        read_replies, write_replies = os.pipe()
        program = [sys.executable, "-I", "-B", os.path.abspath(__file__), framework, function, str(memory.size)]
        ends = {REQUESTS: read_requests, REPLIES: write_replies, MEMORY: shared}
        actions = [(os.POSIX_SPAWN_DUP2, one, number) for number, one in ends.items()]
        self._process = os.posix_spawn(sys.executable, program, os.environ, file_actions=actions)
        for one in ends.values():
            os.close(one)
        self._requests = os.fdopen(write_requests, "wb", buffering=0)
        self._replies = os.fdopen(read_replies, "rb", buffering=0)

    def call(self, arrays: Sequence[list[Any]], *rest: Any, timed: bool = False) -> None:
        """Have the function called with the arrays and `rest`, and the device waited for; where it fails, so do we."""
        request = {"arrays": arrays, "rest": rest, "timed": timed}
        try:
            self._requests.write(json.dumps(request).encode() + b"\n")
            reply = self._replies.read(1)
        except OSError:
            reply = b""
        if reply != b"+":
            fail("the solution raised an error or ended its process")

    def end(self) -> None:
        """Wait for the process to end by itself, so that a profiler writes its last words."""
        self._requests.close()
        os.waitpid(self._process, 0)


# ---- The contestant's side -----------------------------------------------------------------------------------------


def torch_parts() -> tuple[Callable[[View], Any], Callable[[], Any], Callable[[str], Any], Callable[[], Any]]:
    torch = importlib.import_module("torch")
    torch.cuda.init()
    torch.empty(1, device="cuda")
    nvtx = torch.cuda.nvtx
    return lambda view: torch.as_tensor(view, device="cuda"), torch.cuda.synchronize, nvtx.range_push, nvtx.range_pop


def cupy_parts() -> tuple[Callable[[View], Any], Callable[[], Any], Callable[[str], Any], Callable[[], Any]]:
    cupy = importlib.import_module("cupy")
    nvtx = importlib.import_module("cupy.cuda.nvtx")
    cupy.cuda.runtime.free(0)
    return cupy.asarray, cupy.cuda.runtime.deviceSynchronize, nvtx.RangePush, nvtx.RangePop


PARTS = {"torch": torch_parts, "cupy": cupy_parts}


def answer_calls(framework: str, function: str, size: int) -> None:
    # What the solution prints goes to the log, so that it cannot stand in for an answer by accident.
    requests, replies = os.fdopen(os.dup(REQUESTS), "rb"), os.dup(REPLIES)
    os.dup2(2, REPLIES)
    as_array, synchronize, push, pop = PARTS[framework]()
    memory = Memory(size, MEMORY)
    sys.argv = sys.argv[:1]
    sys.path.insert(0, os.getcwd())
    call = getattr(importlib.import_module("solution"), function)
    for line in requests:
        request = json.loads(line)
        arguments = [as_array(memory.view(*one)) for one in request["arrays"]] + request["rest"]
        if request["timed"]:
            push(RANGE)
        call(*arguments)
        synchronize()
        if request["timed"]:
            pop()
        os.write(replies, b"+")


if __name__ == "__main__":
    answer_calls(sys.argv[1], sys.argv[2], int(sys.argv[3]))
