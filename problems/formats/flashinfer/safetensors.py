"""Reads one tensor of a safetensors file within bounds, without the library: a header of JSON, then plain bytes."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

from problems.formats.errors import PackRefused

MOST_HEADER_BYTES = 1 << 20
MOST_TENSOR_BYTES = 4 << 20
"""Recorded data become part of a definition."""
DTYPES = {
    "F64": ("float64", 8), "F32": ("float32", 4), "F16": ("float16", 2), "BF16": ("bfloat16", 2),
    "F8_E4M3": ("float8_e4m3fn", 1), "F8_E5M2": ("float8_e5m2", 1), "I64": ("int64", 8), "I32": ("int32", 4),
    "I16": ("int16", 2), "I8": ("int8", 1), "U8": ("uint8", 1), "BOOL": ("bool", 1),
}  # fmt: skip


@dataclass(frozen=True)
class Recorded:
    """One tensor's data type, shape and bytes in C order, little-endian."""

    dtype: str
    shape: tuple[int, ...]
    content: bytes


def read_tensor(path: Path, key: str) -> Recorded:
    """One tensor of a file. Raises PackRefused."""
    if path.is_symlink() or not path.is_file():
        raise PackRefused("no_file", f"{path} is not there; fetch the set's recorded data first")
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(8)
        length = int.from_bytes(head, "little")
        if len(head) < 8 or not 2 <= length <= min(MOST_HEADER_BYTES, size - 8):
            raise PackRefused("bad_safetensors", f"{path} declares a header of {length} bytes in a file of {size}")
        dtype, shape, start, end = _entry(path, file.read(length), key)
        if 8 + length + end > size:
            words = f"{path} declares {end} bytes of data for `{key}` in a file of {size}"
            raise PackRefused("bad_safetensors", words)
        if end - start > MOST_TENSOR_BYTES:
            words = f"`{key}` of {path} has {end - start} bytes"
            raise PackRefused("too_large", f"{words}; at most {MOST_TENSOR_BYTES} can be part of a definition")
        file.seek(8 + length + start)
        return Recorded(dtype, shape, file.read(end - start))


def _entry(path: Path, header: bytes, key: str) -> tuple[str, tuple[int, ...], int, int]:
    """Data type, shape, start and end of a tensor, which agree with each other. Raises PackRefused."""
    try:
        data = json.loads(header)
        found = data[key]
        name, shape, (start, end) = found["dtype"], tuple(found["shape"]), found["data_offsets"]
        dtype, item_bytes = DTYPES[name]
    except KeyError as error:
        raise PackRefused("bad_safetensors", f"{path} has no usable tensor `{key}` ({error} is unknown)") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise PackRefused("bad_safetensors", f"{path}: its header is no header ({error})") from error
    lengths = (*shape, start, end)
    if not all(type(one) is int and 0 <= one < 2**48 for one in lengths) or len(shape) > 8:
        raise PackRefused("bad_safetensors", f"{path}: `{key}` has the shape {shape} at {start} to {end}"[:300])
    if math.prod(shape) * item_bytes != end - start:
        words = f"{path}: `{key}` has {end - start} bytes, but its shape {shape} needs {math.prod(shape) * item_bytes}"
        raise PackRefused("bad_safetensors", words)
    return dtype, shape, start, end
