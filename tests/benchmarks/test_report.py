"""The report of a folder, from made-up runs, rows and events."""

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from benchmarks.compute_eval_gpu.record import FolderSettings, Piece, Record, RunKey, RunRecord
from benchmarks.compute_eval_gpu.report import Goal, report_of
from tests.benchmarks.rows import ran, row, turn, write_lines

Put = Callable[..., RunKey]
EVEN = [row("a", 10.0, 10.0), row("b", 2.0, 2.5)]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record.open(tmp_path / "out", FolderSettings("2026-1", 60, "cupti"))


@pytest.fixture
def put(record: Record) -> Put:
    """Notes a run; `seconds` are those of its processes, each of which used twice as much processor time."""

    def put(
        part: str,
        seed: int,
        *seconds: float,
        commit: str = "new",
        repeat: int = 1,
        ended: bool = True,
        rows: Sequence[dict[str, Any]] = EVEN,
        machine: str = "m1",
    ) -> RunKey:
        key = RunKey(part, seed, repeat, commit)
        pieces = [
            Piece("2026-11-22T10:00:00+00:00", "podium evaluate", one, 2 * one, "NVIDIA H200", 4, machine)
            for one in seconds
        ]
        record.put(RunRecord(key, tuple(pieces), ended))
        write_lines(record.rows(key), rows)
        return key

    return put


def goals(record: Record) -> list[Goal]:
    return list(report_of(record, "new").goals)


def lines(record: Record) -> str:
    return "\n".join(report_of(record, "new").lines)


def test_a_run_stands_beside_the_larger_of_device_and_processor_seconds(record: Record, put: Put) -> None:
    busy, idle = put("first", 1, 100.0), put("second", 1, 40.0)
    for key, until_s in ((busy, 31.0), (idle, 36.0)):
        write_lines(record.events(key, 0), [turn("open", "a", 1.0), turn("close", "a", until_s)])
    found = report_of(record, "new").runs
    assert [(one["device_seconds"], one["cpu_seconds_per_core"], one["bound_seconds"]) for one in found] == [
        (30.0, 50.0, 50.0),
        (35.0, 20.0, 35.0),
    ]


def test_a_run_without_events_has_no_bound(record: Record, put: Put) -> None:
    put("first", 1, 100.0, commit="old")
    assert report_of(record, "new").runs[0]["bound_seconds"] == ""


def test_the_processes_of_a_run_that_was_cut_off_are_added(record: Record, put: Put) -> None:
    key = put("ranked", 1, 100.0, 50.0)
    for piece in (0, 1):
        write_lines(record.events(key, piece), [ran("benchmark", "a", 0.0, 10.0)])
    run = report_of(record, "new").runs[0]
    assert (run["seconds"], run["processes"], run["device_seconds"]) == (150.0, 2, 20.0)


def test_quick_is_judged_over_all_first_and_second_runs_of_this_version(record: Record, put: Put) -> None:
    good = [row(f"t/{index}", 1.0, 1.02) for index in range(10)]
    put("first", 1, 10.0, rows=[*good, row("off", 1.0, 2.0), row("short", 0.05, 1.0)])
    put("second", 1, 10.0, rows=[*good, row("even", 1.0, 1.0)])
    put("first", 1, 10.0, commit="old", rows=[row("off", 1.0, 2.0)])
    quick = goals(record)[0]
    assert quick.words.startswith("quick, runs: 2; 21 of 22 speedups within 3% of 1")
    assert (quick.figure, quick.is_met) == (pytest.approx(21 / 22), True)
    put("second", 1, 10.0, rows=[row("off", 1.0, 2.0)])
    assert goals(record)[0].is_met is False


def test_ranked_is_judged_by_itself_and_more_strictly(record: Record, put: Put) -> None:
    assert [goal.is_met for goal in goals(record)] == [None, None]
    put("ranked", 1, 10.0, rows=[row("a", 1.0, 1.005), row("b", 1.0, 1.02), row("c", 0.5, 0.7)])
    ranked = goals(record)[1]
    assert "1 of 2 speedups within 1% of 1, times of at least 1 ms" in ranked.words
    assert ranked.is_met is False


