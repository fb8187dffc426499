"""Blobs by sha256: solutions, logs, profiles, artefacts, uploads; in a folder, or in S3 through django-storages."""

import hashlib
import io
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import IO, BinaryIO, Protocol
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import File
from django.core.files.storage import Storage

from leaderboard.errors import Unavailable

CHUNK_BYTES = 1024 * 1024
GRACE = timedelta(days=2)
"""A blob that was stored, or stored again, within it is never collected: a row that names it may be on its way."""
SHA256_DIGITS = 64

logger = logging.getLogger(__name__)


class BlobMissing(LookupError):
    """No blob has this sha256."""


class BlobsUnavailable(Unavailable):
    """The blob store does not answer, or stores nothing."""

    def __init__(self) -> None:
        words = "The site cannot read or store files now. Nothing was changed; please try again in a while."
        super().__init__("blobs_unavailable", words)


@contextmanager
def _answering(*errors: type[Exception]) -> Iterator[None]:
    """Raise BlobsUnavailable for these errors of the store, and log them for the site's operator."""
    try:
        yield
    except errors as error:
        logger.error("the blob store fails: %s: %s", type(error).__name__, error)
        raise BlobsUnavailable from error


class BlobStore(Protocol):
    """All methods raise BlobsUnavailable."""

    def check(self) -> None:
        """Return if the store answers."""
        ...

    def put(self, content: bytes) -> str:
        """Store and return the sha256; storing the same again is harmless."""
        ...

    def put_file(self, sha256: str, file: IO[bytes]) -> bool:
        """Store an open file whose digest the caller has checked; False where it is here already, which makes it
        young again."""
        ...

    def open(self, sha256: str) -> BinaryIO:
        """Raises BlobMissing."""
        ...

    def has(self, sha256: str) -> bool: ...

    def names(self) -> Iterator[str]:
        """The sha256 of each blob, in any order."""
        ...

    def stored_at(self, sha256: str) -> datetime | None:
        """When it was last stored; None if it is not here."""
        ...

    def size_bytes(self, sha256: str) -> int:
        """0 if it is not here."""
        ...

    def delete(self, sha256: str) -> None:
        """Delete an upload. One that is gone is no error. Other blobs have names in rows: `collect` deletes those."""
        ...

    def collect(self, sha256: str, before: datetime) -> bool:
        """Delete it if it was last stored before this time. Returns whether it was."""
        ...


def _place(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}"


