"""The upload of a submission: a pack or a zipped folder, and the multipart body that streams it."""

import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

PACK_SUFFIXES = (".tar.gz", ".tgz", ".zip", ".jsonl")
SPOOL_BYTES = 8 * 1024 * 1024


class CannotSend(ValueError):
    """The path on the command line cannot be submitted. The message says why."""


def is_pack(path: Path) -> bool:
    return path.is_file() and path.name.endswith(PACK_SUFFIXES)


@contextmanager
def opened_pack(path: Path) -> Iterator[tuple[str, BinaryIO]]:
    """File name and content to send. A folder is zipped: `<task>/<sample>/<files>`. Raises CannotSend."""
    if path.is_dir():
        with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as file:
            _zip_folder(path, file)
            file.seek(0)
            yield f"{path.resolve().name}.zip", file  # type: ignore[misc]  # a spooled file reads and seeks like any
        return
    with path.open("rb") as pack:
        yield path.name, pack


def _zip_folder(folder: Path, target: object) -> None:
    """Zip a folder. Equal folders give equal bytes, so that a repeated upload is the same submission."""
    paths = sorted(path for path in folder.rglob("*") if not _is_hidden(path.relative_to(folder)))
    if links := [path for path in paths if path.is_symlink()]:
        raise CannotSend(f"{links[0]} is a symbolic link; packs hold plain files only. Replace it with a copy.")
    files = [path for path in paths if path.is_file()]
    if not files:
        raise CannotSend(f"{folder} holds no file. Lay it out as <task>/<sample>/<files>.")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        for path in files:
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix())
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def solution_files(path: Path) -> list[dict[str, str]]:
    """The files of one solution: a file by its name, or a folder's files by their paths. Raises CannotSend."""
    if path.is_file():
        return [{"path": path.name, "content": _text(path)}]
    files = sorted(one for one in path.rglob("*") if one.is_file() and not _is_hidden(one.relative_to(path)))
    if not files:
        raise CannotSend(f"{path} holds no file.")
    return [{"path": one.relative_to(path).as_posix(), "content": _text(one)} for one in files]


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise CannotSend(f"{path} is not UTF-8 text (byte {error.start}); solutions are source code.") from error


class UploadBody:
    """A multipart/form-data body that reads its file in pieces and passes the number of sent bytes to `on_sent`."""

    def __init__(
        self,
        fields: Sequence[tuple[str, str]] | Mapping[str, str],
        name: str,
        file: BinaryIO,
        on_sent: Callable[[int], None] = lambda _n_bytes: None,
    ) -> None:
        boundary = f"podium-{uuid4().hex}"
        pairs = list(fields.items()) if isinstance(fields, Mapping) else list(fields)
        self.content_type = f"multipart/form-data; boundary={boundary}"
        self._on_sent = on_sent
        self._file = file
        self._head = b"".join(_field(boundary, key, value) for key, value in pairs) + _file_head(boundary, name)
        self._tail = f"\r\n--{boundary}--\r\n".encode()
        self._length = len(self._head) + _size(file) + len(self._tail)
        self._parts = self._read_parts()

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[bytes]:
        return self._parts

    def read(self, size: int = -1) -> bytes:
        """The next piece; empty at the end. `size` is a hint."""
        if size < 0:
            return b"".join(self._parts)
        return next(self._parts, b"")

    def _read_parts(self) -> Iterator[bytes]:
        yield self._counted(self._head)
        while piece := self._file.read(64 * 1024):
            yield self._counted(piece)
        yield self._counted(self._tail)

    def _counted(self, piece: bytes) -> bytes:
        self._on_sent(len(piece))
        return piece


def _field(boundary: str, name: str, value: str) -> bytes:
    return f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()


def _file_head(boundary: str, name: str) -> bytes:
    quoted = name.replace("\\", "_").replace('"', "_").replace("\r", "_").replace("\n", "_")
    disposition = f'Content-Disposition: form-data; name="file"; filename="{quoted}"'
    return f"--{boundary}\r\n{disposition}\r\nContent-Type: application/octet-stream\r\n\r\n".encode()


def _size(file: BinaryIO) -> int:
    start = file.tell()
    end = file.seek(0, 2)
    file.seek(start)
    return end - start
