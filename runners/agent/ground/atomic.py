"""Files that are whole or missing: written at once, and read only if their digest is right."""

import hashlib
import logging
import os
import secrets
import shutil
import stat
from pathlib import Path

logger = logging.getLogger(__name__)

OWNER_ONLY = 0o600


def write_atomically(path: Path, content: bytes, mode: int = OWNER_ONLY) -> None:
    """A reader finds the old content or the new, whole. `mode` holds whatever the umask is."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.draft")
    try:
        _create(draft, content, mode)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)  # a full disk must not fill up with halves
        raise


def _create(path: Path, content: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        file.write(content)


def seal(content: bytes) -> bytes:
    """The content with its digest, as `unseal` reads it."""
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def unseal(path: Path) -> bytes | None:
    """The content that was sealed; None if there is none. Anything else at this path is removed."""
    data = read_or_discard(path)
    if data is None:
        return None
    digest, _, content = data.partition(b"\n")
    if digest == hashlib.sha256(content).hexdigest().encode():
        return content
    discard(path, "it does not have its digest")
    return None


def read_or_discard(path: Path) -> bytes | None:
    """The content of a regular file; None if there is none. Anything else at this path is removed."""
    try:
        if stat.S_ISREG(path.lstat().st_mode):
            return path.read_bytes()
        discard(path, "it is no regular file")
    except FileNotFoundError:
        return None
    except OSError as error:
        discard(path, str(error))
    return None


def discard(path: Path, why: str) -> None:
    """Remove a damaged file, or whatever is in its place. What cannot be removed is logged."""
    logger.warning("%s is removed: %s", path, why)
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        logger.warning("%s cannot be removed: %s", path, error)