@pytest.mark.parametrize(("seconds", "is_met"), [(124.0, True), (126.0, False)])
def test_the_median_first_run_is_judged_against_an_older_versions(
    record: Record, put: Put, seconds: float, is_met: bool
) -> None:
    for repeat, (own_s, older_s) in enumerate([(50.0, 40.0), (seconds, 100.0), (500.0, 300.0)], 1):
        put("first", 1, own_s, repeat=repeat)
        put("first", 1, older_s, repeat=repeat, commit="old")
    goal = goals(record)[2]
    assert (goal.figure, goal.is_met) == (pytest.approx(seconds / 100.0), is_met)


def test_only_seeds_of_both_versions_and_whole_runs_are_compared(record: Record, put: Put) -> None:
    put("first", 1, 50.0)
    put("first", 1, 40.0, commit="old")
    put("first", 2, 900.0)
    put("first", 1, 300.0, 300.0, repeat=2)
    put("first", 1, 600.0, repeat=3, ended=False)
    assert goals(record)[2].words.startswith("first runs, seeds [1]: median 50.0 s, of old 40.0 s, ratio 1.25 ")


def test_compute_eval_is_compared_with_the_first_runs_of_its_seed(record: Record, put: Put) -> None:
    put("first", 1, 100.0)
    put("first", 2, 10.0)
    put("rival", 1, 400.0, commit="19ba74f", rows=[row("a", 10.1), row("b", 4.0, passed=False)])
    words = report_of(record, "new").rivals[0]
    assert words.startswith("ComputeEval, seed 1: 400.0 s, 4.00 × the median first run; verdicts that differ: b; ")
    assert "1 of 2 times" in words
    assert "outside: b 0.500 (2 / 4 ms)" in words


def test_a_compute_eval_that_was_cut_off_gives_a_bound(record: Record, put: Put) -> None:
    put("first", 1, 100.0)
    put("rival", 1, 540.0, commit="19ba74f", ended=False, rows=[])
    assert report_of(record, "new").rivals == [
        "ComputeEval, seed 1: at least 540.0 s, at least 5.40 × the median first run"
    ]


def test_a_reader_sees_runs_goals_and_what_lies_outside(record: Record, put: Put) -> None:
    put("first", 7, 100.0)
    text = lines(record)
    head, cells = (line.split() for line in text.splitlines()[:2])
    assert dict(zip(head[:6], cells, strict=False)) == {
        "part": "first", "seed": "7", "repeat": "1", "commit": "new", "seconds": "100.0", "ended": "yes",
    }  # fmt: skip
    assert "not met      quick, runs: 1; 1 of 2" in text
    assert "first-7-1-new, outside: b 1.250 (2 / 2.5 ms)" in text


def test_where_nothing_was_timed_nothing_is_judged(tmp_path: Path) -> None:
    record = Record.open(tmp_path / "untimed", FolderSettings("2026-1", 60, "none"))
    key = RunKey("first", 1, 1, "new")
    record.put(RunRecord(key, (Piece("2026-11-22T10:00:00+00:00", "podium evaluate", 1.0, 2.0, "", 4, "m"),), True))
    write_lines(record.rows(key), EVEN)
    report = report_of(record, "new")
    assert (report.goals[0].is_met, report.runs[0]["speedups"]) == (None, "")


def test_programs_can_read_it_as_json_and_csv(record: Record, put: Put, tmp_path: Path) -> None:
    put("first", 1, 100.0)
    put("second", 1, 50.0, machine="m2")
    report = report_of(record, "new")
    assert json.loads(json.dumps(asdict(report)))["runs"][0]["seconds"] == 100.0
    report.write_csv(tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(one["part"], one["machine"], one["date"], one["commit"], one["command"]) for one in rows] == [
        ("first", "1", "2026-11-22", "new", "podium evaluate"),
        ("second", "2", "2026-11-22", "new", "podium evaluate"),
    ]
    assert rows[0]["hardware"] == "NVIDIA H200"
