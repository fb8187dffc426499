"""The command as a whole: what it refuses, and a run without a GPU."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchmarks.compute_eval_gpu import __main__ as command
from benchmarks.compute_eval_gpu.packs import Packs
from benchmarks.compute_eval_gpu.record import Part, Record, Settings
from benchmarks.compute_eval_gpu.runs import ROOT, Podium, Ran
from problems.formats.compute_eval.packs import read_problem_pack
from problems.spec.skips import Hardware
from tests.benchmarks.checkout import make_checkout, needs_make, some_problems
from tests.benchmarks.rows import podium as podium_part
from tests.benchmarks.rows import row
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
        (["--parts", "rival", "--profile", "none"], "cold, warm and again alone"),
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


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """A machine with a GPU whose Podium takes 4 ms, 0.5 ms and 10.1 ms; what it was asked for beyond the usual."""
    asked: list[tuple[str, ...]] = []

    def evaluate(podium: Podium, part: str, packs: Packs, *more: str) -> Ran:
        asked.append((part, *more))
        times = {"t/1": 4.0, "t/2": 0.5, "t/0": 10.1}
        problems = [record.problem for record in read_problem_pack(packs.problems).records]
        lines = [
            json.dumps(row(one.task_id, times[one.task_id], one.baseline_solution and 4.0, podium=podium_part()))
            for one in problems
        ]
        podium.rows(part).write_text("\n".join(lines) + "\n")
        return Ran(2.0, 3.0)

    monkeypatch.setattr(command, "local_hardware", lambda: Hardware("gpu", "NVIDIA H200", (9, 0), (13, 0)))
    monkeypatch.setattr(Podium, "prepare", lambda podium: None)
    monkeypatch.setattr(Podium, "evaluate", evaluate)
    return asked


@needs_make
def test_all_parts_join_one_report(checkout: Path, tmp_path: Path, pretended: list[tuple[str, ...]]) -> None:
    out = tmp_path / "out"
    given = ["--compute-eval", str(checkout), "--out", str(out), "--problems", "3"]
    assert command.main([*given, "--parts", "again,rival,warm,cold"]) == 0
    assert command.main([*given, "--parts", "serial"]) == 0
    assert pretended == [("cold",), ("warm",), ("again",), ("serial", "--workers", "1", "--arch", "as-written")]
    report = json.loads((out / "report.json").read_text())
    parts = report["parts"]
    graded = {"cold": 3, "warm": 3, "rival": 1, "again": 3, "serial": 2}
    assert {name: part["graded"] for name, part in parts.items()} == graded
    assert parts["cold"]["cpu_seconds"] == 3.0
    assert 0.0 < parts["rival"]["cpu_seconds"] < 60.0
    assert parts["cold"]["ratio"] == parts["rival"]["seconds"] / 2.0
    assert parts["serial"]["ratio"] is None
    assert {name: part["speedups"]["n"] for name, part in parts.items() if name != "rival"} == {
        "cold": 3,
        "warm": 3,
        "again": 3,
        "serial": 0,
    }
    assert parts["serial"]["times"] == {"n": 1, "within": 1, "outliers": []}


@needs_make
def test_what_went_on_from_a_run_goes_with_it(checkout: Path, tmp_path: Path, pretended: list[tuple[str, ...]]) -> None:
    given = ["--compute-eval", str(checkout), "--out", str(tmp_path / "out"), "--problems", "3"]
    assert command.main(given) == 0
    assert command.main([*given, "--parts", "cold"]) == 0
    assert set(json.loads((tmp_path / "out" / "report.json").read_text())["parts"]) == {"cold", "rival"}
    assert not (tmp_path / "out" / "serial.jsonl").exists()


@pytest.mark.parametrize(("minutes", "seconds", "is_late"), [(49, 2, False), (51, 2, True), (41, 600, True)])
def test_a_second_run_begins_while_the_firsts_baselines_hold(
    checkout: Path,
    tmp_path: Path,
    pretended: list[tuple[str, ...]],
    capsys: pytest.CaptureFixture[str],
    minutes: int,
    seconds: float,
    is_late: bool,
) -> None:
    """`minutes` ago the first run ended, which had taken `seconds`."""
    given = ["--compute-eval", str(checkout), "--out", str(tmp_path / "out"), "--problems", "3"]
    assert command.main([*given, "--parts", "cold,warm"]) == 0
    path = tmp_path / "out" / "parts.json"
    known = json.loads(path.read_text())
    ended = datetime.fromisoformat(known["parts"]["cold"]["finished_at"]) - timedelta(minutes=minutes)
    known["parts"]["cold"] |= {"finished_at": ended.isoformat(), "seconds": seconds}
    path.write_text(json.dumps(known))
    capsys.readouterr()
    assert command.main([*given, "--parts", "again,serial"]) == is_late
    told = capsys.readouterr().err
    assert ("again: not run. Part cold began 51 minutes ago" in told) == is_late
    assert [part for part, *_ in pretended] == ["cold", "warm", *([] if is_late else ["again"]), "serial"]
    kept = {"cold", "warm", "serial", *([] if is_late else ["again"])}
    assert set(json.loads(path.read_text())["parts"]) == kept, "what was measured stays"


def test_without_times_a_second_run_is_never_too_late(tmp_path: Path) -> None:
    record = Record(tmp_path, Settings("2026-1", 3, 1, "none"))
    record.parts["cold"] = Part(2.0, True, "unknown", "2020-05-04T12:00:00+00:00")
    later = datetime(2020, 5, 4, 14, tzinfo=UTC)
    assert record.why_too_late("warm", later) == ""
    assert Record(tmp_path, Settings("2026-1", 3, 1, "cupti"), record.parts).why_too_late("warm", later)


def test_it_can_be_interrupted(checkout: Path, tmp_path: Path) -> None:
    given = ["--compute-eval", checkout, "--out", tmp_path / "out", "--problems", "3", "--profile", "none"]
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.compute_eval_gpu", *map(str, given), "--parts", "cold"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout
    assert process.stdout.readline() == "— cold\n"
    process.terminate()
    told, complaint = process.communicate()
    assert (process.returncode, complaint) == (3, "Interrupted; the parts that ended are kept.\n")
    assert "goals" in told, "what the folder holds is told all the same"
    assert json.loads((tmp_path / "out" / "parts.json").read_text())["parts"] == {}
