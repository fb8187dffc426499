"""The report: ratios, goals and words, from made-up rows."""

import json

import pytest

from benchmarks.compute_eval_gpu.record import Part
from benchmarks.compute_eval_gpu.report import AGREEMENT, SPEED, Report, as_json, lines, report_of
from tests.benchmarks.rows import podium, row

OURS = [row("a", 10.0, 10.0, podium=podium(gpu="NVIDIA H200", cpu_cores=16)), row("b", 2.5, 2.5, podium=podium())]
THEIRS = [row("a", 10.1), row("b", 2.0)]


def part(seconds: float, *, ended: bool = True) -> Part:
    return Part(seconds, ended, "abc1234", "2026-11-21T16:00:00+00:00", cpu_seconds=7 * seconds if ended else None)


def measured(rival_s: float, *, ended: bool = True) -> Report:
    parts = {"cold": part(10.0), "warm": part(4.0), "rival": part(rival_s, ended=ended)}
    return report_of(parts, {"cold": OURS, "warm": OURS, "rival": THEIRS if ended else []}, timed=True)


def goals(report: Report) -> dict[tuple[str, str], str]:
    return {(goal.part, goal.name): goal.verdict for goal in report.goals}


def test_goals_are_met_or_not() -> None:
    assert goals(measured(39.0)) == {
        ("cold", SPEED): "not met",
        ("warm", SPEED): "not met",
        ("cold", AGREEMENT): "not met",
        ("warm", AGREEMENT): "not met",
        ("again", AGREEMENT): "not measured",
        ("serial", AGREEMENT): "not measured",
    }
    assert goals(measured(40.0))["cold", SPEED] == "met"
    assert goals(measured(40.0))["warm", SPEED] == "met"


@pytest.mark.parametrize(("again_s", "verdict"), [(3.0, "met"), (4.0, "met"), (4.1, "not met"), (6.0, "not met")])
def test_warm_runs_on_both_sides_of_the_rival_count_by_their_mean(again_s: float, verdict: str) -> None:
    parts = {"cold": part(10.0), "warm": part(4.0), "rival": part(40.0), "again": part(again_s)}
    report = report_of(parts, {"cold": OURS, "warm": OURS, "rival": THEIRS, "again": OURS}, timed=True)
    found = {goal.part: goal for goal in report.goals if goal.name == SPEED}
    assert found["warm and again"].verdict == verdict
    assert found["warm and again"].figure == pytest.approx(40.0 / ((4.0 + again_s) / 2))
    assert "warm" not in found
    assert [one.ratio for one in report.parts] == pytest.approx([4.0, 10.0, None, 40.0 / again_s])


def test_a_rival_cut_off_gives_a_bound() -> None:
    report = measured(39.0, ended=False)
    assert (goals(report)["cold", SPEED], goals(report)["cold", AGREEMENT]) == ("not shown", "not measured")
    assert "at least 3.9" in "\n".join(lines(report))
    assert "not ended after 39.0" in "\n".join(lines(report))
    assert goals(measured(40.0, ended=False))["cold", SPEED] == "met"


def test_the_table_tells_figures_outliers_and_the_machine() -> None:
    text = "\n".join(lines(measured(40.0)))
    assert "GPU NVIDIA H200, driver ?; 16 cores" in text
    assert "1 of 2" in text
    assert "cold, times over ComputeEval's outside 3 %: b 1.250 (2.5 / 2 ms)" in text
    assert "12.0" in text, "two problems in ten seconds are twelve a minute"
    seconds = next(line.split() for line in text.splitlines() if line.startswith("processors' seconds"))
    assert seconds[2:] == ["70", "28", "280"]


def test_where_nothing_was_timed_no_times_are_compared() -> None:
    report = report_of({"cold": part(1.0)}, {"cold": [row("a", podium=podium())]}, timed=False)
    assert set(goals(report).values()) == {"not measured"}


def test_programs_can_read_it() -> None:
    found = json.loads(json.dumps(as_json(measured(40.0))))
    assert found["parts"]["cold"]["ratio"] == pytest.approx(4.0)
    assert found["parts"]["cold"]["times"]["outliers"][0]["task_id"] == "b"
    assert found["goals"][0]["verdict"] == "met"
