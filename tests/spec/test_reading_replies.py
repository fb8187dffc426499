"""Replies to questions: read in linear time, as the expressions of before read them, and by what they affirm."""

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import pytest

from problems.spec.question import lenient, strict
from tests.spec import reading_oracle

CHOICES = ["128 threads", "256 threads", "A block of 512 threads", "1024 threads"]
LENGTH = 100_000
SLOWEST_S = 0.15
"""A machine as slow as any seen takes half of it for the slowest reply; a quadratic scan takes minutes."""
SHORTER = 5
"""Replies of a fifth of the length are read first. Where the time grows with the square, a reply that takes too long at
its full length takes a 25th of that time here; the others, nearly all, are not read at their full length."""

WORDS = [
    "final", "Final:", "final answer", "Final answer is", "answer", "the answer is", "answer is:",
    "choice", "option", "\\boxed{", "\\text{", "because", ", because", "since", "so", "is", "not", "A",
    "B", "12", "4096", "2^12 =", ">", "at least", "neither", "1,0", "",
]  # fmt: skip
REPEATED = [
    " ", "\n", "\t", ":", ": ", ".", ". ", ";", ", ", "!", "#", ">", "> ", "=", "{", "}", "\\boxed{",
    "\\text{", "(", "[", "*", "**", "`", "1", "1,", "1,000,", "-", " - ", "– ", "final", "final ",
    "Final: ", "answer ", "answer: ", "because ", "a", "A ", "A or ", "not ", "it isn't ", "İ", "Ｂ",
    "\u00a0", "e1", "^", "=1", "<",
]  # fmt: skip


def readings() -> list[Callable[[str], object]]:
    return [
        lambda reply: lenient.chosen_letter(lenient.declared(reply, []), CHOICES),
        lambda reply: lenient.agrees(lenient.declared(reply, []), "4096", 0.0),
        lambda reply: lenient.agrees(reply, "pinned memory", 0.0),
        lambda reply: lenient.chosen_letter(reply, CHOICES),
        lambda reply: strict.agrees(strict.read(reply, strict.patterns_of_choice([])), "B", 0.0),
        lambda reply: strict.agrees(strict.read(reply, []), "4096", 0.5),
    ]


def seconds(read: Callable[[str], object], reply: str) -> float:
    """The best of three: other work on the machine only adds."""
    spent = []
    for _ in range(3):
        began = time.thread_time()
        read(reply)
        spent.append(time.thread_time() - began)
        if spent[-1] <= SLOWEST_S / 2:
            break
    return min(spent)


GRID = list(product(WORDS, REPEATED, ["", "!x"]))
NAMES = ["letter", "number", "name", "undeclared", "strict letter", "strict"]


