"""The messages between checker and contestant, one datagram each, little-endian; `contestant.cpp` reads the same.

A message is a head, and for ARGUMENTS one record per parameter in call order. The arrays' memory travels beside it as
descriptors, in the same order. A case may have several sets of arguments: each has such a message with its number, and
GO says on how many of them to call the solution, one after another, and which is the first. HAND_OFF has the work
queued behind a word in device memory, which the first of two answers says (QUEUED), and another word written, before
the work if the field of the first set is 0, else after it; the memory of both travels beside WORDS.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple

HEAD = struct.Struct("<4sBBBxQ")
"""Magic, type, number of arguments or of sets, device or first set, index of the go or number of the set."""
ARGUMENT = struct.Struct("<BBBx4xQQQ8Q8s")
"""Kind, writable, number of dimensions; offset, size and mapped size in bytes; shape; a scalar's value."""
MAGIC = b"PDF1"
"""The first bytes of every message, with the version of the messages."""
MOST_ARGUMENTS, MOST_DIMENSIONS = 64, 8
"""As in contestant.cpp, whose records have as many places."""
START, WORDS, ARGUMENTS, SETUP, GO, HAND_OFF, DROP = (ord(letter) for letter in "BWASGHD")
"""Types of messages to the contestant."""
LOADED, MAPPED, QUEUED, DONE, ERROR = (ord(letter) for letter in "LMqdX")
"""Types of its answers."""
ARRAY, SCALAR, AS_FIRST = 0, 1, 2
CPU, CUDA = 0, 1
MOST_BYTES = HEAD.size + MOST_ARGUMENTS * ARGUMENT.size
"""Bytes of the longest message to the contestant."""
MOST_WORDS = 2000
"""Bytes of a contestant's words about its error, as in contestant.cpp."""

SCALARS = {
    "float32": "f", "float64": "d", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H",
    "uint32": "I", "uint64": "Q", "size_t": "Q", "bool": "?",
}  # fmt: skip
"""Letter of `struct` by data type, for those that may be passed by value."""

GUARD_BYTES = 4096
"""Before and after a shared array; a multiple of the alignment that arrays get."""
Value = int | float | bool


class Array(NamedTuple):
    """An array in shared memory. Sizes are bytes."""

    dtype: str
    shape: tuple[int, ...]
    writable: bool
    offset: int
    size: int
    mapped: int


class Scalar(NamedTuple):
    """A value; `data` is its eight bytes, padded with zeros."""

    data: bytes


class AsFirst(NamedTuple):
    """The same array as in the first set."""


Argument = Array | Scalar | AsFirst


def scalar_data(dtype: str, value: Value) -> bytes:
    """The value as its C type, padded to eight bytes. Raises struct.error if the type cannot hold it."""
    return struct.pack("<" + SCALARS[dtype], value).ljust(8, b"\0")


def scalar_value(dtype: str, data: bytes) -> Value:
    letter = "<" + SCALARS[dtype]
    value: Value = struct.unpack_from(letter, data)[0]
    return value


def head(kind: int, index: int = 0, count: int = 0, device: int = CPU) -> bytes:
    return HEAD.pack(MAGIC, kind, count, device, index)


def arguments(values: Sequence[Argument], device: int, number: int = 0) -> bytes:
    """The message that gives the contestant a set of arguments of a case. The first one drops those of other cases."""
    return head(ARGUMENTS, number, len(values), device) + b"".join(map(_argument, values))


def _argument(value: Argument) -> bytes:
    if isinstance(value, AsFirst):
        return ARGUMENT.pack(AS_FIRST, 0, 0, 0, 0, 0, *[0] * MOST_DIMENSIONS, bytes(8))
    if isinstance(value, Scalar):
        return ARGUMENT.pack(SCALAR, 0, 0, 0, 0, 0, *[0] * MOST_DIMENSIONS, value.data)
    shape = list(value.shape) + [0] * (MOST_DIMENSIONS - len(value.shape))
    sizes = (value.offset, value.size, value.mapped)
    return ARGUMENT.pack(ARRAY, value.writable, len(value.shape), *sizes, *shape, bytes(8))


def read_arguments(message: bytes, dtypes: Sequence[str]) -> list[Argument]:
    """The arguments of such a message; `dtypes` are those of the parameters."""
    found: list[Argument] = []
    count = HEAD.unpack_from(message)[2]
    for index, dtype in enumerate(dtypes[:count]):
        fields = ARGUMENT.unpack_from(message, HEAD.size + index * ARGUMENT.size)
        kind, writable, n_dimensions, offset, size, mapped = fields[:6]
        shape = tuple(fields[6 : 6 + n_dimensions])
        if kind == AS_FIRST:
            found.append(AsFirst())
        elif kind == SCALAR:
            found.append(Scalar(fields[-1]))
        else:
            found.append(Array(dtype, shape, bool(writable), offset, size, mapped))
    return found
