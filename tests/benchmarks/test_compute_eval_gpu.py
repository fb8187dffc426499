"""The command as a whole: what it refuses, and a run without a GPU."""

import json
from pathlib import Path

import pytest

from benchmarks.compute_eval_gpu import __main__ as command
from problems.spec.skips import Hardware
from tests.benchmarks.checkout import make_checkout, some_problems
from tests.requirements import requires


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


def test_what_is_no_checkout_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = refusal(capsys, "--compute-eval", tmp_path, "--out", tmp_path / "out")
    assert "is no checkout of ComputeEval" in words
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--release", "2031-1"], "no release 2031-1"),
        (["--problems", "4"], "the release has 3"),
        (["--parts", "cold,hot"], "'hot'"),
        (["--rival-workers", "0"], "must be positive"),
        (["--rival-limit-seconds", "0"], "must be positive"),
        (["--parts", "rival", "--profile", "none"], "cold and warm alone"),
        (["--parts", "warm", "--profile", "none", "--problems", "3"], "goes on from part cold"),
    ],
)
def test_bad_options_are_refused(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], words: str
) -> None:
    assert words in refusal(capsys, "--compute-eval", checkout, "--out", tmp_path / "out", *more)


@pytest.mark.parametrize(
    ("hardware", "words"),
    [
        (Hardware("cpu", toolkit=(13, 0)), "no NVIDIA GPU"),
        (Hardware("gpu", "NVIDIA H200", (9, 0)), "no nvcc on PATH"),
    ],
)
def test_a_machine_that_lacks_something_is_told_so(
    checkout: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    hardware: Hardware,
    words: str,
) -> None:
    monkeypatch.setattr(command, "local_hardware", lambda: hardware)
    assert words in refusal(capsys, "--compute-eval", checkout, "--out", tmp_path / "out", "--problems", "3")
    assert not (tmp_path / "out").exists()


def test_a_folder_of_other_things_is_left_alone(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out" / "var").mkdir(parents=True)
    given = ["--compute-eval", checkout, "--out", tmp_path / "out", "--problems", "3", "--profile", "none"]
    assert "neither empty nor" in refusal(capsys, *given, "--parts", "cold")
    assert (tmp_path / "out" / "var").is_dir()


@requires("bubblewrap")
def test_without_a_gpu_podium_is_run_and_nothing_is_compared(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    given = ["--compute-eval", str(checkout), "--out", str(out), "--problems", "3", "--profile", "none"]
    assert command.main([*given, "--parts", "cold", "--trace"]) == 0
    told = capsys.readouterr().out
    assert "3 builds from" in told
    assert "no times are compared" in told
    assert command.main([*given, "--parts", "warm"]) == 0
    capsys.readouterr()
    report = json.loads((out / "report.json").read_text())
    found = {name: (part["graded"], part["passed"]) for name, part in report["parts"].items()}
    assert found == {"cold": (3, 3), "warm": (3, 3)}
    assert report["timelines"]["cold"]["tests"] == 3
    assert "other settings" in refusal(capsys, *given[:-4], "--problems", "2", "--profile", "none", "--parts", "cold")


@requires("bubblewrap")
def test_a_part_that_fails_says_why(checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    given = ["--compute-eval", str(checkout), "--out", str(out), "--problems", "3", "--profile", "none"]
    measure = command._measure(command._parser().parse_args([*given, "--parts", "cold"]))
    measure.packs.solutions.write_text("no pack")
    with pytest.raises(command.PartFailed, match="cold: podium ended with exit status 2"):
        measure.run()
    assert measure.record.parts == {}
