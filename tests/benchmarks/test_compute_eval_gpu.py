"""The command as a whole: what it refuses, which runs it makes and how it goes on."""

import inspect
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.compute_eval_gpu import __main__ as command
from benchmarks.compute_eval_gpu import machine
from podium.evaluation.evaluate import evaluate
from problems.spec.hardware import Hardware
from tests.benchmarks.checkout import make_checkout, needs_make, some_problems
from tests.benchmarks.stand_in import calls, make_tree
from tests.requirements import requires

pytestmark = pytest.mark.rest

THIS = Path(command.THIS)
Bench = Callable[..., int]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "checkout", some_problems(3))


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one sentence that the command refuses with."""
    assert command.main([str(one) for one in arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    return told.err


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = refusal(capsys, "--compute-eval", tmp_path, "--out", tmp_path / "out")
    assert "is no checkout of ComputeEval" in words
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--release", "2031-1"], "no release 2031-1"),
        (["--problems", "4"], "the release has 3"),
        (["--parts", "first,hot"], "'hot'"),
        (["--seeds", "1,x"], "'1,x'"),
        (["--rival-workers", "0"], "must be positive"),
        (["--limit-seconds", "0"], "must be positive"),
        (["--repeats", "0"], "must be positive"),
        (["--parts", "rival", "--profile", "none"], "only the parts first and second"),
        (["--podium", "/nowhere", "--problems", "3"], "no source tree of Podium"),
        (["--podium", str(THIS), "--problems", "3"], "the same version"),
    ],
)
def test_bad_options_are_refused(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], words: str
) -> None:
    assert words in refusal(capsys, "--compute-eval", checkout, "--out", tmp_path / "out", *more)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("hardware", "words"),
    [
        (Hardware("cpu", toolkit=(13, 0)), "no NVIDIA GPU"),
        (Hardware("gpu", "NVIDIA H200", (9, 0)), "no nvcc on PATH"),
    ],
)
def test_a_machine_that_cannot_take_times_is_refused(
    checkout: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    hardware: Hardware,
    words: str,
) -> None:
    monkeypatch.setattr(machine, "local_hardware", lambda: hardware)
    assert words in refusal(capsys, "--compute-eval", checkout, "--out", tmp_path / "out", "--problems", "3")
    assert not (tmp_path / "out").exists()


def test_a_folder_of_other_things_is_left_alone(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out" / "var").mkdir(parents=True)
    given = ["--compute-eval", checkout, "--out", tmp_path / "out", "--problems", "3", "--profile", "none"]
    assert "neither empty nor" in refusal(capsys, *given, "--parts", "first")
    assert (tmp_path / "out" / "var").is_dir()


def test_all_compiler_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gcc" / "deep").mkdir(parents=True)
    (tmp_path / "gcc" / "deep" / "a header.h").touch()
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "cat"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/read\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setattr(machine, "COMPILER_FOLDERS", (str(tmp_path / "gcc"),))
    machine.read_compilers()
    assert f"{tmp_path}/gcc/deep/a header.h\n" in (tmp_path / "read").read_text()


@pytest.fixture
def bench(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The command on a machine that pretends to have a GPU, with a stand-in for this version of Podium."""
    empty = tmp_path / "no-compilers"
    empty.mkdir()
    monkeypatch.setattr(machine, "COMPILER_FOLDERS", (str(empty),))
    monkeypatch.setattr(machine, "local_hardware", lambda: Hardware("gpu", "NVIDIA H200", (9, 0), (13, 0)))
    monkeypatch.setattr(command, "THIS", make_tree(tmp_path / "new"))
    given = ["--compute-eval", str(checkout), "--out", str(tmp_path / "out"), "--problems", "3"]
    return lambda *more: command.main([*given, *map(str, more)])


def report(tmp_path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tmp_path / "out" / "report.json").read_text())
    return found


def test_each_seed_runs_first_and_second_on_the_same_builds_and_then_the_older_version(
    bench: Bench, tmp_path: Path
) -> None:
    older = make_tree(tmp_path / "old")
    assert bench("--parts", "first,second", "--seeds", "1,2", "--repeats", "2", "--podium", older) == 0
    expected = [
        run
        for repeat in (1, 2)
        for seed in (1, 2)
        for run in (
            ("new", f"first-{seed}-{repeat}-new", "new", ""),
            ("new", f"second-{seed}-{repeat}-new", "built", ""),
            ("old", f"first-{seed}-{repeat}-old", "new", ""),
        )
    ]
    assert calls(tmp_path) == expected
    found = report(tmp_path)
    assert {(run["commit"], run["device_seconds"]) for run in found["runs"]} == {("new", 2.0), ("old", "")}
    quick, _, ratio = found["goals"]
    assert quick["words"].startswith("quick, runs: 8; 16 of 16 ")
    assert "of old" in ratio["words"]
    assert len((tmp_path / "out" / "runs.csv").read_text().splitlines()) == 13


def test_a_run_that_has_ended_is_not_run_again(bench: Bench, tmp_path: Path) -> None:
    assert bench("--parts", "first", "--seeds", "1") == 0
    assert bench("--parts", "first,second", "--seeds", "1,2") == 0
    assert [run for _, run, *_ in calls(tmp_path)] == [
        "first-1-1-new", "second-1-1-new", "first-2-1-new", "second-2-1-new",
    ]  # fmt: skip


