"""Graded rows in KernelBench's and FlashInfer's forms, held against the rules of those forms."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from podium.cli import make_app
from problems.formats.graded_rows import GradedRow
from problems.formats.kernelbench.results import kernelbench_results

HARDWARE = {"gpu": "NVIDIA H100", "toolkit": "13.0", "finished_at": "2026-11-20T10:00:00+00:00"}


def measured(role: str, ms: float, case: str = "", runs: list[float] | None = None) -> dict[str, Any]:
    return {"role": role, "case": case, "median_ms": ms, "runs_ms": runs or [ms], "is_primary": True}


def row(task_id: str, sample: int = 0, verdict: str = "passed", **changes: Any) -> dict[str, Any]:
    podium = {"verdict": verdict, "reason": "", "sample": sample, "provenance": HARDWARE, "measurements": []}
    return {
        "task_id": task_id, "passed": verdict == "passed", "skipped": verdict == "skipped", "solution": {},
        "solution_time": None, "baseline_time": None, "podium": podium | changes.pop("podium", {}), **changes,
    }  # fmt: skip


def exported(tmp_path: Path, form: str, rows: list[dict[str, Any]], *more: str) -> Any:
    graded = tmp_path / "graded.jsonl"
    graded.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return CliRunner().invoke(
        make_app("problems"), ["problems", "export", form, str(graded), "--out", str(tmp_path / "out"), *more]
    )


def test_eval_results_hold_each_problems_samples_under_its_number(tmp_path: Path) -> None:
    timed = {"measurements": [measured("candidate", 2.0, runs=[1.0, 3.0]), measured("baseline", 4.0)]}
    rows = [
        row("mine-level1-12-square", 0, solution_time=2.0, baseline_time=4.0, podium=timed),
        row("mine-level1-12-square", 1, "wrong_answer"),
        row("level1-3-add", 0, "build_failed"),
        row("level2-3-fused", 0, "timed_out"),
    ]
    done = exported(tmp_path, "kernelbench", rows)
    assert done.exit_code == 0, done.output
    level1 = json.loads((tmp_path / "out/level1/eval_results.json").read_text())
    assert list(level1) == ["12", "3"]
    first, second = level1["12"]
    keys = {"sample_id", "compiled", "correctness", "metadata", "runtime", "runtime_stats"}
    assert set(first) == set(second) == keys
    assert (first["sample_id"], first["compiled"], first["correctness"], first["runtime"]) == (0, True, True, 2.0)
    assert first["runtime_stats"] == {
        "mean": 2.0, "std": 1.0, "min": 1.0, "max": 3.0, "num_trials": 2, "hardware": "NVIDIA H100",
    }  # fmt: skip
    assert (first["metadata"]["judge"], first["metadata"]["baseline_ms"]) == ("podium", 4.0)
    assert (second["sample_id"], second["compiled"], second["correctness"], second["runtime"]) == (1, True, False, -1.0)
    assert level1["3"][0]["compiled"] is False
    assert json.loads((tmp_path / "out/level2/eval_results.json").read_text())["3"][0]["correctness"] is False


def test_kernelbenchs_own_fast_p_follows_from_the_file() -> None:
    """Its worked example: baseline 10, times 5, 10, wrong, 20, 4: fast_0 0.8, fast_1 0.4, fast_2 0.2."""
    times = [5.0, 10.0, None, 20.0, 4.0]
    rows = [
        row(f"level1-{n}-x", 0, "passed" if ms else "wrong_answer", solution_time=ms, baseline_time=10.0)
        for n, ms in enumerate(times, 1)
    ]
    entries = [one[0] for one in kernelbench_results(map(GradedRow.model_validate, rows)).levels[1].values()]
    for p, expected in ((0, 0.8), (1, 0.4), (2, 0.2)):
        fast = [one["correctness"] and 10.0 / one["runtime"] > p for one in entries]
        assert sum(fast) / len(fast) == expected


def test_rows_without_a_place_are_named_and_none_is_a_refusal(tmp_path: Path) -> None:
    skipped = exported(tmp_path, "kernelbench", [row("level1-1-x"), row("level1-2-y", 0, "skipped"), row("other")])
    assert skipped.exit_code == 1
    assert "level1-2-y, sample 1: skipped" in skipped.output
    assert "other: its name has no level" in skipped.output
    nothing = exported(tmp_path, "kernelbench", [row("other"), row("level9-1-x"), row("level1-x")])
    assert nothing.exit_code == 2
    assert "nothing was written" in nothing.output


@pytest.fixture
def problem_set(tmp_path: Path) -> Path:
    root = tmp_path / "set"
    definition = {
        "name": "add_n", "op_type": "add", "axes": {"n": {"type": "var"}},
        "inputs": {"a": {"shape": ["n"], "dtype": "float32"}}, "outputs": {"b": {"shape": ["n"], "dtype": "float32"}},
        "reference": "def run(a):\n    return a\n",
    }  # fmt: skip
    for folder in ("definitions/add", "workloads/add"):
        (root / folder).mkdir(parents=True)
    (root / "definitions/add/add_n.json").write_text(json.dumps(definition))
    workloads = [{"uuid": f"w{n}", "axes": {"n": n}, "inputs": {"a": {"type": "random"}}} for n in (4, 8)]
    lines = [json.dumps({"definition": "add_n", "workload": one}) for one in workloads]
    (root / "workloads/add/add_n.jsonl").write_text("\n".join(lines))
    return root


def check_trace(trace: dict[str, Any]) -> None:
    """FlashInfer's rule: which parts an evaluation has follows from its status."""
    evaluation = trace["evaluation"]
    has = (evaluation["correctness"] is not None, evaluation["performance"] is not None)
    expected = {"PASSED": (True, True), "INCORRECT_NUMERICAL": (True, False)}
    assert has == expected.get(evaluation["status"], (False, False))
    assert evaluation["environment"]["hardware"]
    assert evaluation["timestamp"]
    for name in ("max_relative_error", "max_absolute_error"):
        assert evaluation["correctness"] is None or evaluation["correctness"][name] == "NaN"


