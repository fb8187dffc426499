"""Reads archives from strangers within bounds on size, count and ratio of compression."""

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from problems.formats.errors import PackRefused

MEBIBYTE = 1 << 20
CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class UploadLimits:
    """Limits of one uploaded file; sizes in bytes, unpacked unless named otherwise."""

    packed_bytes: int = 64 * MEBIBYTE
    total_bytes: int = 256 * MEBIBYTE
    line_bytes: int = 8 * MEBIBYTE
    file_bytes: int = 4 * MEBIBYTE
    """One file of a solution."""
    files_per_sample: int = 256
    members: int = 100_000
    samples: int = 200_000
    ratio: int = 120
    """Unpacked to packed, looked at once `ratio_floor_bytes` have been unpacked."""
    ratio_floor_bytes: int = 32 * MEBIBYTE


DEFAULT_LIMITS = UploadLimits()


@contextmanager
def opened(source: Path | BinaryIO) -> Iterator[BinaryIO]:
    """Give a readable file for a path or an open file; closes only what it opened."""
    if isinstance(source, Path):
        with source.open("rb") as file:
            yield file
    else:
        yield source


class _CountingReader(io.RawIOBase):
    """Passes reads on and refuses past a number of bytes."""

    def __init__(self, file: BinaryIO, limit_bytes: int, message: str) -> None:
        super().__init__()
        self._file = file
        self._limit_bytes = limit_bytes
        self._message = message
        self.count_bytes = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(CHUNK_BYTES if size is None or size < 0 else size)
        self.count_bytes += len(data)
        if self.count_bytes > self._limit_bytes:
            raise PackRefused("too_large", self._message)
        return data


class _UnpackedReader(_CountingReader):
    """Also refuses when what comes out is out of proportion to what went in."""

    def __init__(self, file: BinaryIO, packed: _CountingReader, limits: UploadLimits) -> None:
        words = f"the archive unpacks to more than {limits.total_bytes // MEBIBYTE} MiB"
        super().__init__(file, limits.total_bytes, words)
        self._packed = packed
        self._limits = limits

    def read(self, size: int = -1, /) -> bytes:
        data = super().read(size)
        packed_bytes = max(self._packed.count_bytes, 1)
        if self.count_bytes > self._limits.ratio_floor_bytes and self.count_bytes > self._limits.ratio * packed_bytes:
            raise PackRefused("bomb", f"the archive unpacks to over {self._limits.ratio} times its size")
        return data


def read_tar_gz(source: Path | BinaryIO, wanted: frozenset[str], limits: UploadLimits) -> dict[str, bytes]:
    """The wanted members of a gzipped tar, by name. `./name`, as `tar -C folder .` writes it, counts as `name`.

    The last of several members with one name counts. Raises PackRefused.
    """
    try:
        with opened(source) as file:
            return _read_members(file, wanted, limits)
    except PackRefused:
        raise
    except gzip.BadGzipFile as error:
        raise PackRefused("not_gzip", f"the file is not a gzipped tar archive ({error})") from error
    except (tarfile.TarError, EOFError, zlib.error, OSError, ValueError, OverflowError) as error:
        raise PackRefused("bad_archive", f"the archive is damaged: {error}") from error


def packed_reader(file: BinaryIO, limits: UploadLimits) -> _CountingReader:
    """Refuses a file that is larger than an upload may be."""
    return _CountingReader(file, limits.packed_bytes, f"the file is larger than {limits.packed_bytes // MEBIBYTE} MiB")


def unpacked_reader(unzipped: gzip.GzipFile, packed: _CountingReader, limits: UploadLimits) -> _UnpackedReader:
    """Refuses what unpacks to too much, in bytes or beside the bytes that `packed` has given."""
    return _UnpackedReader(unzipped, packed, limits)  # type: ignore[arg-type]


def _read_members(file: BinaryIO, wanted: frozenset[str], limits: UploadLimits) -> dict[str, bytes]:
    packed = packed_reader(file, limits)
    found: dict[str, bytes] = {}
    with gzip.GzipFile(fileobj=packed, mode="rb") as unzipped:
        unpacked = unpacked_reader(unzipped, packed, limits)
        with tarfile.open(fileobj=unpacked, mode="r|") as tar:
            for count, member in enumerate(tar, 1):
                check_member(member, count, limits)
                name = member.name.removeprefix("./")
                extracted = tar.extractfile(member) if name in wanted else None
                if extracted is not None:
                    found[name] = extracted.read()
    return found


def check_member(member: tarfile.TarInfo, count: int, limits: UploadLimits) -> None:
    """Raises PackRefused for the `count`th member of an archive if it is no plain file or folder, or too large."""
    if count > limits.members:
        raise PackRefused("too_many_members", f"the archive has more than {limits.members} members")
    if member.issym() or member.islnk():
        raise PackRefused("link", f"the archive holds a link, {member.name!a}; pack the file itself")
    if not (member.isreg() or member.isdir()) or member.issparse():
        raise PackRefused("special_file", f"the archive holds {member.name!a}, which is not a plain file")
    if member.size > limits.total_bytes:
        raise PackRefused("too_large", f"{member.name!a} is larger than {limits.total_bytes // MEBIBYTE} MiB")


def write_tar_gz(target: Path | BinaryIO, members: dict[str, bytes]) -> None:
    """Write members in their order; equal members give equal bytes."""
    if isinstance(target, Path):
        with target.open("wb") as file:
            write_tar_gz(file, members)
        return
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=target, mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
