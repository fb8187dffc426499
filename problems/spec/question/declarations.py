"""Finds where a reply declares its answer. Every scan is linear in the reply's length.

Expressions name literal keywords only. What may repeat (blanks, brackets, punctuation) is walked by index, because a
search that starts anew at each character of a run takes quadratic time.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain

_ANSWER = re.compile(r"\b(?:answer|choice|option)", re.IGNORECASE)
_ANSWER_WORD, _IS, _NOT = (re.compile(word, re.IGNORECASE) for word in ("answer", r"is\b", r"not\b"))
_LOWER = {code: chr(code + 32) for code in range(ord("A"), ord("Z") + 1)}
_BLANKS, _COLONS = (" ", "\t"), (":", "=")
_MARKS = ("**", "__", "`", "~~", "$", r"\(", r"\)", r"\[", r"\]")
_LINE_MARKS = re.compile(r"^(?:#+|>)\s*", re.MULTILINE)
_MARKS_OF_ANSWERS = re.compile(r"^(?:#+|>(?!=?\s*\d))\s*", re.MULTILINE)
"""Marks before an answer. `> 4096` and `>= 4096` are no quotations: the answer begins after the marks."""
_POWER = re.compile(r"(?<=\d)\*\*(?=\d)")
"""Between two numbers, as in `2**12`, where no bold text can begin or end in a word."""
_WRAPPED = re.compile(r"\\(?:text|mathrm|mathbf|textbf|boxed|mbox)\s*\{([^{}]*)\}")
_PAIRS = {"(": ")", "[": "]", "<": ">", "{": "}", '"': '"', "'": "'", "“": "”", "‘": "’", "*": "*", "_": "_"}
_END_MARKS = frozenset(".,;:!")
_SHAPES = ("<wide>", "<font>", "<circle>", "<square>")
DEEPEST = 4
"""Commands of TeX within each other that are read."""


def declared(reply: str) -> str:
    """The text after the last declaration of an answer that is not negated, else the last line that is not blank."""
    text = without_markup(in_ascii(reply))
    ends = chain(
        (_end_of_final(text, at) for at in _ends_of_word_final(text)),
        (_end_of_answer(text, found.end()) for found in reversed(list(_ANSWER.finditer(text)))),
    )
    end = next((end for end in ends if end is not None), None)
    if end is not None:
        return next((line for line in text[end:].splitlines() if line.strip()), "")
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


def in_ascii(text: str) -> str:
    """The text with full-width, circled and mathematical letters, digits and marks as the plain ones they stand for."""
    others = {} if text.isascii() else {one: _plain_character(one) for one in set(text) if not one.isascii()}
    changed = {ord(one): plain for one, plain in others.items() if plain != one}
    return text.translate(changed) if changed else text


def _plain_character(character: str) -> str:
    if not unicodedata.decomposition(character).startswith(_SHAPES):
        return character
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 and plain.isascii() else character


def without_markup(text: str, line_marks: re.Pattern[str] = _LINE_MARKS) -> str:
    """The text without the marks of Markdown and TeX; a box becomes a declaration on a line of its own."""
    for _ in range(DEEPEST if "\\" in text else 0):
        text, n_unwrapped = _WRAPPED.subn(_unwrapped, text)
        if not n_unwrapped:
            break
    text = _POWER.sub("^", text)
    for mark in _MARKS:
        text = text.replace(mark, "")
    return line_marks.sub("", text) if "#" in text or ">" in text else text


def _unwrapped(match: re.Match[str]) -> str:
    return f"\nFinal: {match[1]}\n" if match[0].startswith("\\boxed") else match[1]


def plain(text: str) -> str:
    """The text without markup, brackets that enclose all of it, and punctuation at its end."""
    text = _without_end(without_markup(in_ascii(text), _MARKS_OF_ANSWERS).strip())
    while len(text) > 1 and _PAIRS.get(text[0]) == text[-1] and not {text[0], text[-1]} & set(text[1:-1]):
        text = _without_end(text[1:-1].strip())
    return text


def _without_end(text: str) -> str:
    end = len(text)
    while end and (text[end - 1] in _END_MARKS or text[end - 1].isspace()):
        end -= 1
    return text[:end]


def _ends_of_word_final(text: str) -> Iterator[int]:
    """The last first: replies are long, and declarations stand at their end."""
    lower = text.lower() if text.isascii() else text.translate(_LOWER)  # of the same length
    at = lower.rfind("final")
    while at >= 0:
        if at == 0 or not (lower[at - 1].isalnum() or lower[at - 1] == "_"):
            yield at + len("final")
        at = lower.rfind("final", 0, at)


def _end_of_final(text: str, at: int) -> int | None:
    """Where `Final:`, `Final answer is:`, `final =` or `final answer is` ends, read from the end of `final`."""
    after = _blanks(text, at)
    answer = _ANSWER_WORD.match(text, after) if after > at else None
    if answer:
        after = _blanks(text, answer.end())
    said = _IS.match(text, after)
    mark = _blanks(text, said.end()) if said else after
    if text[mark : mark + 1] in _COLONS:
        return _unless_negated(text, mark + 1)
    return _unless_negated(text, said.end()) if said and answer and after > answer.end() else None


def _end_of_answer(text: str, at: int) -> int | None:
    """Where `answer is`, `answer is:` or `choice:` ends, read from the end of the first word."""
    after = _blanks(text, at)
    if said := _IS.match(text, after):
        mark = _blanks(text, said.end())
        return _unless_negated(text, mark + 1 if text[mark : mark + 1] == ":" else said.end())
    return _unless_negated(text, after + 1) if text[after : after + 1] in _COLONS else None


def _unless_negated(text: str, at: int) -> int | None:
    at = _blanks(text, at)
    return None if _NOT.match(text, at) else at


def _blanks(text: str, at: int) -> int:
    while text[at : at + 1] in _BLANKS:
        at += 1
    return at