def _changed_at(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except FileNotFoundError:
        return None


class FolderBlobs:
    """Blobs as files; a file appears whole or not at all."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def check(self) -> None:
        with _answering(OSError):
            if not os.access(self.root, os.R_OK | os.W_OK | os.X_OK):
                raise PermissionError(f"{self.root} is missing or cannot be used")

    def put(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        self.put_file(sha256, io.BytesIO(content))
        return sha256

    def put_file(self, sha256: str, file: IO[bytes]) -> bool:
        with _answering(OSError):
            return self._put_file(self.root / _place(sha256), file)

    def _put_file(self, path: Path, file: IO[bytes]) -> bool:
        with suppress(FileNotFoundError):  # also of a file that is collected just now
            os.utime(path)
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
        if not self.has(sha256):
            raise BlobMissing(sha256)
        with _answering(OSError):
            return (self.root / _place(sha256)).open("rb")

    def has(self, sha256: str) -> bool:
        with _answering(OSError):
            if (self.root / _place(sha256)).exists():
                return True
        self.check()  # a folder that is gone holds no blob, but has not lost any
        return False

    def names(self) -> Iterator[str]:
        with _answering(OSError):
            for path in self.root.glob("[0-9a-f][0-9a-f]/[0-9a-f][0-9a-f]/*"):
                if len(path.name) == SHA256_DIGITS:
                    yield path.name

    def stored_at(self, sha256: str) -> datetime | None:
        with _answering(OSError):
            return _changed_at(self.root / _place(sha256))

    def size_bytes(self, sha256: str) -> int:
        with _answering(OSError), suppress(FileNotFoundError):
            return (self.root / _place(sha256)).stat().st_size
        return 0

    def delete(self, sha256: str) -> None:
        with _answering(OSError):
            (self.root / _place(sha256)).unlink(missing_ok=True)

    def collect(self, sha256: str, before: datetime) -> bool:
        """The file is moved aside first: a `put_file` meanwhile has made it young before that, or finds no file."""
        path = self.root / _place(sha256)
        aside = path.with_name(f"{sha256}.collected")
        with _answering(OSError):
            try:
                path.rename(aside)
            except FileNotFoundError:
                return False
            if (at := _changed_at(aside)) is not None and at >= before:
                aside.rename(path)  # over the same content, if it was stored anew meanwhile
                return False
            aside.unlink(missing_ok=True)
            return True


class StorageBlobs:
    """Blobs in any django-storages backend, whose failures are `errors`."""

    def __init__(self, storage: Storage, *errors: type[Exception]) -> None:
        self.storage = storage
        self._errors = errors

    def check(self) -> None:
        self.has("0" * 64)

    def put(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        self.put_file(sha256, io.BytesIO(content))
        return sha256

    def put_file(self, sha256: str, file: IO[bytes]) -> bool:
        at = self.stored_at(sha256)
        if at is not None and datetime.now(UTC) - at < GRACE / 2:
            return False
        with _answering(*self._errors):
            self.storage.save(_place(sha256), File(file))
        return at is None

    def open(self, sha256: str) -> BinaryIO:
        if not self.has(sha256):
            raise BlobMissing(sha256)
        with _answering(*self._errors):
            file: BinaryIO = self.storage.open(_place(sha256), "rb")  # type: ignore[assignment]
        return file

    def has(self, sha256: str) -> bool:
        with _answering(*self._errors):
            return self.storage.exists(_place(sha256))

    def names(self) -> Iterator[str]:
        with _answering(*self._errors):
            for first in self.storage.listdir("")[0]:
                if len(first) != 2:  # uploads have a folder of their own in it
                    continue
                for second in self.storage.listdir(first)[0]:
                    yield from self.storage.listdir(f"{first}/{second}")[1]

    def stored_at(self, sha256: str) -> datetime | None:
        if not self.has(sha256):
            return None
        with _answering(*self._errors):
            return self.storage.get_modified_time(_place(sha256))

    def size_bytes(self, sha256: str) -> int:
        if not self.has(sha256):
            return 0
        with _answering(*self._errors):
            return self.storage.size(_place(sha256))

    def delete(self, sha256: str) -> None:
        with _answering(*self._errors):
            self.storage.delete(_place(sha256))

    def collect(self, sha256: str, before: datetime) -> bool:
        """This store has no move: an upload between look and deletion, some milliseconds, is lost. Its node is told
        so by the answer to its report, and sends it again."""
        at = self.stored_at(sha256)
        if at is None or at >= before:
            return False
        self.delete(sha256)
        return True


@cache
def _store_at(url: str) -> BlobStore:
    parts = urlsplit(url)
    if parts.scheme == "s3":
        from boto3.exceptions import Boto3Error  # type: ignore[import-untyped]
        from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]
        from storages.backends.s3 import S3Storage

        options = {"bucket_name": parts.netloc, "location": parts.path.strip("/"), "file_overwrite": True}
        storage = S3Storage(**options)  # type: ignore[no-untyped-call]
        return StorageBlobs(storage, OSError, Boto3Error, BotoCoreError, ClientError)
    if parts.scheme not in {"", "file"}:
        raise ImproperlyConfigured(f"PODIUM_BLOB_URL has scheme {parts.scheme!r}; use a folder or s3://bucket/prefix.")
    return FolderBlobs(Path(parts.path))


def store() -> BlobStore:
    return _store_at(settings.BLOB_URL)


def uploads() -> BlobStore:
    """Files that organisers upload to be packed, apart from the others: rows name them, and a sweep deletes them."""
    return _store_at(f"{settings.BLOB_URL.rstrip('/')}/uploads")


def read(sha256: str, of: BlobStore | None = None) -> bytes:
    """Reads a blob of `store()`, or of the named store. Raises BlobMissing and BlobsUnavailable."""
    with _answering(OSError), (of or store()).open(sha256) as file:
        return file.read()
