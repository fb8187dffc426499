"""The textbook example's questions are whole, and every answer that can be computed is what a computation gives."""

import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from problems.formats.questions.lines import read_questions
from problems.spec.question.problem import QuestionProblem
from tests.examples.recomputed import data, launches

pytestmark = pytest.mark.rest

TEXTBOOK = Path(__file__).parents[2] / "examples" / "textbook-cpu"
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (TEXTBOOK / "questions.jsonl").read_text("utf-8").splitlines()
]
NAMES = [f"{one['chapter']}/{one['exercise']}" for one in QUESTIONS]
BY_NAME = dict(zip(NAMES, QUESTIONS, strict=True))
CHOICES = [one for one in QUESTIONS if one["type"] == "mcq"]
SHORT_ANSWERS = [one for one in QUESTIONS if one["type"] == "short_answer"]
COMPUTED: dict[str, Callable[[], str | float | Fraction]] = {**launches.ANSWERS, **data.ANSWERS}
CHAPTERS = (
    "01-grids",
    "02-images",
    "03-matmul",
    "04-tiling",
    "05-coalescing",
    "06-convolution",
    "07-stencils",
    "08-histograms",
    "09-reductions",
    "10-scans",
    "11-merging",
    "12-sorting",
    "13-sparse",
    "14-graphs",
    "15-warps",
    "16-streams",
    "17-numerics",
)
COMMON = {
    "chapter",
    "exercise",
    "type",
    "title",
    "difficulty",
    "topic_tags",
    "question",
    "answer",
    "explanation",
    "sources",
}
VENDORS = ("https://docs.nvidia.com/", "https://developer.nvidia.com/", "https://nvidia.github.io/")
VENDORS += ("https://docs.rapids.ai/", "https://rocm.docs.amd.com/")

each_question = pytest.mark.parametrize("question", QUESTIONS, ids=NAMES)
each_choice = pytest.mark.parametrize("question", CHOICES, ids=lambda one: f"{one['chapter']}/{one['exercise']}")


def texts(question: dict[str, Any]) -> list[str]:
    """The choices without their letters."""
    return [choice.split(". ", 1)[1] for choice in question["choices"]]


def answer_text(question: dict[str, Any]) -> str:
    return texts(question)["ABCDEF".index(question["answer"])]


@pytest.mark.parametrize("name", sorted(COMPUTED))
def test_an_answer_is_what_the_computation_gives(name: str) -> None:
    question = BY_NAME[name]
    if question["type"] == "mcq":
        assert answer_text(question) == COMPUTED[name]()
    else:
        assert Fraction(question["answer"]) == Fraction(COMPUTED[name]())


def test_every_numeric_answer_but_a_documented_constant_is_recomputed() -> None:
    numeric = {name for name, one in BY_NAME.items() if one["type"] == "short_answer" and _is_number(one["answer"])}
    assert numeric - set(COMPUTED) == {"07-stencils/portable-cluster"}


def test_at_least_half_of_the_questions_need_computing() -> None:
    assert set(COMPUTED) <= set(NAMES)
    assert len(COMPUTED) * 2 >= len(QUESTIONS) >= 64


def test_chapters_are_those_of_the_book_and_have_three_questions_each() -> None:
    counts = Counter(one["chapter"] for one in QUESTIONS)
    assert tuple(sorted(counts)) == CHAPTERS
    assert min(counts.values()) >= 3
    assert len(CHOICES) >= 30
    assert len(SHORT_ANSWERS) >= 30


def test_no_question_comes_twice() -> None:
    assert len(set(NAMES)) == len(NAMES)
    for field in ("question", "title"):
        assert len({one[field].casefold() for one in QUESTIONS}) == len(QUESTIONS)


@each_question
def test_a_question_is_whole(question: dict[str, Any]) -> None:
    own = {"choices"} if question["type"] == "mcq" else {"numeric_tolerance"}
    assert set(question) - {"accept"} == COMMON | own
    assert question["difficulty"] in {"easy", "medium", "hard"}
    assert question["topic_tags"]
    assert all(question[field].strip() == question[field] != "" for field in ("question", "answer", "explanation"))
    assert 2 <= question["explanation"].count(". ") + 1 <= 6
    assert question["question"].count("```") % 2 == 0


