"""What is done before any part is measured, so that their order decides nothing."""

import time
from pathlib import Path

import pytest

from benchmarks.compute_eval_gpu import level


def later() -> float:
    return time.monotonic() + 60.0


def test_all_files_below_are_read_once_and_no_links(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "header.h").write_bytes(b"x" * 1000)
    (tmp_path / "library").write_bytes(b"x" * (level.CHUNK_BYTES + 1))
    (tmp_path / "link").symlink_to(tmp_path / "library")
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    assert level.read_files([tmp_path, tmp_path / "deep"], later()) == 1000 + level.CHUNK_BYTES + 1


def test_reading_ends_when_its_time_is_over(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    assert level.read_files([tmp_path], time.monotonic() - 1.0) == 0


def test_the_toolkit_is_the_one_of_nvcc_and_no_folder_stands_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "targets").mkdir()
    (tmp_path / "include").symlink_to(tmp_path / "targets")
    (tmp_path / "bin" / "nvcc").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    found = [folder for folder in level.folders() if folder.is_relative_to(tmp_path)]
    assert found == [tmp_path / "bin", tmp_path / "targets"]


def test_memory_is_filled_as_far_as_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    n_bytes = 16 << 20
    assert 0.9 * n_bytes < level.fill_memory(n_bytes) <= n_bytes
    monkeypatch.setattr(level, "FILL", "raise SystemExit(1)")
    assert level.fill_memory(n_bytes) == 0
    monkeypatch.setattr(level, "FILL", "import time; time.sleep(60)")
    monkeypatch.setattr(level, "FILL_SECONDS", 0.5)
    assert level.fill_memory(n_bytes) == 0


def test_only_memory_that_may_be_used_is_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(level, "CGROUP_LIMIT", limit)
    assert level.free_bytes() > 1 << 20
    limit.write_text("max\n")
    assert level.free_bytes() > 1 << 20
    limit.write_text("1048576\n")
    assert level.free_bytes() == 1 << 20