def slow_replies(
    read: Callable[[str], object], grid: Sequence[tuple[str, str, str]]
) -> dict[tuple[str, str, str], float]:
    slow = {}
    for parts in grid:
        for short, whole in zip(replies(*parts, LENGTH // SHORTER), replies(*parts, LENGTH), strict=True):
            if seconds(read, short) > SLOWEST_S / SHORTER**2 and (spent := seconds(read, whole)) > SLOWEST_S:
                slow[parts] = spent
    return slow


def replies(word: str, run: str, after: str, length: int) -> tuple[str, str]:
    n = length - len(word) - len(after)
    body = (run * (n // len(run) + 1))[:n]
    return word + body + after, body + word + after


@pytest.mark.parametrize("read", readings(), ids=NAMES)
def test_no_reply_takes_long_to_read(read: Callable[[str], object]) -> None:
    assert not slow_replies(read, random.Random(1).sample(GRID, 60))


@pytest.mark.rest
@pytest.mark.parametrize("read", readings(), ids=NAMES)
def test_none_of_many_replies_takes_long_to_read(read: Callable[[str], object]) -> None:
    assert not slow_replies(read, GRID)


PIECES = [
    "final", "Final:", "final answer", "answer", "is", "choice", "option", "the", "A", "B", "C", "b", "a",
    " ", " ", " ", "\t", "\n", "\n", ":", ": ", "=", ".", ". ", ",", ", ", "!", "?", "(", ")", "[", "]",
    "<", ">", "{", "}", "\\boxed{", "}", "\\text{", "}", "**", "__", "`", "$", "\\(", "#", "-", " - ", "–",
    "12", "4096", "1,024", "%", "×", "é", "'", "x", "because", "since", "so", "which", "as", "256 threads",
    "\u00a0", "İ", "_", "\r\n",
]  # fmt: skip


def random_replies(seed: int, count: int) -> Iterator[str]:
    rng = random.Random(seed)
    for _ in range(count):
        yield "".join(rng.choice(PIECES) + rng.choice(["", "", " "]) for _ in range(rng.randint(1, 12)))


def test_linear_scans_find_what_expressions_found() -> None:
    for reply in random_replies(seed=11, count=25_000):
        assert strict.read(reply, []) == reading_oracle.read_strictly(reply)
        found = reading_oracle.declared(reply)
        assert lenient.declared(reply, []) == found or re.search(r">=?\s*\d|\d\*\*\d", reply)
        before, letter = reading_oracle.chosen_letter(found, CHOICES), lenient.chosen_letter(found, CHOICES)
        # Several letters, what `!` or `!=` denies, and letters behind a reason are read anew; all else as it was.
        assert (
            letter == before
            or re.search(r"!=|(?<!\S)!\w", found)
            or (not before and letter in re.split("because|since", found, flags=re.IGNORECASE)[0].upper())
            or (not letter and any(choice.casefold() in found.casefold() for choice in CHOICES))
            or (not letter and len(set(re.findall("[A-C]|[abc](?![a-z])", found))) > 1)
        )


def chosen(reply: str) -> str:
    return lenient.chosen_letter(lenient.declared(reply, []), CHOICES)


def is_4096(reply: str) -> bool:
    return lenient.agrees(lenient.declared(reply, []), "4096", 0.0)


FORMS = [
    "{}", "Final: {}", "**Final:** {}", "The answer is {}.", "Final answer: **{}**",
    "I think so.\n\nFinal: {}", "Final：{}",
]  # fmt: skip
SCRIPTS = {
    "plain": ("B", "A", "4096", "8192"), "full-width": ("Ｂ", "Ａ", "４０９６", "８１９２"),
    "mathematical": ("𝐁", "𝐀", "𝟒𝟎𝟗𝟔", "𝟖𝟏𝟗𝟐"),
}  # fmt: skip
AFFIRMED = [
    "{0}", "({0})", "{0} (not {1})", "{0}, not {1}", "not {1} but {0}", "{0} rather than {1}",
    "{0} instead of {1}", "it isn't {1}, it is {0}", "{0} — not {1}", "{0} and not {1}", "not {1}, so {0}",
]  # fmt: skip
DENIED = [
    "not {0}", "neither {1} nor {0}", "neither {0}, {1} nor {0}", "never {0}", "it isn't {0}",
    "it cannot be {0}", "anything but {0}", "{0} is wrong", "{0} is not correct", "not ({0})", "≠ {0}",
    "!= {0}", "not {1}, {0}",
]  # fmt: skip
SEVERAL = [
    "{0}; {1}", "{1}; {0}", "[{0}] [{1}]", "[{1}] [{0}]", "{0}, {1}", "{0} or {1}", "{0} and {1}",
    "{0} / {1}", "either {0} or {1}", "{0} - {1}", "{0}. {1}", "({0}) ({1})",
]  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("form", FORMS)
def test_affirmed_answers_count_and_denied_or_several_do_not(form: str, script: str) -> None:
    b, a, n, other = SCRIPTS[script]
    for said in AFFIRMED:
        assert chosen(form.format(said.format(b, a))) == "B", said
        assert is_4096(form.format(said.format(n, other))), said
    for said in DENIED + SEVERAL:
        assert chosen(form.format(said.format(b, a))) != "B", said
        assert not is_4096(form.format(said.format(n, other))), said


@pytest.mark.parametrize(
    "said", ["2^12 = 4096", "n = 2^12 = 4096", "4096 (2^12)", "4096 = 4 KiB", "≈ 4096", "4096; it is 2^12"]
)
def test_an_equation_says_its_number(said: str) -> None:
    assert is_4096(f"Final: {said}")


@pytest.mark.parametrize(
    "said",
    ["at least 4096", "at most 4096", "more than 4096", "≥ 4096", "<= 4096", "> 4096", "4096 or more", "up to 4096",
     "4096%", "4096 = 8192", "2^12 = 8192", "4096 (8192)", "under 4096", "4096 and up", "bounded by 4096", ">4096",
     "less 4096"],
)  # fmt: skip
def test_a_bound_a_percentage_and_a_contradiction_are_no_number(said: str) -> None:
    assert not is_4096(f"Final: {said}")


def test_a_bound_that_is_the_answer_is_right() -> None:
    assert lenient.agrees("≥ 4096", "at least 4096", 0.0)
    assert not lenient.agrees("at most 4096", "at least 4096", 0.0)


def test_explanations_may_name_other_letters() -> None:
    replies = ["B. It is bigger than A", "B because it beats A.", "B (A is too small)", "B, which does not diverge"]
    assert [chosen(f"Final: {reply}") for reply in replies] == ["B", "B", "", "B"]


@pytest.mark.parametrize(
    "said",
    [">= 4096", "⩾ 4096", "less than or equal to 4096", "4096 upwards", "4096 per cent", "4096﹪", "4096‰", "4096²",
     "4096 thousand", "4096k", "minus 4096", "half of 4096", "sqrt(4096)", "√4096", "log2 4096", "2 ** 12 = 4095"],
)  # fmt: skip
def test_what_makes_another_number_of_it_is_read(said: str) -> None:
    assert not lenient.agrees(lenient.declared(f"Final: {said}", []), "4096", 0.0)


def test_a_scale_of_both_is_no_difference() -> None:
    assert lenient.agrees("2 million threads", "2 million", 0.0)
    assert lenient.agrees("300 K", "300", 0.0)
    assert not lenient.agrees("2", "2 million", 0.0)


@pytest.mark.parametrize("said", ["4{,}096", "$4{,}096$", r"4\,096", r"\boxed{4\,096}"])
def test_a_separator_of_tex_is_one(said: str) -> None:
    assert is_4096(f"Final: {said}")


@pytest.mark.parametrize(
    ("said", "letter"),
    [("nicht B", ""), ("pas B", ""), ("ni A ni B", ""), ("не B", ""), ("!B", ""), ("I doubt B", ""),
     ("no doubt B", "B"),
     ("B is ruled out", "B"), ("B is eliminated", ""), ("B is unlikely", ""), ("A? No, B", "B"), ("A? No.", ""),
     ("it's B, not A, because C and D are too small", "B"), ("🄱", "B"), ("Ⓑ", "B"), ("B (non-coalesced)", "B"),
     ("B; the others are eliminated", "B"), ("B, without doubt", "B")],
)  # fmt: skip
def test_doubts_other_languages_and_reasons(said: str, letter: str) -> None:
    assert chosen(f"Final: {said}") == letter


@pytest.mark.parametrize("said", ["2**12", "2**12 = 4096", "**2**12**"])
def test_a_power_with_two_asterisks_is_no_markup(said: str) -> None:
    assert lenient.agrees(lenient.declared(f"Final: {said}", []), "4096", 0.0)


@pytest.mark.parametrize(
    ("said", "letter"),
    [("no B", ""), ("no, B", "B"), ("every option but B", ""), ("any but B", ""), ("B, maybe C", ""),
     ("B, alternatively C", ""), ("C) two", ""), ("B three", ""), ("two; three", ""), ("B) two", "B"),
     ("two; as it says", "B"), ("B two", "B")],
)  # fmt: skip
def test_a_letter_with_another_choices_text_is_none(said: str, letter: str) -> None:
    choices = ["one", "two", "three", "four"]
    assert lenient.chosen_letter(lenient.declared(f"Final: {said}", []), choices) == letter