def test_other_settings_need_another_folder(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench("--parts", "first") == 0
    assert bench("--parts", "first", "--problems", "2") == 2
    assert "holds runs with other settings" in capsys.readouterr().err


@pytest.mark.rest
def test_a_run_that_the_limit_cuts_off_goes_on_with_what_it_has(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new" / "slow").touch()
    assert bench("--parts", "first", "--limit-seconds", "3") == 0
    assert "cut off" in capsys.readouterr().out
    cut = report(tmp_path)["runs"][0]
    assert (cut["ended"], cut["graded"]) == ("no", 1), "what was graded is reported"
    (tmp_path / "new" / "slow").unlink()
    assert bench("--parts", "first", "--limit-seconds", "60") == 0
    run = report(tmp_path)["runs"][0]
    assert (run["ended"], run["graded"], run["processes"], run["device_seconds"]) == ("yes", 3, 2, 4.0)
    assert [builds for _, _, builds, _ in calls(tmp_path)] == ["new", "built"]


def test_a_run_that_took_longer_than_is_left_is_not_begun(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench("--parts", "first") == 0
    path = tmp_path / "out" / "runs.json"
    known = json.loads(path.read_text())
    known["runs"][0]["pieces"][0]["seconds"] = 100.0
    path.write_text(json.dumps(known))
    assert bench("--parts", "first", "--repeats", "2", "--limit-seconds", "99") == 0
    assert "first-2026-2-new: not run, the time is over: it takes about 100 s" in capsys.readouterr().out
    assert len(calls(tmp_path)) == 1


def test_a_second_run_needs_the_builds_of_its_first_run(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench("--parts", "second") == 0
    assert "its first run has not ended" in capsys.readouterr().out
    assert bench("--parts", "first") == 0
    shutil.rmtree(tmp_path / "out" / "var")
    assert bench("--parts", "second") == 0
    assert "the builds of its first run are gone" in capsys.readouterr().out
    assert [run["part"] for run in report(tmp_path)["runs"]] == ["first"]


def test_ranked_times_the_problems_that_first_runs_found_long_enough(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench("--parts", "ranked") == 0
    assert "not all first runs of seeds 2026 have ended" in capsys.readouterr().out
    assert bench("--parts", "first,ranked", "--ranked-seed", "5") == 0
    assert calls(tmp_path)[-1] == ("new", "ranked-5-1-new", "new", "ranked")
    found = report(tmp_path)
    draw = found["draws"][0]
    assert (draw["seed"], draw["from_seeds"], draw["candidates"], sorted(draw["tasks"])) == (
        5, [2026], 2, ["t/1", "t/2"],
    )  # fmt: skip
    assert found["goals"][1]["words"].startswith("ranked, runs: 1; 2 of 2 ")


@needs_make
def test_compute_eval_joins_the_report(bench: Bench, tmp_path: Path) -> None:
    assert bench("--parts", "first,rival") == 0
    found = report(tmp_path)
    assert [run["part"] for run in found["runs"]] == ["first", "rival"]
    assert found["runs"][1]["graded"] == 1
    assert "× the median first run; verdicts that differ: none" in found["rivals"][0]


def test_a_run_that_fails_says_why_and_begins_anew(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new" / "fails").write_text("out of luck")
    assert bench("--parts", "first") == 1
    assert "first-2026-1-new-0: podium ended with exit status 1:\nout of luck" in capsys.readouterr().err
    (tmp_path / "new" / "fails").unlink()
    assert bench("--parts", "first") == 0
    assert [builds for _, _, builds, _ in calls(tmp_path)] == ["new", "new"]


def test_samples_that_could_not_be_graded_do_not_fail_a_run(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "new" / "fails").write_text("3 samples could not be graded on this machine")
    assert bench("--parts", "first") == 0
    assert (report(tmp_path)["runs"][0]["ended"], report(tmp_path)["runs"][0]["graded"]) == ("yes", 0)


def test_it_can_be_interrupted(checkout: Path, tmp_path: Path) -> None:
    given = ["--compute-eval", checkout, "--out", tmp_path / "out", "--problems", "3", "--profile", "none"]
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.compute_eval_gpu", *map(str, given), "--parts", "first"],
        cwd=THIS, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout
    assert process.stdout.readline().startswith("— first-2026-1-")
    process.terminate()
    told, complaint = process.communicate()
    assert (process.returncode, complaint) == (3, "Interrupted; the runs that ended are kept.\n")
    assert "quick, runs: 0" in told, "what the folder holds is told all the same"
    assert json.loads((tmp_path / "out" / "runs.json").read_text())["runs"] == []


@pytest.mark.rest
@requires("bubblewrap")
@pytest.mark.skipif("events" not in inspect.signature(evaluate).parameters, reason="needs podium evaluate --events")
def test_without_a_gpu_podium_is_run_and_nothing_is_judged(checkout: Path, tmp_path: Path) -> None:
    given = ["--compute-eval", str(checkout), "--out", str(tmp_path / "out"), "--problems", "3", "--profile", "none"]
    assert command.main([*given, "--parts", "first,second"]) == 0
    found = report(tmp_path)
    assert [(run["part"], run["graded"], run["passed"]) for run in found["runs"]] == [("first", 3, 3), ("second", 3, 3)]
    assert [goal["is_met"] for goal in found["goals"]] == [None, None]
    assert found["runs"][0]["builds_seconds"] != ""
