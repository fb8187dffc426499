"""`podium questions` checks and packs questions, and `podium evaluate` settles them without a sandbox."""

import json
from pathlib import Path

import pytest

from problems.formats.compute_eval.packs import read_problem_pack
from tests.evaluate.packs_on_disk import podium, rows_of
from tests.packs import solution, solution_pack

CHOICE = {"chapter": 2, "exercise": "1", "type": "mcq", "question": "?", "choices": ["one", "two"], "answer": "B"}
SHORT = {"chapter": 5, "exercise": "2", "type": "short", "question": "?", "answer": "7"}


def file(folder: Path, *rows: object) -> Path:
    path = folder / "quiz.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_a_check_counts_by_group_and_names_what_was_not_read(folder: Path) -> None:
    ran = podium(folder, "questions", "check", file(folder, CHOICE | {"hint": "h"}, SHORT))
    assert ran.status == 0, ran.stderr
    assert [line.split("│")[1:4] for line in ran.stdout.splitlines() if "ch0" in line] == [
        [" ch02  ", " 1       ", " 0             "],
        [" ch05  ", " 0       ", " 1             "],
    ]
    assert "These fields were not read: hint." in ran.stderr


def test_a_bad_question_is_refused_with_its_line(folder: Path) -> None:
    ran = podium(folder, "questions", "check", file(folder, CHOICE, CHOICE | {"exercise": "3", "answer": "D"}))
    assert ran.status == 2
    assert "Line 2: quiz.jsonl: field `record` does not accept its own answer 'D'" in ran.stderr


@pytest.mark.parametrize("grading", ["lenient", "pmpp-strict"])
def test_a_packed_quiz_is_evaluated_without_a_sandbox(folder: Path, grading: str) -> None:
    out = folder / "quiz-problems.tar.gz"
    packed = podium(folder, "questions", "pack", file(folder, CHOICE, SHORT), "--out", out, "--release", "quiz",
                    "--grading", grading)  # fmt: skip
    assert packed.status == 0, packed.stderr
    pack = read_problem_pack(out)
    assert (pack.metadata.release, [one.problem.task_id for one in pack.records]) == ("quiz", ["qa-2-1", "qa-5-2"])
    replies = [
        solution("qa-2-1", "Final: **B**", "answer.txt"), solution("qa-2-1", "Final: A", "answer.txt"),
        solution("qa-5-2", "Final: 7", "answer.txt"), solution("qa-5-2", "Final: 7", "answer.md"),
    ]  # fmt: skip
    answers = folder / "me-solutions.tar.gz"
    answers.write_bytes(solution_pack(replies, "quiz").read())
    graded = folder / "graded.jsonl"
    ran = podium(folder, "evaluate", "--problems", out, "--solutions", answers, "--out", graded)
    assert ran.status == 0, ran.stderr
    verdicts = [row["podium"]["verdict"] for row in rows_of(graded)]
    assert verdicts == ["passed" if grading == "lenient" else "wrong_answer", "wrong_answer", "passed", "invalid"]
