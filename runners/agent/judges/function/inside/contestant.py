"""The contestant's process for solutions in Python: maps the arrays, calls `solution` at each "go" and answers.

Started as `python3 -m judge.contestant`. The agent's `Order` says what to load, and the checker when. The process knows
neither seeds nor expected values, and nothing that it returns or prints is believed.
"""

import importlib
import importlib.util
import json
import mmap
import os
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import messages
from .messages import Array, Scalar
from .triton_ahead import start_triton

LAST_LINES = 12
"""Lines of a traceback that are told, the last ones."""


class Order(NamedTuple):
    """The agent's only message, as JSON."""

    solution: str
    """Path of the file."""
    dtypes: Sequence[str]
    """Data types of the parameters, in call order."""
    setup_places: Sequence[int]
    """Places of the parameters that `setup` gets."""


def load_solution(path: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions `solution` and `setup` of this file; the second may be missing.

    Raises as its code does, and AttributeError if there is no `solution`.
    """
    spec = importlib.util.spec_from_file_location("solution", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["solution"] = module
    spec.loader.exec_module(module)
    return module.solution, getattr(module, "setup", _nothing)


def _nothing(*_: object) -> None:
    """Prepare nothing."""


class HostArrays:
    """Maps arrays of a CPU, as `numpy` or `torch` has them."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._maps: list[mmap.mmap] = []

    def take(self, file: int, wanted: Array) -> Any:
        rights = mmap.PROT_READ | mmap.PROT_WRITE if wanted.writable else mmap.PROT_READ
        mapped = mmap.mmap(file, wanted.mapped, flags=mmap.MAP_SHARED | MAP_POPULATE, prot=rights)
        os.close(file)
        self._maps.append(mapped)
        n_items = 1
        for length in wanted.shape:
            n_items *= length
        if self._kind == "torch":
            return _tensor(mapped, wanted, n_items)
        return _numpy_array(mapped, wanted, n_items)

    def synchronize(self) -> None:
        """Do nothing: a CPU's work is done when the function returns."""

    def drop(self) -> None:
        self._maps.clear()  # the memory goes with the last array


def _numpy_array(mapped: mmap.mmap, wanted: Array, n_items: int) -> Any:
    import numpy as np

    dtype = np.dtype(wanted.dtype)
    flat = np.frombuffer(mapped, dtype, n_items, wanted.offset) if n_items else np.empty(0, dtype)
    return flat.reshape(wanted.shape)


def _tensor(mapped: mmap.mmap, wanted: Array, n_items: int) -> Any:
    import torch

    dtype = getattr(torch, wanted.dtype)
    if not n_items:
        return torch.empty(wanted.shape, dtype=dtype)
    return torch.frombuffer(mapped, dtype=dtype, count=n_items, offset=wanted.offset).reshape(wanted.shape)


MAP_POPULATE = getattr(mmap, "MAP_POPULATE", 0x8000)
"""Linux's flag by which a mapping has its pages at once (mman.h), so that no call pays for them."""


def arrays_of(kind: str, device: str) -> Any:
    """numpy arrays or torch tensors on `cpu`, or torch tensors on `cuda`."""
    if device == "cuda":
        from .cuda_arrays import CudaArrays

        return CudaArrays()
    return HostArrays(kind)


class Contestant:
    """Serves the checker's messages until it hangs up."""

    def __init__(
        self,
        channel: socket.socket,
        functions: tuple[Callable[..., Any], Callable[..., Any]],
        dtypes: Sequence[str],
        setup_places: Sequence[int],
        arrays: Any,
    ) -> None:
        self._channel = channel
        self._function, self._setup = functions
        self._dtypes = dtypes
        self._setup_places = setup_places
        self._arrays = arrays
        self._sets: list[list[Any]] = []

    def serve(self) -> None:
        self._channel.send(messages.head(messages.LOADED))
        while True:
            message, files, *_ = socket.recv_fds(self._channel, messages.MOST_BYTES, messages.MOST_ARGUMENTS)
            if not message:
                return
            _, kind, count, first, index = messages.HEAD.unpack_from(message)
            if kind == messages.GO:
                for values in self._sets[first : first + count]:
                    self._function(*values)
                self._done(index)
            elif kind == messages.HAND_OFF:
                self._arrays.wait_for_go(index)
                if not first:
                    self._arrays.tell_done(index)
                self._function(*self._sets[0])
                if first:
                    self._arrays.tell_done(index)
                self._channel.send(messages.head(messages.QUEUED, index))
                self._done(index)
            elif kind == messages.SETUP:
                self._setup(*[self._sets[0][place] for place in self._setup_places])
                self._done(index)
            elif kind == messages.WORDS:
                self._arrays.take_words(list(files), index)
                self._channel.send(messages.head(messages.MAPPED))
            elif kind == messages.DROP:
                self._drop()
            elif kind == messages.ARGUMENTS:
                if index == 0:
                    self._drop()
                self._sets.append(self._taken(message, list(files)))
                self._channel.send(messages.head(messages.MAPPED))

    def _done(self, index: int) -> None:
        self._arrays.synchronize()
        self._channel.send(messages.head(messages.DONE, index))

    def _drop(self) -> None:
        self._sets = []
        self._arrays.drop()

    def _taken(self, message: bytes, files: list[int]) -> list[Any]:
        values: list[Any] = []
        for given, dtype in zip(messages.read_arguments(message, self._dtypes), self._dtypes, strict=False):
            if isinstance(given, Array):
                values.append(self._arrays.take(files.pop(0), given._replace(dtype=dtype)))
            elif isinstance(given, Scalar):
                values.append(messages.scalar_value(dtype, given.data))
            else:
                values.append(self._sets[0][len(values)])
        return values


def words_of(error: BaseException) -> str:
    """The error and the last lines of its way through the solution."""
    lines = "".join(traceback.format_exception(type(error), error, error.__traceback__)).splitlines()
    return "\n".join(lines[-LAST_LINES:])[-messages.MOST_WORDS :]


def main() -> None:
    channel = socket.socket(fileno=int(os.environ["PODIUM_CHANNEL_FD"]))
    kind, device = os.environ.get("PODIUM_FUNCTION_ARRAYS", "numpy cpu").split()
    try:
        importlib.import_module(kind)  # takes seconds, and may be done before there is a solution
        if device == "cuda":
            start_triton()
        given = channel.recv(messages.MOST_BYTES)
        if not given or not channel.recv(messages.HEAD.size):
            return
        order = Order(**json.loads(given))
        functions = load_solution(order.solution)
        arrays = arrays_of(kind, device)
        Contestant(channel, functions, order.dtypes, order.setup_places, arrays).serve()
    except Exception as error:  # noqa: BLE001 - whatever the solution raises is told to the checker
        traceback.print_exc()
        channel.send(messages.head(messages.ERROR) + words_of(error).encode("utf-8", "replace"))
        raise SystemExit(4) from None


if __name__ == "__main__":
    main()
