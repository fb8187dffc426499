"""Uploads: writes an attempt's blobs to disk as they arrive. Their number and size are bounded."""

import hashlib
import tempfile
from typing import IO, BinaryIO

from django.db import transaction

from leaderboard import blobs
from runners.fleet.errors import NodeRefused
from runners.fleet.models import OPEN_TO_REPORTS, Attempt
from runners.wire.protocol import MAX_BLOB_BYTES

MAX_UPLOADS = 64
MAX_UPLOADED_BYTES = 2 * MAX_BLOB_BYTES
CHUNK_BYTES = 1024 * 1024


def take(attempt: Attempt, sha256: str, n_bytes: int, source: BinaryIO) -> bool:
    """Store the blob and note that this attempt uploaded it. Returns False if it was stored already.

    Raises NodeRefused: 409 (the attempt has ended), 413 (too_much), 422 (wrong_digest).
    """
    if attempt.state not in OPEN_TO_REPORTS:
        return _again(attempt, sha256)
    _check_room(attempt, sha256, n_bytes)
    with tempfile.SpooledTemporaryFile(max_size=CHUNK_BYTES) as file:
        if copied(source, file, n_bytes) != sha256:
            raise NodeRefused(422, "wrong_digest", "The body's sha256 is not the one in the address; send it again.")
        file.seek(0)
        is_new = blobs.store().put_file(sha256, file)
    _note(attempt, sha256, n_bytes)
    return is_new


def _again(attempt: Attempt, sha256: str) -> bool:
    """Accept a blob of an ended attempt only if it was uploaded before: a node that missed an answer repeats all."""
    if sha256 not in attempt.uploads:
        raise NodeRefused(409, attempt.state, f"This attempt is {attempt.state} and accepts no more blobs.")
    return False


def _check_room(attempt: Attempt, sha256: str, n_bytes: int) -> None:
    others = [size for name, size in attempt.uploads.items() if name != sha256]
    if len(others) >= MAX_UPLOADS or sum(others) + n_bytes > MAX_UPLOADED_BYTES:
        bound = f"{MAX_UPLOADS} blobs and {MAX_UPLOADED_BYTES >> 20} MiB"
        raise NodeRefused(413, "too_much", f"An attempt may upload at most {bound}.")


def copied(source: BinaryIO, target: IO[bytes], n_bytes: int) -> str:
    """Copy at most `n_bytes`. Returns their sha256."""
    digest = hashlib.sha256()
    while n_bytes > 0 and (chunk := source.read(min(n_bytes, CHUNK_BYTES))):
        n_bytes -= len(chunk)
        digest.update(chunk)
        target.write(chunk)
    return digest.hexdigest()


def _note(attempt: Attempt, sha256: str, n_bytes: int) -> None:
    """Note the upload. A report may name only uploaded blobs, so that knowing a digest does not reveal a blob."""
    same = Attempt.objects.filter(pk=attempt.pk, uploads=attempt.uploads)
    if not same.update(uploads={**attempt.uploads, sha256: n_bytes}):
        _note_beside_others(attempt, sha256, n_bytes)


@transaction.atomic
def _note_beside_others(attempt: Attempt, sha256: str, n_bytes: int) -> None:
    locked = Attempt.objects.select_for_update(no_key=True).get(pk=attempt.pk)
    _check_room(locked, sha256, n_bytes)
    Attempt.objects.filter(pk=attempt.pk).update(uploads={**locked.uploads, sha256: n_bytes})