@each_question
def test_a_question_names_vendors_pages(question: dict[str, Any]) -> None:
    for source in question["sources"]:
        assert set(source) == {"title", "url", "section"}
        assert source["url"].startswith(VENDORS)
        assert source["title"] and source["section"]
    assert question["sources"]


@each_choice
def test_choices_are_lettered_distinct_and_refer_to_nothing_but_themselves(question: dict[str, Any]) -> None:
    choices = question["choices"]
    assert 4 <= len(choices) <= 6
    assert [choice[:3] for choice in choices] == [f"{letter}. " for letter in "ABCDEF"[: len(choices)]]
    assert question["answer"] in "ABCDEF"[: len(choices)]
    assert len({text.casefold() for text in texts(question)}) == len(choices)
    assert not any("of the above" in text or "of these" in text for text in texts(question))


@pytest.mark.parametrize("question", SHORT_ANSWERS, ids=lambda one: f"{one['chapter']}/{one['exercise']}")
def test_only_a_fraction_has_a_tolerance_and_no_question_spells_its_answer(question: dict[str, Any]) -> None:
    answer, tolerance = question["answer"], question["numeric_tolerance"]
    is_fraction = _is_number(answer) and Fraction(answer).denominator > 1
    assert 0 < tolerance <= 0.01 if is_fraction else tolerance == 0
    assert _is_number(answer) or answer.casefold() not in question["question"].casefold()
    assert answer not in question.get("accept", [])
    assert all(is_right(question, f"Final: {text}") for text in [answer, *question.get("accept", [])])


def test_neither_letter_nor_length_gives_the_answer_away() -> None:
    letters = Counter(one["answer"] for one in CHOICES)
    longest = [one for one in CHOICES if all(len(answer_text(one)) > len(text) for text in _wrong(one))]
    assert max(letters.values()) <= 0.4 * len(CHOICES)
    assert min(letters[letter] for letter in "ABCD") >= 0.1 * len(CHOICES)
    assert len(longest) <= 0.25 * len(CHOICES)


@cache
def problems() -> dict[str, QuestionProblem]:
    """The questions as the site reads them."""
    return dict(zip(NAMES, read_questions(TEXTBOOK / "questions.jsonl").problems, strict=True))


def is_right(question: dict[str, Any], reply: str) -> bool:
    return problems()[f"{question['chapter']}/{question['exercise']}"].agrees(reply)[1]


def test_the_site_reads_every_field() -> None:
    assert read_questions(TEXTBOOK / "questions.jsonl").ignored == ()
    assert [one.group for one in problems().values()] == [one["chapter"] for one in QUESTIONS]


@each_choice
def test_one_choice_alone_is_right_by_letter_and_by_text(question: dict[str, Any]) -> None:
    letters = "ABCDEF"[: len(question["choices"])]
    for reply in (letters, texts(question)):
        right = [letter for letter, said in zip(letters, reply, strict=True) if is_right(question, f"Final: {said}")]
        assert right == [question["answer"]]


@pytest.mark.parametrize(("entrant", "least", "most"), [("demo-careful", 0.8, 0.9), ("demo-hasty", 0.5, 0.6)])
def test_a_demo_entrant_replies_once_to_every_question_and_is_as_good_as_its_name(
    entrant: str, least: float, most: float
) -> None:
    lines = (TEXTBOOK / "entrants" / entrant / "answers.jsonl").read_text("utf-8").splitlines()
    answers = [json.loads(line) for line in lines]
    assert [one["exercise"] for one in answers] == NAMES
    replies = [reply for one in answers for reply in one["replies"]]
    right = [is_right(question, reply) for question, reply in zip(QUESTIONS, replies, strict=True)]
    assert least < sum(right) / len(right) < most


def _wrong(question: dict[str, Any]) -> list[str]:
    return [text for text in texts(question) if text != answer_text(question)]


def _is_number(text: str) -> bool:
    try:
        Fraction(text)
    except ValueError:
        return False
    return True
