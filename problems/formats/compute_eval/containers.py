"""The outer shell of ComputeEval's packs: two members in a gzipped tar, and JSON lines inside."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from problems.formats.bounded import DEFAULT_LIMITS, MEBIBYTE, UploadLimits, read_tar_gz
from problems.formats.errors import PackRefused

METADATA_NAME = "metadata.json"
_LINE_ENDS = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class NumberedLine:
    """A line of a JSON-lines file with its number from one; `line` ends in exactly one newline."""

    number: int
    line: bytes


def read_container(
    source: Path | BinaryIO, data_name: str, limits: UploadLimits = DEFAULT_LIMITS
) -> tuple[bytes, bytes]:
    """The bytes of `metadata.json` and of the data file; raises PackRefused."""
    members = read_tar_gz(source, frozenset({METADATA_NAME, data_name}), limits)
    for name in (METADATA_NAME, data_name):
        if name not in members:
            words = f"the archive has no `{name}` at its top (a name like `pack/{name}` does not count)"
            raise PackRefused("missing_member", words)
    return members[METADATA_NAME], members[data_name]


def split_lines(data: bytes, limits: UploadLimits = DEFAULT_LIMITS) -> list[NumberedLine]:
    """The lines that hold more than blanks; any of the three line ends will do. Raises PackRefused."""
    if data.startswith(_BOM):
        raise PackRefused("byte_order_mark", "the file starts with a byte order mark; save it as plain UTF-8", 1)
    pieces = data.split(b"\n") if b"\r" not in data else _LINE_ENDS.split(data)
    lines = [NumberedLine(number, piece + b"\n") for number, piece in enumerate(pieces, 1) if not _is_blank(piece)]
    for line in lines:
        if len(line.line) > limits.line_bytes:
            raise PackRefused(
                "line_too_long", f"the record is longer than {limits.line_bytes // MEBIBYTE} MiB", line.number
            )
    return lines


def _is_blank(piece: bytes) -> bool:
    return not piece or (piece[0] not in b"{[" and not piece.decode("utf-8", "replace").strip())
