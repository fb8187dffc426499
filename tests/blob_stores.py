"""Blob stores that do not answer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Break = Callable[[Any, Path, pytest.MonkeyPatch], None]
"""Takes Django's settings and the folder of the blobs."""


def no_folder(_settings: Any, folder: Path, _monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is in the folder's place, as after a failed mount. Its blobs are beside it."""
    if folder.exists():
        folder.rename(folder.with_name("moved"))
    folder.write_bytes(b"")


def mend_folder(folder: Path) -> None:
    folder.unlink()
    if folder.with_name("moved").exists():
        folder.with_name("moved").rename(folder)


def no_s3(settings: Any, _folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing listens at the address of the S3 store."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    settings.AWS_S3_ENDPOINT_URL = "http://127.0.0.1:9"
    settings.BLOB_URL = "s3://nowhere/podium"


on_each_store = pytest.mark.parametrize("break_store", [no_folder, no_s3])
