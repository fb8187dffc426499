"""Tensara's engine against Podium's judge: what is asked of the engine, what its events mean, and what is printed."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.tensara_rival import stand_ins
from benchmarks.tensara_rival.__main__ import measure, read_rows
from benchmarks.tensara_rival.engine import TensaraEngine, read_events, row_of
from benchmarks.tensara_rival.podium_side import row_of as podium_row_of
from benchmarks.tensara_rival.solutions import Solution, solutions
from benchmarks.tensara_rival.table import lines, summary, table
from tests.benchmarks.tensara_engine import make_engine, make_solutions
from tests.requirements import requires

ROOT = Path(__file__).parents[2]
OURS = ROOT / "benchmarks" / "tensara_solutions"


@pytest.fixture
def engine(tmp_path: Path) -> TensaraEngine:
    return TensaraEngine(make_engine(tmp_path / "tensara"), tmp_path / "problems", "H200", limit_s=30)


def answer(engine: TensaraEngine, tmp_path: Path, text: str) -> dict[str, Any]:
    (one,) = solutions(make_solutions(tmp_path, honest_plain=text))
    return engine.row(one, 0)


def test_a_solution_is_credited_when_its_benchmark_ended(engine: TensaraEngine, tmp_path: Path) -> None:
    row = answer(engine, tmp_path, "adds")
    assert (row["verdict"], row["phase"], row["credited"], row["reason"]) == ("BENCHMARKED", "benchmark", True, "")
    assert row["ms"] == {"small": 2.0, "large": 4.0}
    assert row["runs_ms"] == {"small": [2.0], "large": [4.0]}
    assert row["sm_clock_mhz"] == {"small": 1980, "large": 1980}
    assert row["published_ms"] == pytest.approx(8**0.5)
    assert 0 < row["seconds"] < row["whole_seconds"]
    assert sum(row["phase_seconds"].values()) == pytest.approx(row["seconds"], abs=0.1)


@pytest.mark.parametrize(
    ("text", "verdict", "phase", "reason"),
    [
        ("is wrong", "WRONG_ANSWER", "checker", "{'max_difference': 2.0}"),
        ("changes nothing", "WRONG_ANSWER", "benchmark", "{'message': 'Mismatched checksum'}"),
        ("does not compile", "COMPILE_ERROR", "checker", "NVCC Compilation Failed error: for H200"),
        ("dies", "TIME_LIMIT_EXCEEDED", "checker", "Time Limit Exceeded"),
    ],
)
def test_a_refusal_is_told_in_the_engines_own_words(
    engine: TensaraEngine, tmp_path: Path, text: str, verdict: str, phase: str, reason: str
) -> None:
    row = answer(engine, tmp_path, text)
    assert (row["verdict"], row["phase"], row["credited"], row["reason"]) == (verdict, phase, False, reason)
    assert row["published_ms"] is None


def test_an_engine_that_fails_is_a_fault_with_the_cause(engine: TensaraEngine, tmp_path: Path) -> None:
    row = answer(engine, tmp_path, "the server fails")
    assert (row["verdict"], row["credited"], row["seconds"]) == ("fault", False, None)
    assert "exit status 1" in row["reason"]
    assert "the server failed" in row["reason"]


def test_a_gpu_that_the_engine_does_not_know_is_a_fault(tmp_path: Path) -> None:
    engine = TensaraEngine(make_engine(tmp_path / "tensara"), tmp_path / "problems", "Z1")
    assert "GPU 'Z1' not supported" in answer(engine, tmp_path, "adds")["reason"]


def test_an_engine_that_hangs_is_ended(tmp_path: Path) -> None:
    checkout = make_engine(tmp_path / "tensara")
    (checkout / "engine" / "utils.py").write_text("import time\ntime.sleep(60)\n")
    row = answer(TensaraEngine(checkout, tmp_path / "problems", "H200", limit_s=1), tmp_path, "adds")
    assert (row["verdict"], row["reason"][:18]) == ("fault", "no end within 1 s:")


def test_a_checkout_without_an_engine_is_a_fault(tmp_path: Path) -> None:
    row = answer(TensaraEngine(tmp_path, tmp_path / "problems", "H200"), tmp_path, "adds")
    assert (row["verdict"], "No module named 'utils'" in row["reason"]) == ("fault", True)


def test_an_event_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    line = {"phase": "checker", "at_s": 1.0, "event": {"status": "CHECKING"}}
    file.write_text(json.dumps(line) + "\n" + '{"phase": "chec')
    assert read_events(file) == [line]
    assert row_of([line], "exit status -9: ")["verdict"] == "fault"
    assert row_of([])["verdict"] == "fault"


def test_a_check_that_ended_is_no_credit() -> None:
    row = row_of([{"phase": "checker", "at_s": 1.0, "event": {"status": "CHECKED"}}])
    assert (row["verdict"], row["credited"]) == ("CHECKED", False)


def test_missing_modules_are_replaced_and_present_ones_kept(tmp_path: Path) -> None:
    (tmp_path / "simplejson.py").write_text("")
    (tmp_path / "modal.py").write_text("raise RuntimeError('would rent a GPU')")
    code = (
        "from benchmarks.tensara_rival.stand_ins import put_stand_ins; print(*put_stand_ins());"
        "import modal; from fastapi import FastAPI; from fastapi.responses import StreamingResponse;"
        "print(modal.App('a').function(gpu='H200')(len).remote_gen('abc'))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}"},
        capture_output=True,
        text=True,
        check=True,
    )
    names, length = found.stdout.splitlines()
    assert {"fastapi", "fastapi.responses", "modal"} <= set(names.split())
    assert "simplejson" not in names
    assert length == "3"


def test_a_stand_in_answers_every_call_and_has_no_hidden_attribute() -> None:
    assert isinstance(stand_ins.Anything().from_registry("x", add_python="3").env({}), stand_ins.Anything)
    assert not hasattr(stand_ins.Anything(), "__fspath__")


class Counting:
    """An engine that counts its submissions and fails at those of solutions that say so."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def row(self, solution: Solution, repeat: int) -> dict[str, Any]:
        self.asked.append((solution.name, repeat))
        if "fails" in solution.content(repeat):
            raise RuntimeError("no GPU left")
        return {"verdict": "ok", "credited": True, "seconds": 1.0, "ms": {"a": 1.0}}


