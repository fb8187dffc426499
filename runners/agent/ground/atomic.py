"""Writes a file whole or not at all."""

import os
import secrets
from pathlib import Path

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