def test_a_trace_is_written_for_each_sample_and_workload(tmp_path: Path, problem_set: Path) -> None:
    both = [
        measured(role, ms, case) for case, own in (("1: n 4", 2.0), ("2: n 8", 5.0))
        for role, ms in (("candidate", own), ("baseline", 10.0))
    ]  # fmt: skip
    cases = [{"name": "1: n 4", "verdict": "passed"}, {"name": "2: n 8", "verdict": "wrong_answer"}]
    rows = [
        row("add-n", 0, podium={"measurements": both}),
        row("add-n", 1, "wrong_answer", podium={"cases": cases, "measurements": both[:2]}),
        row("add-n", 2, "build_failed"),
    ]
    done = exported(tmp_path, "flashinfer", rows, "--set", str(problem_set), "--author", "me")
    assert done.exit_code == 0, done.output
    lines = (tmp_path / "out/traces/me/add/add_n.jsonl").read_text().splitlines()
    traces = [json.loads(line) for line in lines]
    for trace in traces:
        assert set(trace) == {"definition", "workload", "solution", "evaluation"}
        check_trace(trace)
    assert [one["workload"]["uuid"] for one in traces] == ["w4", "w8"] * 3
    assert [one["evaluation"]["status"] for one in traces] == [
        "PASSED", "PASSED", "PASSED", "INCORRECT_NUMERICAL", "COMPILE_ERROR", "COMPILE_ERROR",
    ]  # fmt: skip
    assert traces[1]["evaluation"]["performance"] == {
        "latency_ms": 5.0, "reference_latency_ms": 10.0, "speedup_factor": 2.0,
    }  # fmt: skip
    assert len({one["solution"] for one in traces}) == 3


def test_a_pass_without_a_time_has_no_trace(tmp_path: Path, problem_set: Path) -> None:
    done = exported(tmp_path, "flashinfer", [row("add-n")], "--set", str(problem_set))
    assert done.exit_code == 2
    assert "passed without a time" in done.output


@pytest.mark.parametrize("more", [(), ("--author", "../../x")])
def test_traces_need_their_set_and_an_author_that_is_a_name(
    tmp_path: Path, problem_set: Path, more: tuple[str, ...]
) -> None:
    given = (*more, "--set", str(problem_set)) if more else ()
    done = exported(tmp_path, "flashinfer", [row("add-n", 0, "build_failed")], *given)
    assert done.exit_code == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "changed, written",
    [({"op_type": "../up"}, ["traces/podium/up/add_n.jsonl"]), ({"name": "../../outside"}, [])],
    ids=["its kind", "its name"],
)
def test_a_definition_never_leaves_the_folder(
    tmp_path: Path, problem_set: Path, changed: dict[str, str], written: list[str]
) -> None:
    path = problem_set / "definitions/add/add_n.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    task_id = "outside" if "name" in changed else "add-n"
    done = exported(tmp_path, "flashinfer", [row(task_id, 0, "build_failed")], "--set", str(problem_set))
    assert done.exit_code == (0 if written else 2), done.output
    found = [one.relative_to(tmp_path).as_posix() for one in tmp_path.rglob("*.jsonl") if "traces" in one.parts]
    assert found == [f"out/{one}" for one in written]


def test_damaged_rows_are_refused_with_their_line(tmp_path: Path) -> None:
    graded = tmp_path / "bad.jsonl"
    graded.write_text(json.dumps(row("level1-1-x")) + "\n{broken\n")
    done = CliRunner().invoke(
        make_app("problems"), ["problems", "export", "kernelbench", str(graded), "--out", str(tmp_path / "out")]
    )
    assert done.exit_code == 2
    assert not (tmp_path / "out").exists()
