"""A file is written whole or not at all, with the permissions that were asked for."""

import os
import stat
from pathlib import Path

import pytest

from runners.agent.ground.atomic import write_atomically


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_content_takes_the_place_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / "page.json"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_others_cannot_read_a_file_unless_asked_for(tmp_path: Path) -> None:
    write_atomically(tmp_path / "secret", b"x")
    assert mode_of(tmp_path / "secret") == 0o600


def test_the_umask_does_not_narrow_the_mode(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_atomically(tmp_path / "hosts", b"x", mode=0o644)
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "hosts") == 0o644


def test_a_write_that_fails_leaves_the_old_content_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.json"
    write_atomically(path, b"old")

    def full(descriptor: int, mode: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fchmod", full)
    with pytest.raises(OSError, match="no space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
