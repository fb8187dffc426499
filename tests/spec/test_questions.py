"""Questions: what a record must say, and how a reply is read by pmpp-eval's rule and by the lenient one."""

from typing import Any

import pytest

from problems.spec.digests import grading_digest
from problems.spec.errors import RecordError
from problems.spec.profile import Profile
from problems.spec.question.patterns import PatternTooSlow
from problems.spec.record import ProblemRecord, Settled
from problems.spec.records import parse_record, record_from
from problems.spec.solution import SourceFile

CHOICES = ["128 threads", "256 threads", "A block of 512 threads", "1024 threads"]


def question(**fields: Any) -> ProblemRecord:
    common = {"task_id": "qa-1-a", "date": "", "prompt": "How many?", "metadata": {}, "group": "ch01"}
    return record_from({**common, "type": fields["kind"], "schema_version": 1, **fields}, Profile.PODIUM)


def choice(grading: str = "lenient", **fields: Any) -> ProblemRecord:
    return question(kind="choice", choices=CHOICES, answer="B", grading=grading, **fields)


def short(answer: str, tolerance: float = 0.0, grading: str = "lenient", **fields: Any) -> ProblemRecord:
    return question(kind="short_answer", answer=answer, numeric_tolerance=tolerance, grading=grading, **fields)


def settled(problem: ProblemRecord, reply: str) -> Settled:
    found = problem.settled([SourceFile(path="answer.txt", content=reply)])
    assert found is not None
    return found


def passes(problem: ProblemRecord, reply: str) -> bool:
    return settled(problem, reply).passed


# Of the reference's list: what pmpp-eval makes of each reply to a choice whose answer is B, and what is right.
REPLIES_TO_B = [
    ("Final: **B**", False, True),
    ("**Final:** B", False, True),
    ("Final: (B)", False, True),
    ("Final: <B>", False, True),
    ("Final answer: B", False, True),
    ("I first say\nFinal: A\nbut then\nFinal: B", False, True),
    ("Final: Because a warp has 32 lanes, the answer is C", True, False),
    ("final: b", True, True),
    ("Final: B) 256 threads", True, True),
    ("Final:\nB", True, True),
    (r"\boxed{B}", True, True),
    ("It must be even.\n\nB", True, True),
    ("Final: A", False, False),
    ("", False, False),
]


@pytest.mark.parametrize(("reply", "strictly", "rightly"), REPLIES_TO_B)
def test_a_choice_is_read_by_each_rule_as_it_says(reply: str, strictly: bool, rightly: bool) -> None:
    assert passes(choice("pmpp-strict"), reply) is strictly
    assert passes(choice("lenient"), reply) is rightly


@pytest.mark.parametrize(
    ("answer", "reply", "strictly"),
    [
        ("1024", "Final: 1,024", False),
        ("1024", "Final: 1024 threads", False),
        ("12.5", "Final: 12.5%", False),
        ("Yes", "Final: Yes.", False),
        ("0.3333", "Final: 0.33", False),
        ("1000", "Final: 1e3", True),
        ("Yes", "so yes it is\nYES", True),
        ("42", "Answer: 42", True),
    ],
)
def test_a_short_answer_is_right_whatever_pmpp_eval_makes_of_it(answer: str, reply: str, strictly: bool) -> None:
    assert passes(short(answer, grading="pmpp-strict"), reply) is strictly
    assert passes(short(answer), reply)


@pytest.mark.parametrize(
    "reply",
    [
        "The answer is **(B) 256 threads**.",
        r"So $\boxed{\text{B}}$ it is.",
        "Final: 256 threads",
        "Final: B because two blocks fit",
        "Final: B. It is neither A nor C.",
        "Option B",
        "The answer is not A. Final Answer: `B`",
        "Final: because two blocks of 128 fit, B",
        "İİİİİİ FINAL: B",
    ],
)
def test_usual_ways_to_name_a_choice_are_understood(reply: str) -> None:
    assert passes(choice(), reply)


@pytest.mark.parametrize(
    "reply", ["Final: A or B", "B or C", "A, B, C and D", "Final: A block of 512 threads", "Final: all", "Final: E"]
)
def test_a_reply_that_names_several_choices_another_or_none_is_wrong(reply: str) -> None:
    assert not passes(choice(), reply)


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ("1024", "= 1024"), ("1024", "Final: 2^10"), ("1024", "Final: 1 024"), ("1024", "The total is 1024 threads."),
        ("-5", "Final: −5"), ("0.3333", "1/3"), ("0.3333", "33.33 %"), ("0.125", "12.5%"), ("48 KB", "48"),
        ("48 KB", "48 kB per SM"), ("3.2e-4", r"3.2 \times 10^{-4} s"), ("__syncthreads", "Final: `__syncthreads()`"),
        ("pinned memory", "Final: **Pinned  memory**, because it is not paged"), ("(1, 2)", "Final: (1, 2)"),
    ],
)  # fmt: skip
def test_numbers_and_names_are_compared_by_what_they_mean(answer: str, reply: str) -> None:
    assert passes(short(answer), reply)


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ("1024", "1023"), ("1024", "1024 or 2048"), ("1024", "not 1024"), ("0.3333", "0.3"), ("0.3333", "0.34"),
        ("48 KB", "48 MB"), ("12.5", "12,5"), ("1024", "1e3"), ("Yes", "No"), ("Yes", "Yes and no"), ("5", "-5"),
        ("__syncthreads", "__syncwarp()"), ("1000", "1,00"),
    ],
)  # fmt: skip
def test_other_numbers_and_names_are_wrong(answer: str, reply: str) -> None:
    assert not passes(short(answer), reply)