def test_rows_that_are_there_are_not_measured_again(tmp_path: Path) -> None:
    found = solutions(make_solutions(tmp_path, honest_plain="adds", attack_one="cheats"))
    out = tmp_path / "rows.jsonl"
    first, second, third = Counting(), Counting(), Counting()
    measure({"tensara": first}, found, 1, out, 60)
    measure({"tensara": second, "podium": third}, found, 2, out, 60)
    assert first.asked == [("honest-plain.cu", 0), ("attack-one.cu", 0)]
    assert second.asked == [("honest-plain.cu", 1), ("attack-one.cu", 1)]
    assert len(third.asked) == 4
    assert len(read_rows(out)) == 8


def test_a_fault_in_one_row_does_not_end_the_run(tmp_path: Path) -> None:
    found = solutions(make_solutions(tmp_path, attack_fails="fails", honest_plain="adds"))
    measure({"tensara": Counting()}, found, 1, tmp_path / "rows.jsonl", 60)
    verdicts = {row["solution"]: (row["verdict"], row["credited"]) for row in read_rows(tmp_path / "rows.jsonl")}
    assert verdicts == {"honest-plain.cu": ("ok", True), "attack-fails.cu": ("fault", False)}


def test_no_submission_begins_after_the_limit(tmp_path: Path) -> None:
    engine = Counting()
    measure({"tensara": engine}, solutions(make_solutions(tmp_path, honest_a="adds")), 3, tmp_path / "rows", -1)
    assert engine.asked == []


def test_both_engines_get_their_turns_and_the_table_is_printed(engine: TensaraEngine, tmp_path: Path) -> None:
    found = solutions(make_solutions(tmp_path, honest_plain="adds", attack_sum="cheats"))
    measure({"tensara": engine, "podium": Counting()}, found, 1, tmp_path / "rows.jsonl", 60)
    rows = read_rows(tmp_path / "rows.jsonl")
    assert [row["engine"] for row in rows] == ["tensara", "podium"] * 2
    by_name = {(one.solution, one.engine): one for one in lines(rows)}
    assert by_name["attack-sum.cu", "tensara"].times_honest == pytest.approx(4)
    assert "1 of 1 attacks credited, 1 attacks faster" in summary(lines(rows), "tensara")


def row(solution: str, ms: dict[str, float] | None, seconds: float | None = 1.0, **changes: Any) -> dict[str, Any]:
    verdict = {"verdict": "passed" if ms else "wrong_answer", "credited": bool(ms), "ms": ms or {}, "seconds": seconds}
    key = {"problem": "add", "solution": solution, "kind": solution.partition("-")[0], "engine": "podium", "repeat": 0}
    return {**key, **verdict, **changes}


