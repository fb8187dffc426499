"""`podium slim`: rows that may be published keep what a site needs of them, and nothing of the problem."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.evaluate.packs_on_disk import evaluate, podium, rows_of, write_problems, write_solutions
from tests.packs import problem, solution
from tests.question_site import choice

pytestmark = pytest.mark.rest


def lean_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def test_a_lean_file_has_verdicts_times_and_provenance_but_no_tests(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1"), problem("a/2")])
    solutions = write_solutions(folder, [solution("a/2", "exit 1"), solution("a/1", "exit 0 # mine")])
    whole = folder / "one.jsonl"
    evaluate(folder, problems, "--solutions", solutions, "--out", whole)
    ran = podium(folder / "var", "slim", whole, "--out", folder / "one.jsonl.gz")
    assert ran.status == 0
    lean = lean_rows(folder / "one.jsonl.gz")
    assert [(row["task_id"], row["podium"]["verdict"]) for row in lean] == [("a/1", "passed"), ("a/2", "test_failed")]
    assert lean[0]["problem"] == {"task_id": "a/1", "group": "shell"}
    assert lean[0]["solution"]["files"][0]["content"] == "exit 0 # mine"
    assert lean[0]["podium"]["provenance"]["sandbox"]
    assert lean[0]["podium"]["record_md5"] == next(
        row for row in rows_of(whole) if row["task_id"] == "a/1"
    )["podium"]["record_md5"]  # fmt: skip
    assert "sh solution.sh" not in json.dumps(lean)


def test_the_same_rows_in_another_order_give_the_same_bytes(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1"), problem("a/2")])
    solutions = write_solutions(folder, [solution("a/1", "exit 0"), solution("a/2", "exit 1")])
    whole = folder / "one.jsonl"
    evaluate(folder, problems, "--solutions", solutions, "--out", whole)
    turned = folder / "two.jsonl"
    turned.write_bytes(b"".join(reversed(whole.read_bytes().splitlines(keepends=True))))
    for path in (whole, turned):
        podium(folder / "var", "slim", path, "--out", path.with_suffix(".gz"))
    assert whole.with_suffix(".gz").read_bytes() == turned.with_suffix(".gz").read_bytes()


def test_rows_of_compute_eval_cannot_be_made_lean(folder: Path) -> None:
    path = folder / "theirs.jsonl"
    path.write_text(json.dumps({"task_id": "a", "passed": True, "skipped": False, "solution": {}}) + "\n")
    ran = podium(folder / "var", "slim", path, "--out", folder / "out.gz")
    assert (ran.status, (folder / "out.gz").exists()) == (2, False)
    assert "Line 1: the row has no `podium` key" in ran.stderr


def test_weights_are_calibrated_from_whole_and_lean_rows_alike(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1", group="a"), problem("b/1", group="b"), choice("c/1", group="b")])
    answers = [solution("a/1", "exit 0"), solution("b/1", "exit 1"), solution("c/1", "Final: B", "answer.txt")]
    whole, lean = folder / "one.jsonl", folder / "one.jsonl.gz"
    evaluate(folder, problems, "--solutions", write_solutions(folder, answers), "--out", whole)
    podium(folder / "var", "slim", whole, "--out", lean)
    for arguments in ([whole], [lean], [lean, "--problems", problems]):
        ran = podium(folder / "var", "weights", "calibrate", *arguments)
        assert ran.status == 0, ran.stderr
        assert yaml.safe_load(ran.stdout)["weights"] == {"a": 0.090909, "b": 1.909091}, "the question does not count"
