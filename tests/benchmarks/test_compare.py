"""Rows against another evaluator's rows."""

from pathlib import Path

import pytest

from benchmarks.compute_eval_gpu.compare import Counts, counts, differing_verdicts, read_rows, speedups, times
from tests.benchmarks.rows import podium, row


def test_samples_are_counted_by_how_they_ended() -> None:
    rows = [
        row("a", podium=podium("0123@GPU-1@here@2026-11-21T16")),
        row("b", podium=podium("0123@GPU-1@here@alone@2026-11-21T16", ("times_differ",))),
        row("c", passed=False, podium=podium()),
        row("d", passed=False, skipped=True, podium=podium()),
    ]
    assert counts(rows) == Counts(graded=4, passed=2, skipped=1, flagged=1, alone=1)


def test_rows_of_others_say_nothing_of_flags() -> None:
    assert counts([row("a")]) == Counts(graded=1, passed=1, skipped=0, flagged=0, alone=0)


def test_verdicts_differ_where_both_gave_one() -> None:
    ours = [row("same"), row("ours"), row("only-here")]
    assert differing_verdicts(ours, [row("same"), row("ours", passed=False), row("only-there")]) == ["ours"]


@pytest.mark.parametrize(("ms", "is_outlier"), [(96.9, True), (97.1, False), (102.9, False), (103.1, True)])
def test_a_time_is_within_three_percent_or_an_outlier(ms: float, is_outlier: bool) -> None:
    found = times([row("a", ms)], [row("a", 100.0)])
    assert (found.n, found.n_within) == (1, 0 if is_outlier else 1)


def test_short_times_and_those_of_one_side_are_not_compared() -> None:
    ours = [row("short", 5.0), row("least", 1.0), row("untimed"), row("ours", 9.0)]
    theirs = [row("short", 0.99), row("least", 1.0), row("untimed", 9.0), row("theirs", 9.0)]
    assert times(ours, theirs).n == 1


def test_outliers_tell_both_times_the_smallest_ratio_first() -> None:
    found = times([row("a", 30.0), row("b", 5.0)], [row("a", 20.0), row("b", 10.0)]).outliers
    assert [(one.task_id, one.ratio, one.ms, one.other_ms) for one in found] == [
        ("b", 0.5, 5.0, 10.0),
        ("a", 1.5, 30.0, 20.0),
    ]


def test_speedups_are_held_against_one() -> None:
    found = speedups([row("even", 10.0, 10.1), row("fast", 10.0, 15.0), row("untimed")])
    assert (found.n, [one.task_id for one in found.outliers]) == (2, ["fast"])


def test_no_file_has_no_rows(tmp_path: Path) -> None:
    assert read_rows(tmp_path / "none.jsonl") == []