def test_a_line_has_the_medians_and_the_spread_of_its_repeats() -> None:
    rows = [row("honest-a.cu", {"x": ms, "y": 4 * ms}, seconds) for ms, seconds in ((1.0, 5.0), (1.1, 9.0), (0.9, 6.0))]
    (one,) = lines(rows)
    assert (one.n, one.n_credited, one.seconds) == (3, 3, 6.0)
    assert one.published_ms == pytest.approx(2.0)
    assert one.spread == pytest.approx(0.2)
    assert one.times_honest == pytest.approx(1.0)


def test_only_cases_that_all_repeats_have_count() -> None:
    (one,) = lines([row("honest-a.cu", {"x": 2.0, "short": 0.2}), row("honest-a.cu", {"x": 2.0})])
    assert (one.published_ms, one.spread) == (2.0, 0.0)


def test_an_attack_is_held_against_the_fastest_honest_solution_of_its_problem_and_engine() -> None:
    rows = [
        row("honest-slow.cu", {"x": 8.0}),
        row("honest-fast.cu", {"x": 2.0, "y": 9.0}),
        row("honest-other.cu", {"x": 0.1}, problem="other"),
        row("honest-other.cu", {"x": 0.1}, engine="tensara"),
        row("attack-a.cu", {"x": 1.0}),
        row("attack-b.cu", None),
    ]
    found = {one.solution: one for one in lines(rows)}
    assert found["attack-a.cu"].times_honest == pytest.approx(2.0)
    refused = found["attack-b.cu"]
    assert (refused.n_credited, refused.times_honest, refused.published_ms, refused.spread) == (0, None, None, None)
    assert "3 of 3 honest solutions and 1 of 2 attacks credited, 1 attacks faster" in summary(lines(rows), "podium")


def test_the_table_shows_each_solution_and_each_engine() -> None:
    text = table([row("honest-a.cu", {"x": 2.0}), row("attack-b.cu", None, None)]).splitlines()
    assert text[1].split() == ["add", "honest-a.cu", "podium", "1/1", "1.0", "2", "-", "1.00", "passed"]
    assert text[2].split() == ["add", "attack-b.cu", "podium", "0/1", "-", "-", "-", "-", "wrong_answer"]
    assert text[4].startswith("podium: honest submission 1.0 s, spread - (medians)")
    assert table([]).startswith("problem")


def test_podium_credits_what_passed_without_a_flag_and_times_what_ranks() -> None:
    judged = {"verdict": "passed", "reason": "", "flags": [], "seconds": 3.0, "ms": {"x": 4.0, "short": 0.01}}
    judged |= {"baseline_ms": {"x": 8.0}, "speedup": 2.0}
    row = podium_row_of(judged)
    assert (row["credited"], row["ms"], row["published_ms"]) == (True, {"x": 4.0}, pytest.approx(4.0))
    flagged = podium_row_of(judged | {"flags": ["other_events"]})
    assert (flagged["credited"], flagged["reason"], flagged["published_ms"]) == (False, "other_events", None)
    fault = podium_row_of({"verdict": "fault", "reason": "the sandbox failed", "seconds": 1.0})
    assert (fault["credited"], fault["seconds"], fault["ms"]) == (False, None, {})


def test_a_repeat_is_a_submission_of_its_own() -> None:
    for one in solutions(OURS):
        assert one.content(0) != one.content(1)
        assert one.content(1).startswith(one.path.read_text())


def test_each_problem_has_an_honest_solution_and_an_attack_that_says_what_it_abuses() -> None:
    found = solutions(OURS)
    for problem in {one.problem for one in found}:
        assert {one.kind for one in found if one.problem == problem} == {"honest", "attack"}
    heads = [one.path.read_text()[:500] for one in found if one.kind == "attack"]
    assert len(heads) >= 7
    assert all("Attack: " in head and "Abuses: " in head for head in heads)
    assert not any("torch." in one.path.read_text() for one in found if one.path.suffix == ".py")


@pytest.mark.parametrize("one", solutions(OURS), ids=lambda one: f"{one.problem}/{one.name}")
def test_a_solution_defines_the_function(one: Solution) -> None:
    text = one.content(0)
    if one.path.suffix == ".py":
        names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
        assert "solution" in names
    else:
        assert text.count('extern "C" void solution(') == 1


@pytest.mark.rest
@requires("nvcc")
@pytest.mark.parametrize("path", sorted(OURS.glob("*/*.cu")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_cuda_solution_compiles(path: Path, tmp_path: Path) -> None:
    command = ["nvcc", "-std=c++20", "-arch=sm_90", "-c", "-o", str(tmp_path / "solution.o"), str(path)]
    subprocess.run(command, check=True)
