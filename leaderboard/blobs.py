"""Blobs by sha256: solutions, logs, profiles, artefacts; in a folder, or in S3 through django-storages."""

import hashlib
import io
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import IO, BinaryIO, Protocol
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import File
from django.core.files.storage import Storage

CHUNK_BYTES = 1024 * 1024


class BlobMissing(LookupError):
    """No blob has this sha256."""


class BlobStore(Protocol):
    def put(self, content: bytes) -> str:
        """Store and return the sha256; storing the same again is harmless."""
        ...

    def put_file(self, sha256: str, file: IO[bytes]) -> bool:
        """Store an open file whose digest the caller has checked; False where it is here already."""
        ...

    def open(self, sha256: str) -> BinaryIO:
        """Raises BlobMissing."""
        ...

    def has(self, sha256: str) -> bool: ...


def _place(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}"


class FolderBlobs:
    """Blobs as files; a file appears whole or not at all."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        self.put_file(sha256, io.BytesIO(content))
        return sha256

    def put_file(self, sha256: str, file: IO[bytes]) -> bool:
        path = self.root / _place(sha256)
        if path.exists():
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as target:
                shutil.copyfileobj(file, target, CHUNK_BYTES)
            Path(temporary).rename(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)  # a full disk must not fill up with halves
            raise
        return True

    def open(self, sha256: str) -> BinaryIO:
        try:
            return (self.root / _place(sha256)).open("rb")
        except FileNotFoundError as error:
            raise BlobMissing(sha256) from error

    def has(self, sha256: str) -> bool:
        return (self.root / _place(sha256)).exists()


class StorageBlobs:
    """Blobs in any django-storages backend."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def put(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        self.put_file(sha256, io.BytesIO(content))
        return sha256

    def put_file(self, sha256: str, file: IO[bytes]) -> bool:
        if self.has(sha256):
            return False
        self.storage.save(_place(sha256), File(file))
        return True

    def open(self, sha256: str) -> BinaryIO:
        if not self.has(sha256):
            raise BlobMissing(sha256)
        file: BinaryIO = self.storage.open(_place(sha256), "rb")  # type: ignore[assignment]
        return file

    def has(self, sha256: str) -> bool:
        return self.storage.exists(_place(sha256))


@cache
def _store_at(url: str) -> BlobStore:
    parts = urlsplit(url)
    if parts.scheme == "s3":
        from storages.backends.s3 import S3Storage

        options = {"bucket_name": parts.netloc, "location": parts.path.strip("/"), "file_overwrite": True}
        return StorageBlobs(S3Storage(**options))  # type: ignore[no-untyped-call]
    if parts.scheme not in {"", "file"}:
        raise ImproperlyConfigured(f"PODIUM_BLOB_URL has scheme {parts.scheme!r}; use a folder or s3://bucket/prefix.")
    return FolderBlobs(Path(parts.path))


def store() -> BlobStore:
    return _store_at(settings.BLOB_URL)


def read(sha256: str) -> bytes:
    with store().open(sha256) as file:
        return file.read()