def test_the_tolerance_bounds_the_difference_at_its_edge() -> None:
    for grading in ("lenient", "pmpp-strict"):
        problem = short("2.5", tolerance=0.25, grading=grading)
        assert passes(problem, "Final: 2.75")
        assert not passes(problem, "Final: 2.7501")


def test_other_texts_may_be_as_right_but_pmpp_eval_knows_none() -> None:
    assert passes(short("coalesced", accept=["coalescing"]), "Final: coalescing")
    assert not passes(short("coalesced", accept=["coalescing"], grading="pmpp-strict"), "Final: coalescing")


def test_patterns_come_first_and_the_first_match_counts_for_pmpp_eval_the_last_otherwise() -> None:
    patterns = [r"result\s*=\s*(\d+)"]
    reply = "result = 1, no: result = 2\nFinal: 3"
    assert passes(short("1", grading="pmpp-strict", final_answer_patterns=[r"result\s*=\s*(\d+)", r"(1)"]), reply)
    assert settled(short("2", final_answer_patterns=patterns), reply).read_as == "2"
    own = choice("pmpp-strict", final_answer_patterns=[r"choose (\w)"])
    assert passes(own, "I choose b\nFinal: A")
    assert passes(own, "Final: B")


def test_a_pattern_without_end_is_tried_twice_and_settles_nothing() -> None:
    problem = short("b", grading="pmpp-strict", final_answer_patterns=[r"(a|aa)+$"])
    with pytest.raises(PatternTooSlow, match=r"did not finish within 2\.0 s"):
        settled(problem, "a" * 5000 + "!")


def test_the_reason_tells_what_was_read_and_never_the_answer() -> None:
    wrong = settled(short("4711"), "Final: 12")
    assert "'12'" in wrong.reason
    assert "4711" not in wrong.reason
    assert "declares no answer" in settled(choice(), "I do not know.").reason


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "choice", "choices": ["one"], "answer": "A"}, "choices"),
        ({"kind": "choice", "choices": ["one", "One"], "answer": "A"}, "lists one text twice"),
        ({"kind": "choice", "choices": ["one", "two"], "answer": "C"}, "does not accept its own answer 'C'"),
        ({"kind": "choice", "choices": ["one", "two"], "answer": "two"}, "must be the letter of a choice"),
        ({"kind": "short_answer", "answer": "x", "final_answer_patterns": ["("]}, "is not a regular expression"),
        ({"kind": "short_answer", "answer": "x", "numeric_tolerance": -1}, "numeric_tolerance"),
        ({"kind": "short_answer", "answer": "x", "final_answer_patterns": [r"Final: (\d*)"]}, "its own answer"),
        ({"kind": "short_answer", "answer": "x", "sources": [{"title": "t", "url": "http://a"}]}, "url"),
        ({"kind": "short_answer", "answer": "x", "hint": "y"}, "hint"),
    ],
)
def test_a_record_that_cannot_be_used_is_refused_with_its_field(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(RecordError, match=words):
        question(**fields)


def test_letters_before_the_choices_are_left_out() -> None:
    problem = question(kind="choice", choices=["A. one", "B) two", "(C) three"], answer="c")
    assert problem.public_facts()["choices"] == ["one", "two", "three"]
    assert passes(problem, "Final: three")


def test_a_record_comes_back_as_it_was_written() -> None:
    for problem in (choice(), short("1", sources=[{"title": "Guide", "url": "https://example.org/a"}])):
        assert parse_record(problem.to_line(), Profile.PODIUM) == problem


def test_nothing_public_holds_the_answer() -> None:
    problem = short("4711", explanation="It is 4711.", accept=["0x1267"])
    assert "4711" not in repr((problem.public_facts(), problem.files, problem.starters, problem.prompt))


def test_words_for_people_do_not_change_what_results_depend_on() -> None:
    plain, told = short("1"), short("1", explanation="Because.", sources=[{"title": "t", "url": "https://a.org"}])
    assert grading_digest(plain, []) == grading_digest(told, [])
    assert grading_digest(plain, []) != grading_digest(short("1", tolerance=0.5), [])


@pytest.mark.parametrize(
    ("paths", "words"),
    [([], "none"), (["answer.md"], "answer.md"), (["answer.txt", "other.txt"], "give one, answer.txt")],
)
def test_a_solution_is_one_file_with_the_reply(paths: list[str], words: str) -> None:
    files = [SourceFile(path=path, content="Final: B") for path in paths]
    assert words in choice().rules().why_bad(files)


def test_a_reply_has_a_bounded_length() -> None:
    assert "at most 100000" in choice().rules().why_bad([SourceFile(path="answer.txt", content="x" * 100_001)])
