"""Graded rows: speedups against 1, and times and verdicts against another evaluator's."""

from pathlib import Path

import pytest

from benchmarks.compute_eval_gpu.compare import (
    QUICK,
    RANKED,
    Counts,
    counts,
    differing_verdicts,
    pooled,
    read_rows,
    speedups,
    times,
)
from tests.benchmarks.rows import row


def test_samples_are_counted_by_how_they_ended() -> None:
    rows = [
        row("a", podium={"flags": []}),
        row("b", podium={"flags": [{"code": "times_differ"}]}),
        row("c", passed=False),
        row("d", passed=False, skipped=True),
    ]
    assert counts(rows) == Counts(graded=4, passed=2, skipped=1, flagged=1)


@pytest.mark.parametrize(("baseline_ms", "is_outside"), [(9.69, True), (9.71, False), (10.29, False), (10.31, True)])
def test_a_quick_speedup_lies_within_three_percent_of_1_or_outside(baseline_ms: float, is_outside: bool) -> None:
    found = speedups([row("a", 10.0, baseline_ms)], QUICK)
    assert (found.n, found.n_within) == (1, 0 if is_outside else 1)


@pytest.mark.parametrize(("baseline_ms", "is_outside"), [(9.89, True), (9.91, False), (10.09, False), (10.11, True)])
def test_a_ranked_speedup_lies_within_one_percent_of_1_or_outside(baseline_ms: float, is_outside: bool) -> None:
    found = speedups([row("a", 10.0, baseline_ms)], RANKED)
    assert (found.n, found.n_within) == (1, 0 if is_outside else 1)


def test_speedups_of_short_times_are_not_looked_at() -> None:
    rows = [row("short", 0.09, 0.2), row("least", 0.1, 0.1), row("ms", 1.0, 1.0), row("untimed")]
    assert (speedups(rows, QUICK).n, speedups(rows, RANKED).n) == (2, 1)


def test_what_lies_outside_is_listed_with_both_times_the_smallest_ratio_first() -> None:
    found = speedups([row("a", 20.0, 30.0), row("b", 10.0, 5.0), row("c", 1.0, 1.0)], QUICK).outside
    assert [(one.task_id, one.ratio, one.ms, one.other_ms) for one in found] == [
        ("b", 0.5, 10.0, 5.0),
        ("a", 1.5, 20.0, 30.0),
    ]


def test_runs_are_pooled_into_one_share() -> None:
    runs = [[row("a", 1.0, 1.0), row("b", 1.0, 2.0)], [row("a", 1.0, 1.0), row("b", 1.0, 1.0)]]
    found = pooled([speedups(rows, QUICK) for rows in runs], QUICK)
    assert (found.n, found.share) == (4, 0.75)
    assert pooled([], QUICK).share is None


def test_verdicts_differ_where_both_gave_one() -> None:
    ours = [row("same"), row("ours"), row("only-here")]
    assert differing_verdicts(ours, [row("same"), row("ours", passed=False), row("only-there")]) == ["ours"]


def test_times_are_compared_where_both_have_one_and_theirs_is_not_short() -> None:
    ours = [row("short", 5.0), row("least", 1.0), row("far", 4.0), row("untimed"), row("ours", 9.0)]
    theirs = [row("short", 0.99), row("least", 1.0), row("far", 5.0), row("untimed", 9.0), row("theirs", 9.0)]
    found = times(ours, theirs)
    assert (found.n, [one.task_id for one in found.outside]) == (2, ["far"])


def test_no_file_has_no_rows_and_a_line_cut_short_is_none(tmp_path: Path) -> None:
    assert read_rows(tmp_path / "none.jsonl") == []
    (tmp_path / "cut.jsonl").write_text('{"task_id": "a"}\n{"task_')
    assert read_rows(tmp_path / "cut.jsonl") == [{"task_id": "a"}]
