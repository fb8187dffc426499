"""`podium evaluate` gives ComputeEval's summary and rows, says what it left out, and ends with a status to build on."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from problems.formats.compute_eval.graded import read_graded
from problems.spec.profile import Profile
from tests.evaluate.packs_on_disk import (
    DATA,
    GOLDEN_PROBLEMS,
    GOLDEN_SOLUTIONS,
    evaluate,
    rows_of,
    write_problems,
    write_solutions,
)
from tests.packs import problem, solution

KEYS = [
    "task_id", "passed", "skipped", "solution", "problem", "build_output", "test_output", "benchmark_output",
    "solution_metrics", "solution_time", "baseline_metrics", "baseline_time", "speedup", "podium",
]  # fmt: skip
PRINT = "echo COMPUTE_EVAL_TIME_MS: {}"


def custom(task_id: str, baseline: str = PRINT.format(12), **changes: Any) -> dict[str, Any]:
    timed = {"benchmark_command": "sh solution.sh", "timing_mode": {"type": "custom"}, "test_command": "true"}
    return problem(task_id, baseline_solution=solution(task_id, baseline), **timed | changes)


def test_the_golden_packs_give_the_golden_summary(folder: Path) -> None:
    out = folder / "graded.jsonl"
    ran = evaluate(folder, GOLDEN_PROBLEMS, "--solutions", GOLDEN_SOLUTIONS, "--out", out, "--k", "1,2")
    golden = (DATA / "golden-stdout-noprofile.txt").read_text()
    assert ran.status == 0
    assert ran.stdout == golden[golden.index("{") :]


def test_the_golden_rows_are_compute_evals_but_for_the_last_key(folder: Path) -> None:
    evaluate(folder, GOLDEN_PROBLEMS, "--solutions", GOLDEN_SOLUTIONS, "--out-dir", folder)
    path = folder / "internal-modelx-graded-solutions.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    ours = by_task([json.loads(line) for line in lines])
    golden = by_task(rows_of(DATA / "internal-modelx-graded-solutions.jsonl"))
    assert all(list(row) == KEYS for rows in ours.values() for row in rows)
    for task_id, rows in golden.items():
        for theirs, own in zip(rows, ours[task_id], strict=True):
            own.pop("podium")
            # The golden rows are of the local evaluator, which puts a word before a failure's output.
            theirs["test_output"] = re.sub(r"^\[ERROR\]\n", "", theirs["test_output"] or "") or None
            assert own == theirs
    assert all(read_graded(line, Profile.COMPUTE_EVAL).solution.task_id for line in lines)


def by_task(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    tasks: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        tasks.setdefault(row["task_id"], []).append(row)
    return tasks


def test_times_are_summed_up_where_benchmarks_were_asked_for(folder: Path) -> None:
    ran = evaluate(folder, GOLDEN_PROBLEMS, "--solutions", GOLDEN_SOLUTIONS, "--out", folder / "g.jsonl", "--benchmark")
    assert ran.summary["performance_analysis"] == {
        "invalid_skipped": 8,
        "avg_solution_time_ms": 15.0,
        "avg_sm_throughput_pct": 0.0,
        "avg_dram_throughput_pct": 0.0,
    }
    comparison = ran.summary["baseline_comparison"]
    assert comparison["baseline_available_count"] == 2
    assert comparison["avg_speedup"] == pytest.approx(1.0)
    assert (comparison["min_speedup"], comparison["max_speedup"]) == (0.5, 2.0)


def test_what_is_ours_stands_under_the_key_podium(folder: Path) -> None:
    problems = write_problems(folder, [custom("a/1")])
    solutions = write_solutions(folder, [solution("a/1", PRINT.format(6))])
    evaluate(folder, problems, "--solutions", solutions, "--out", folder / "g.jsonl")
    (row,) = rows_of(folder / "g.jsonl")
    podium = row["podium"]
    assert podium["verdict"] == "passed"
    assert [one["role"] for one in podium["measurements"]] == ["candidate", "baseline"]
    assert [step["name"] for step in podium["steps"]] == ["build", "test", "benchmark"]
    assert podium["provenance"]["agent_version"]
    assert (row["solution_time"], row["baseline_time"], row["speedup"]) == (6.0, 12.0, 2.0)


def test_a_timeline_holds_every_command_of_the_solution_and_the_reference(folder: Path) -> None:
    problems = write_problems(folder, [custom("a/1")])
    solutions = write_solutions(folder, [solution("a/1", PRINT.format(6))])
    evaluate(folder, problems, "--solutions", solutions, "--out", folder / "g.jsonl", "--events", folder / "events")
    told = rows_of(folder / "events")
    stages = [one["stage"] for one in told if one["event"] == "StageEntered"]
    ran = sorted((one["step"], one["is_reference"]) for one in told if one["event"] == "CommandRan")
    assert stages == ["building", "testing", "benchmarking"]
    # the test of the reference is run too, before its times are believed
    assert [step for step, is_reference in ran if not is_reference] == ["benchmark", "build", "test"]
    assert {step for step, is_reference in ran if is_reference} >= {"benchmark", "test"}
    assert all(one["began_ns"] <= one["ended_ns"] for one in told if one["event"] == "CommandRan")


def test_a_baseline_that_cannot_be_timed_takes_the_times_of_all_samples(folder: Path) -> None:
    problems = write_problems(folder, [custom("a/1", baseline="exit 5", test_command="! grep -q wrong solution.sh")])
    scripts = [PRINT.format(6), PRINT.format(24), "wrong"]
    solutions = write_solutions(folder, [solution("a/1", script) for script in scripts])
    evaluate(folder, problems, "--solutions", solutions, "--out", folder / "g.jsonl")
    rows = rows_of(folder / "g.jsonl")
    assert [row["passed"] for row in rows] == [True, True, False]
    assert {(row["solution_time"], row["baseline_time"], row["speedup"]) for row in rows} == {(None, None, None)}
    assert len({row["benchmark_output"] for row in rows}) == 1
    assert rows[0]["benchmark_output"].startswith("Benchmark failed. Exit code 5")


def test_only_benchmarks_that_time_themselves_run_unless_others_are_asked_for(folder: Path) -> None:
    timed = problem("a/1", benchmark_command="true", timing_mode={"type": "process"})
    problems = write_problems(folder, [timed])
    solutions = write_solutions(folder, [solution("a/1", "exit 0")])
    without = evaluate(folder, problems, "--solutions", solutions, "--out", folder / "without.jsonl")
    assert "performance_analysis" not in without.summary
    assert rows_of(folder / "without.jsonl")[0]["solution_time"] is None
    asked = evaluate(folder, problems, "--solutions", solutions, "--out", folder / "asked.jsonl", "--benchmark")
    assert asked.summary["performance_analysis"]["avg_solution_time_ms"] > 0
    assert rows_of(folder / "asked.jsonl")[0]["speedup"] > 0


def test_a_bad_record_is_invalid_and_the_rest_go_on(folder: Path) -> None:
    bad = ["./test/t.sh", "test//t.sh", "/abs", "../x", "", "a\0b", "\ud800"]
    patch = {"schema_version": 1, "type": "patch", "task_id": "a/1", "patch": ""}
    broken = {"schema_version": 1, "type": "file", "task_id": "a/1", "files": None}
    records = [solution("a/1", "exit 0", path) for path in bad]
    records += [patch, broken, solution("a/1", "exit 0"), solution("a/1", "exit 1")]
    solutions = folder / "test-1-one-solutions.tar.gz"
    solutions.write_bytes(packed_ascii(records))
    ran = evaluate(folder, write_problems(folder, [problem("a/1")]), "--solutions", solutions, "--out-dir", folder)
    assert ran.status == 0, ran.stderr
    rows = rows_of(folder / "test-1-one-graded-solutions.jsonl")
    verdicts = [row["podium"]["verdict"] for row in rows]
    assert verdicts == ["invalid"] * (len(bad) + 2) + ["passed", "test_failed"]
    assert rows[0]["build_output"] == "[VALIDATION ERROR] Solution failed validation checks."
    assert "9 invalid" in ran.stderr


def packed_ascii(records: list[dict[str, Any]]) -> bytes:
    """Lone surrogates cannot be written but as escapes."""
    import io
    import tarfile

    metadata = {"release": "test-1", "total_count": len(records), "created_at": "2026-01-01T00:00:00"}
    lines = "".join(json.dumps(record) + "\n" for record in records)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, text in (("metadata.json", json.dumps(metadata)), ("solutions.jsonl", lines)):
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


def test_unknown_and_absent_tasks_are_told_and_not_graded(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1"), problem("a/2")])
    solutions = write_solutions(folder, [solution("a/1", "exit 0"), solution("z/9", "exit 0")])
    ran = evaluate(folder, problems, "--solutions", solutions, "--out", folder / "g.jsonl")
    assert ran.status == 0
    assert ran.summary["total_problem_count"] == 1
    assert "z/9" in ran.stderr
    assert "1 of 2 problems have no sample" in ran.stderr


def test_strict_refuses_a_pack_that_does_not_cover_the_release(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1"), problem("a/2")])
    solutions = write_solutions(folder, [solution("a/1", "exit 0")])
    ran = evaluate(folder, problems, "--solutions", solutions, "--out", folder / "g.jsonl", "--strict")
    assert (ran.status, ran.stdout) == (2, "")
    assert "a/2" in ran.stderr
    assert not (folder / "g.jsonl").exists()


def test_several_packs_have_a_summary_and_a_file_each(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1")])
    good = write_solutions(folder, [solution("a/1", "exit 0")], "test-1-good")
    bad = write_solutions(folder, [solution("a/1", "exit 1")], "test-1-bad")
    ran = evaluate(folder, problems, "--solutions", good, bad, "--out-dir", folder / "graded")
    decoder = json.JSONDecoder()
    first, end = decoder.raw_decode(ran.stdout)
    second, _ = decoder.raw_decode(ran.stdout[end:].lstrip())
    assert [one["pass_at_k"]["pass@1"] for one in (first, second)] == [1.0, 0.0]
    files = sorted(path.name for path in (folder / "graded").iterdir())
    assert files == ["test-1-bad-graded-solutions.jsonl", "test-1-good-graded-solutions.jsonl"]
    refused = evaluate(folder, problems, "--solutions", good, "--solutions", bad, "--out", folder / "one.jsonl")
    assert (refused.status, "--out-dir" in refused.stderr) == (2, True)


def test_k_that_a_problem_has_too_few_samples_for_is_left_out(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1")])
    solutions = write_solutions(folder, [solution("a/1", "exit 0"), solution("a/1", "exit 1")])
    ran = evaluate(folder, problems, "--solutions", solutions, "--out", folder / "g.jsonl", "--k", "1,2,3")
    assert ran.summary["pass_at_k"] == {"skipped": 0.0, "pass@1": 0.5, "pass@2": 1.0}


@pytest.mark.parametrize("k", ["0", "-1", "one", ""])
def test_a_k_that_is_none_is_a_usage_error(folder: Path, k: str) -> None:
    ran = evaluate(folder, GOLDEN_PROBLEMS, "--solutions", GOLDEN_SOLUTIONS, "--out", folder / "g.jsonl", "--k", k)
    assert (ran.status, ran.stdout) == (2, "")


def test_all_skipped_is_null_and_not_nan(folder: Path) -> None:
    needy = problem("a/1", type="cuda_cpp", min_cuda_toolkit="99.0")
    solutions = write_solutions(folder, [solution("a/1", "exit 0")])
    ran = evaluate(folder, write_problems(folder, [needy]), "--solutions", solutions, "--out", folder / "g.jsonl")
    assert ran.summary["pass_at_k"] == {"skipped": 1.0, "pass@1": None}
    assert rows_of(folder / "g.jsonl")[0]["podium"]["verdict"] == "skipped"


def test_a_profiler_that_is_missing_is_named_before_anything_runs(folder: Path) -> None:
    kernels = problem("a/1", benchmark_command="true", timing_mode={"type": "kernels"})
    solutions = write_solutions(folder, [solution("a/1", "exit 0")])
    ran = evaluate(
        folder,
        write_problems(folder, [kernels]),
        "--solutions", solutions, "--out", folder / "g.jsonl", "--profile", "cupti",
    )  # fmt: skip
    assert (ran.status, ran.stdout) == (2, "")
    assert "--profile none" in ran.stderr


def test_a_folder_of_problems_can_be_graded_as_it_is_written(folder: Path) -> None:
    demo = Path(__file__).parents[2] / "examples" / "demo"
    reference = (demo / "problems/py-increasing-run/solution/solution.py").read_text()
    record = solution("py/increasing-run", reference, "solution.py")
    import tests.packs as packs

    (folder / "demo-solutions.tar.gz").write_bytes(packs.solution_pack([record], "demo-cpu-1").read())
    ran = evaluate(folder, demo, "--solutions", folder / "demo-solutions.tar.gz", "--out", folder / "g.jsonl")
    assert ran.summary["pass_at_k"]["pass@1"] == 1.0, ran.stderr


def test_samples_that_this_machine_cannot_grade_make_the_result_incomplete(folder: Path) -> None:
    unusable = problem("a/1", context_files=[{"path": "/".join(["n" * 239] * 17), "content": ""}])
    problems = write_problems(folder, [unusable, problem("a/2")])
    solutions = write_solutions(folder, [solution("a/1", "exit 0"), solution("a/2", "exit 0")])
    ran = evaluate(folder, problems, "--solutions", solutions, "--out", folder / "g.jsonl")
    assert ran.status == 1
    assert ran.summary["total_problem_count"] == 1
    assert "a/1 sample 1 was not graded" in ran.stderr


# ---- the tests' sources --------------------------------------------------------------------------------------------

COMPILED: dict[str, Any] = {
    "test_files": [{"path": "test/secret.txt", "content": "42\n"}],
    "build_command": "cp test/secret.txt kept; cp solution.sh run",
    "test_command": "sh run | cmp - kept",
}
"""A problem whose test needs its source only to build, like a compiled harness."""
READS = "cat test/secret.txt 2>/dev/null || echo 41"


def one_row(folder: Path, record: dict[str, Any], script: str, *options: str) -> dict[str, Any]:
    problems, solutions = write_problems(folder, [record]), write_solutions(folder, [solution("a/1", script)])
    ran = evaluate(folder, problems, "--solutions", solutions, "--out", folder / "g.jsonl", *options)
    assert ran.status == 0
    (row,) = rows_of(folder / "g.jsonl")
    return row


def test_a_run_sees_no_test_file_that_the_reference_does_without(folder: Path) -> None:
    record = problem("a/1", podium={}, baseline_solution=solution("a/1", "echo 42"), **COMPILED)
    row = one_row(folder, record, READS)
    assert (row["podium"]["verdict"], row["podium"]["withheld"]) == ("test_failed", ["test/secret.txt"])


@pytest.mark.parametrize(
    "changes",
    [
        {"test_command": "cat test/secret.txt >/dev/null && sh run | cmp - kept"},
        {"test_command": "cat */secret.txt >/dev/null && sh run | cmp - kept"},
        {"benchmark_command": "cat */secret.txt >/dev/null"},
        {"podium": {"build_only": []}},
        {"baseline_solution": None},
    ],
    ids=["named by the test", "read by the test", "read by the benchmark", "the pack withholds none", "no reference"],
)
def test_a_run_sees_the_test_files_that_it_may_need(folder: Path, changes: dict[str, Any]) -> None:
    usual = {"podium": {}, "baseline_solution": solution("a/1", "echo 42"), **COMPILED}
    row = one_row(folder, problem("a/1", **usual | changes), READS, "--benchmark")
    assert (row["podium"]["verdict"], row["podium"]["withheld"]) == ("passed", [])
    assert "benchmark_failed" not in [flag["code"] for flag in row["podium"]["flags"]]


LIMITS = ("memory_bytes", "processes", "file_bytes", "workspace_bytes", "output_bytes")
IMPOSSIBLE: list[dict[str, Any]] = [
    {"timeout_seconds": 1e308},
    {"test_command": "true\0"},
    {"context_files": [{"path": "../x", "content": ""}]},
    {"metadata": {"podium": {"limits": {"memory_bytes": 10**30}}}},
    {"metadata": {"podium": {"limits": {"processes": 10**30, "build_seconds": 1e300}}}},
]


def test_an_impossible_record_gives_its_rows_a_reason_and_loses_no_other_row(folder: Path) -> None:
    bad = [problem(f"bad/{n}", type="cpp", **changes) for n, changes in enumerate(IMPOSSIBLE)]
    good = [problem("good/0", type="cpp", timeout_seconds="20"), problem("good/1", type="cpp", timeout_seconds=1e9)]
    good.append(problem("good/2", type="cpp", podium={"limits": dict.fromkeys(LIMITS, 2**60)}))
    made = write_problems(folder, [*bad, *good])
    sent = write_solutions(folder, [solution(one["task_id"], "true") for one in [*bad, *good]])
    out = folder / "graded.jsonl"
    ran = evaluate(folder, made, "--solutions", sent, "--out", out)
    assert ran.status == 0
    assert "Traceback" not in ran.stderr
    rows = {row["task_id"]: row for row in rows_of(out)}
    assert len(rows) == len(bad) + len(good)
    for one in bad:
        assert rows[one["task_id"]]["skipped"]
        assert rows[one["task_id"]]["podium"]["reason"].startswith("The problem has ")
    assert all(rows[one["task_id"]]["passed"] for one in good)
