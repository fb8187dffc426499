"""Reads an uploaded zip or tar of a folder, within bounds, and unpacks it."""

import gzip
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from problems.formats.bounded import (
    DEFAULT_LIMITS,
    UploadLimits,
    check_member,
    packed_reader,
    unpacked_reader,
)
from problems.formats.errors import PackRefused
from problems.formats.solution_zip import read_members
from problems.spec.paths import why_bad_path

_ZIP, _GZIP = b"PK\x03\x04", b"\x1f\x8b"
_TAR_AT, _TAR = 257, b"ustar"


def read_folder(file: BinaryIO, limits: UploadLimits = DEFAULT_LIMITS) -> Iterator[tuple[str, bytes]]:
    """Path and content of each file, in the archive's order. Raises PackRefused, also after the first files.

    Links and paths that leave the folder are refused, and archives that unpack to too much.
    """
    head = file.read(_TAR_AT + len(_TAR))
    file.seek(0)
    if head.startswith(_ZIP):
        members: Iterable[tuple[str, bytes]] = read_members(file, limits)
    elif head.startswith(_GZIP) or head[_TAR_AT:] == _TAR:
        members = _read_tar(file, limits, zipped=head.startswith(_GZIP))
    else:
        raise PackRefused("not_archive", "the file is no zip, tar or tar.gz archive")
    for name, content in members:
        if reason := why_bad_path(name):
            raise PackRefused("bad_path", reason)
        yield name, content


def _read_tar(file: BinaryIO, limits: UploadLimits, *, zipped: bool) -> Iterator[tuple[str, bytes]]:
    packed = packed_reader(file, limits)
    try:
        stream = unpacked_reader(gzip.GzipFile(fileobj=packed, mode="rb"), packed, limits) if zipped else packed
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            for count, member in enumerate(tar, 1):
                check_member(member, count, limits)
                extracted = tar.extractfile(member)
                if extracted is not None:
                    yield member.name.removeprefix("./"), extracted.read()
    except PackRefused:
        raise
    except (tarfile.TarError, EOFError, zlib.error, OSError, ValueError, OverflowError) as error:
        raise PackRefused("bad_archive", f"the archive is damaged: {error}") from error


def unpack_folder(file: BinaryIO, root: Path, limits: UploadLimits = DEFAULT_LIMITS) -> Path:
    """Unpack into the empty folder `root`. Returns it, or the one folder around everything. Raises PackRefused."""
    for name, content in read_folder(file, limits):
        path = root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise PackRefused("bad_path", f"{name} cannot be unpacked: {error.strerror}") from error
    inner = list(root.iterdir())
    return inner[0] if len(inner) == 1 and inner[0].is_dir() else root


def folder_name(archive: str) -> str:
    """A name for the folder of an archive: a problem that lies in it alone is called so."""
    stem = archive.replace("\\", "/").rpartition("/")[2].partition(".")[0]
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "-" for char in stem)
    return plain.strip("-")[:100] or "folder"
