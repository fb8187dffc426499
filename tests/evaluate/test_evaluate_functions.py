"""Function problems without a site: packs that mix kinds are read, checked and written as graded rows."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from podium.evaluation.inputs import Pack, Reader, read_problems
from podium.evaluation.rows import Graded, graded
from problems.formats.compute_eval.graded import graded_line, read_graded
from problems.formats.graded_rows import lean_file, read_graded_rows
from problems.spec.hardware import Hardware
from problems.spec.profile import Profile
from runners.agent.judges.report import Finished
from runners.wire.protocol import Report, Role
from tests import function_site
from tests.evaluate.packs_on_disk import evaluate, podium, rows_of, write_problems, write_solutions
from tests.formats.functions.definitions import SOFTMAX
from tests.packs import problem, solution
from tests.spec.functions import manifest_fields, softmax_case


def read(folder: Path, hardware: Hardware | None = None, **changes: Any) -> Pack:
    """One sample of a function problem and one of a command problem."""
    problems = write_problems(folder, [function_site.function(**changes), problem("a/1")])
    (path,) = [write_solutions(folder, [function_site.solution(), solution("a/1", "exit 0")])]
    reader = Reader(read_problems(problems, [path]), hardware or Hardware("cpu"), "options", strict=False)
    return reader.read([path])[0]


def row_of(folder: Path, report: Report) -> Graded:
    sample = read(folder).samples[0]
    return graded(sample, Finished(report))


def test_a_pack_may_mix_kinds(folder: Path) -> None:
    samples = read(folder).samples
    assert [(one.problem.kind, one.skip_reason, one.incoming.invalid_reason) for one in samples] == [
        ("function", "", ""),
        ("command", "", ""),
    ]


@pytest.mark.parametrize(("device", "skipped"), [("cpu", True), ("gpu", False)])
def test_a_gpu_function_is_skipped_where_there_is_no_gpu(folder: Path, device: Any, skipped: bool) -> None:
    (sample, _) = read(folder, Hardware(device), device="gpu", languages=["cuda"]).samples
    assert bool(sample.skip_reason) == skipped


def test_a_cpu_function_runs_on_a_machine_with_a_gpu(folder: Path) -> None:
    assert read(folder, Hardware("gpu")).samples[0].skip_reason == ""


def test_a_graded_row_has_the_verdict_and_one_time_over_all_cases(folder: Path) -> None:
    row = row_of(folder, function_site.report(speedup=8**0.5)).row
    assert (row.passed, row.skipped, row.speedup) == (True, False, pytest.approx(8**0.5))
    assert row.solution_time == pytest.approx((0.005 * 1.0) ** 0.5)
    assert row.baseline_time == pytest.approx((0.01 * 4.0) ** 0.5)
    assert row.baseline_time / row.solution_time == pytest.approx(row.speedup)


def test_times_are_over_the_cases_that_the_solution_was_timed_on(folder: Path) -> None:
    row = row_of(folder, function_site.report({function_site.LARGE: 1.0}, speedup=4.0)).row
    assert (row.solution_time, row.baseline_time) == (pytest.approx(1.0), pytest.approx(4.0))


def test_a_solution_without_a_time_has_none_of_its_baseline(folder: Path) -> None:
    wrong = function_site.wrong_report(measurements=function_site.measurements(Role.BASELINE, {"3 x 5": 0.1}))
    row = row_of(folder, wrong).row
    assert (row.solution_time, row.baseline_time) == (None, None)


def test_a_graded_row_is_read_back_with_its_problem(folder: Path) -> None:
    written = graded_line(row_of(folder, function_site.report()).row)
    assert read_graded(written, Profile.PODIUM).problem == read(folder).samples[0].problem


def test_a_wrong_answer_has_no_times_and_says_what_differs(folder: Path) -> None:
    row = row_of(folder, function_site.wrong_report()).row
    assert (row.passed, row.solution_time, row.baseline_time) == (False, None, None)
    assert row.podium is not None
    wrong = {field["name"]: field["value"] for field in row.podium["cases"][1]["fields"]}
    assert (wrong["n_wrong"], wrong["largest_difference"]) == (2, "0.25")


def test_a_row_to_publish_keeps_only_what_everybody_may_read(folder: Path) -> None:
    path = folder / "graded.jsonl"
    path.write_bytes(graded_line(row_of(folder, function_site.wrong_report()).row))
    lean = lean_file(path)
    text = gzip.decompress(lean).decode()
    assert "first_wrong" not in text
    assert "definition words" not in text
    assert [field["name"] for field in json.loads(text)["podium"]["cases"][1]["fields"]] == ["n_calls"]
    (folder / "lean.gz").write_bytes(lean)
    (whole,), (thin,) = read_graded_rows(path), read_graded_rows(folder / "lean.gz")
    assert whole.row.content_sha256 == thin.row.content_sha256


def test_the_check_names_a_wrong_signature_with_its_line(folder: Path) -> None:
    problems = write_problems(folder, [function_site.function()])
    good = function_site.solution(text=function_site.PYTHON, path="solution.py")
    pack = write_solutions(folder, [good, function_site.solution(text=function_site.WRONG_SIGNATURE)])
    ran = podium(folder, "check", pack, "--problems", problems)
    assert ran.status == 1
    words = "line 2: row-softmax sample 2 is invalid: solution.cpp line 1: `solution` takes 2 parameters"
    assert words in ran.stdout
    assert "1 of 2 samples of 1 problem may be graded." in ran.stdout


REAL = {
    "definition": {"path": "def.py", "content": SOFTMAX},
    "manifest": manifest_fields(cases=[softmax_case(), softmax_case(40, 30, size=1200.0)]),
}
COPY = function_site.PYTHON
RIGHT = """\
import numpy as np


def solution(x, y, rows, cols):
    np.exp(x - x.max(axis=1, keepdims=True), out=y)
    y /= y.sum(axis=1, keepdims=True)
"""


def test_functions_and_commands_are_graded_by_one_run(folder: Path) -> None:
    """The judge, its checker and the sandbox are real."""
    reference = function_site.solution(text=RIGHT, path="solution.py")
    problems = write_problems(folder, [function_site.function(baseline_solution=reference, **REAL), problem("a/1")])
    samples = [reference, function_site.solution(text=COPY, path="solution.py"), solution("a/1", "exit 0")]
    path = folder / "graded.jsonl"
    ran = evaluate(folder, problems, "--solutions", write_solutions(folder, samples), "--out", path)
    assert ran.status == 0, ran.stderr
    rows = {(row["task_id"], row["podium"]["sample"]): row for row in rows_of(path)}
    verdicts = {key: row["podium"]["verdict"] for key, row in rows.items()}
    assert verdicts == {("row-softmax", 0): "passed", ("row-softmax", 1): "wrong_answer", ("a/1", 0): "passed"}
    assert [case["verdict"] for case in rows["row-softmax", 0]["podium"]["cases"]] == ["passed", "passed"]
    (wrong, _) = rows["row-softmax", 1]["podium"]["cases"]
    facts = {field["name"]: field["value"] for field in wrong["fields"]}
    assert facts["n_total"] == 15
    assert facts["n_wrong"] > 0
    assert rows["row-softmax", 0]["baseline_time"] is None, "without --benchmark references are not timed"
    assert ran.summary["pass_at_k"]["pass@1"] == pytest.approx(0.75)
