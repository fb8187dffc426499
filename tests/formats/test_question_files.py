"""`questions.jsonl`: pmpp-eval's fields and ours, one question a line, alone or at the top of a tree of problems."""

import json
from pathlib import Path
from typing import Any

import pytest

from problems.formats.compute_eval.directory import read_problem_directory
from problems.formats.errors import PackRefused
from problems.formats.questions.lines import read_questions
from problems.spec.solution import SourceFile

MCQ = {
    "chapter": 2, "exercise": "3a", "type": "mcq", "question": "Which?", "choices": ["A. one", "B. two"],
    "answer": "B", "explanation": "Because.", "topic_tags": ["grids"], "max_turns": 1,
}  # fmt: skip
SHORT = {
    "chapter": "05-tiling", "exercise": "x", "type": "open", "question": "How many?", "answer": 12.5,
    "numeric_tolerance": 0.5, "final_answer_patterns": None, "choices": None, "title": "Tiles", "difficulty": "hard",
}  # fmt: skip


def file(folder: Path, *rows: Any) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return path


def test_the_fields_of_pmpp_eval_make_questions(tmp_path: Path) -> None:
    first, second = read_questions(file(tmp_path, MCQ, "", SHORT)).problems
    assert (first.kind, first.task_id, first.group, first.title) == (
        "choice", "qa-2-3a", "ch02", "Chapter 2, question 3a",
    )  # fmt: skip
    assert first.metadata.tags == ["grids"]
    assert first.lettered_choices == [("A", "one"), ("B", "two")]
    assert (second.kind, second.task_id, second.group, second.title) == (
        "short_answer", "qa-05-tiling-x", "05-tiling", "Tiles",
    )  # fmt: skip
    assert second.settled([SourceFile(path="answer.txt", content="Final: 13")]).passed


def test_the_grading_of_lines_that_name_none_is_chosen(tmp_path: Path) -> None:
    path = file(tmp_path, MCQ, SHORT | {"grading": "lenient"})
    assert [one.grading for one in read_questions(path, "pmpp-strict").problems] == ["pmpp-strict", "lenient"]
    assert [one.grading for one in read_questions(path).problems] == ["lenient", "lenient"]


def test_fields_that_are_not_read_are_named(tmp_path: Path) -> None:
    assert read_questions(file(tmp_path, MCQ | {"id": 7, "hint": "h", "page": 3})).ignored == ("hint", "page")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([MCQ, MCQ], r"Line 2: questions.jsonl: task `qa-2-3a` occurs a second time; change its `exercise`"),
        (["{"], "Line 1: questions.jsonl: the line is not valid JSON"),
        (["[]"], "is not a JSON object"),
        ([MCQ, {**SHORT, "question": None}], "Line 2: questions.jsonl: field `question` is missing"),
        ([{**MCQ, "exercise": None}], "field `exercise` is missing"),
        ([{**MCQ, "answer": "C"}], "does not accept its own answer 'C'"),
        ([{**MCQ, "choices": None}], "field `choices` is missing"),
        ([{**SHORT, "numeric_tolerance": "much"}], "numeric_tolerance"),
        ([{**MCQ, "topic_tags": 7}], "tags"),
        ([{**MCQ, "answer": True}], "answer"),
        ([""], "holds no question"),
    ],
)
def test_a_bad_line_is_refused_with_its_number_and_field(tmp_path: Path, rows: list[Any], words: str) -> None:
    with pytest.raises(PackRefused, match=words):
        read_questions(file(tmp_path, *rows))


def test_questions_come_last_in_a_tree_of_problems(tmp_path: Path) -> None:
    folder = tmp_path / "problems" / "one"
    folder.mkdir(parents=True)
    spec = {"task_id": "a/1", "date": "", "problem_type": "cpp", "group": "g", "prompt": "p", "test_command": "true"}
    (folder / "problem-spec.yaml").write_text(json.dumps(spec | {"metadata": {}}))
    file(tmp_path, MCQ)
    head = {"release": "mixed", "profile": "podium/1", "problems": ["problems/one"]}
    (tmp_path / "release.yaml").write_text(json.dumps(head))
    assert [record.problem.task_id for record in read_problem_directory(tmp_path).records] == ["a/1", "qa-2-3a"]


def test_a_folder_may_hold_questions_alone(tmp_path: Path) -> None:
    pack = read_problem_directory(file(tmp_path, MCQ).parent, "quiz")
    assert (pack.metadata.release, pack.profile, len(pack.records)) == ("quiz", "podium/1", 1)


def test_a_release_with_questions_needs_the_profile(tmp_path: Path) -> None:
    file(tmp_path, MCQ)
    (tmp_path / "release.yaml").write_text('{"release": "2026-1"}')
    with pytest.raises(PackRefused, match="choice problems need `profile: podium/1`"):
        read_problem_directory(tmp_path)
