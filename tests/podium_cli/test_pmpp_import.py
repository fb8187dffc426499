"""`podium pmpp import`: a pack, a table, a report, and an exit status."""

import json
import os
import subprocess
from pathlib import Path

from problems.formats.compute_eval.packs import read_problem_pack
from tests.formats.pmpp.layouts import lay_out
from tests.warm_podium import run_podium


def podium(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"NO_COLOR": "1"}
    return run_podium(["pmpp", "import", *words], environment, folder)


def test_a_checkout_becomes_a_pack_and_a_table(tmp_path: Path) -> None:
    lay_out(tmp_path / "checkout", "ch02-scale")
    (lay_out(tmp_path / "checkout", "ch13-scale") / "old.o").write_bytes(b"\177ELF")
    done = podium(tmp_path, "checkout", "--out", "made.tar.gz", "--release", "spring", "--report", "report.json")
    assert (done.returncode, done.stderr) == (0, "made.tar.gz: 2 of 2 tasks imported.\n")
    pack = read_problem_pack(tmp_path / "made.tar.gz")
    assert (pack.metadata.release, len(pack.records)) == ("spring", 2)
    assert "ch13-scale" in done.stdout
    assert "dropped old.o: compiled" in done.stdout
    report = json.loads((tmp_path / "report.json").read_text())
    assert [(task["name"], task["group"], task["refused"]) for task in report] == [
        ("ch02-scale", "ch02", ""),
        ("ch13-scale", "ch13", ""),
    ]
    assert report[1]["dropped"] == [{"path": "old.o", "reason": "compiled"}]


def test_a_task_that_is_left_out_is_named_with_its_place_and_a_remedy(tmp_path: Path) -> None:
    lay_out(tmp_path / "checkout", "ch02-scale")
    lay_out(tmp_path / "checkout", "ch03-bad", Makefile="NVCC = nvcc\nA := $(shell touch ran)\n")
    done = podium(tmp_path, "checkout", "--out", "made.tar.gz")
    assert done.returncode == 1
    assert "ch03-bad/Makefile line 2: `$(shell touch ran)` is a function of make" in done.stderr
    assert "Write its value out." in done.stderr
    assert "1 of 2 tasks imported" in done.stderr
    assert not list(tmp_path.rglob("ran"))


def test_a_folder_without_tasks_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    done = podium(tmp_path, "checkout", "--out", "made.tar.gz")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no task below checkout" in done.stderr
    assert not (tmp_path / "made.tar.gz").exists()
