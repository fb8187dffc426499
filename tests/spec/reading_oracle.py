"""How replies to questions were read by expressions of quadratic time: what the linear scans must agree with."""

import re
from collections.abc import Sequence
from functools import lru_cache

_FINAL = re.compile(
    r"\bfinal(?:[ \t]+answer)?[ \t]*(?:is\b)?[ \t]*[:=][ \t]*|\bfinal[ \t]+answer[ \t]+is\b", re.IGNORECASE
)
_ANSWER = re.compile(r"\b(?:answer|choice|option)[ \t]*(?:is\b[ \t]*:?|[:=])(?![ \t]*not\b)[ \t]*", re.IGNORECASE)
_MARKS = ("**", "__", "`", "~~", "$", r"\(", r"\)", r"\[", r"\]")
_LINE_MARKS = re.compile(r"^(?:#+|>)\s*", re.MULTILINE)
_WRAPPED = re.compile(r"\\(?:text|mathrm|mathbf|textbf|boxed|mbox)\s*\{([^{}]*)\}")
_PAIRS = {"(": ")", "[": "]", "<": ">", "{": "}", '"': '"', "'": "'", "“": "”", "‘": "’", "*": "*", "_": "_"}
_TAIL = re.compile(r"[\s.,;:!]+$")
_REASON = re.compile(r"(?:,?\s+(?:because|since|as|so|which)\b|\.\s|;\s|\s[–—-]\s).*", re.IGNORECASE | re.DOTALL)
_ARTICLE = r"A\s+(?!(?:or|and|because|since|as|so|is)\b)[a-z]"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER = {ord(letter): letter.lower() for letter in LETTERS}
DEEPEST = 4


def declared(reply: str) -> str:
    return plain(_built_in(reply))


def _built_in(reply: str) -> str:
    text = _without_markup(reply)
    if found := _last_final(text) or next(reversed(list(_ANSWER.finditer(text))), None):
        return _first_line(text[found.end() :])
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _last_final(text: str) -> re.Match[str] | None:
    """The last declaration with the word `final`, looked for from the end: replies are long, and it stands there."""
    lower = text.lower() if text.isascii() else text.translate(_LOWER)  # of the same length
    place = lower.rfind("final")
    while place >= 0 and not (found := _FINAL.match(text, place)):
        place = lower.rfind("final", 0, place)
    return found if place >= 0 else None


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def _without_markup(text: str) -> str:
    for _ in range(DEEPEST if "\\" in text else 0):
        text = _WRAPPED.sub(_unwrapped, text)
    for mark in _MARKS:
        text = text.replace(mark, "")
    return _LINE_MARKS.sub("", text) if "#" in text or ">" in text else text


def _unwrapped(match: re.Match[str]) -> str:
    """A box declares an answer, so it becomes a declaration on a line of its own."""
    return f"\nFinal: {match[1]}\n" if match[0].startswith("\\boxed") else match[1]


def plain(text: str) -> str:
    """The text without markup, brackets that enclose all of it, and punctuation at its end."""
    text = _TAIL.sub("", _without_markup(text).strip())
    while len(text) > 1 and _PAIRS.get(text[0]) == text[-1] and not {text[0], text[-1]} & set(text[1:-1]):
        text = _TAIL.sub("", text[1:-1].strip())
    return text


def chosen_letter(text: str, choices: Sequence[str]) -> str:
    """The letter that a declared answer names, or ""; `choices` are the texts of A, B, C …"""
    letters = LETTERS[: len(choices)]
    for one in (text, _REASON.sub("", text)):
        same = [letter for letter, choice in zip(letters, choices, strict=True) if _is_choice(one, letter, choice)]
        if found := same or _leading_letter(one, letters):
            return found[0]
    named = set(re.findall(rf"(?<![\w'])(?!{_ARTICLE})([{letters}])(?![\w'])", text))
    return named.pop() if len(named) == 1 else ""


def _is_choice(text: str, letter: str, choice: str) -> bool:
    """Whether the text is the choice's own, with or without its letter."""
    return _same(text, choice) or (text.startswith(f"{letter} ") and _same(text[2:], choice))


def _leading_letter(text: str, letters: str) -> list[str]:
    found = re.match(rf"(?:option |choice )?[(\[<]?([{letters}])(?:[)\]>.:,]|\s[-–—]\s|$)", text, re.IGNORECASE)
    return [found[1].upper()] if found else []


def _same(given: str, expected: str) -> bool:
    return _folded(given) == _folded(expected)


@lru_cache(maxsize=4096)
def _folded(text: str) -> str:
    return re.sub(r"\s+", " ", plain(text)).casefold().removesuffix("()").strip()


_BUILT_IN = (
    re.compile(r"final[:\s]+(.+?)(?:\n|$)", re.IGNORECASE),
    re.compile(r"answer[:\s]+(.+?)(?:\n|$)", re.IGNORECASE),
    re.compile(r"\\boxed\{([^}]*)\}", re.IGNORECASE),
    re.compile(r"the answer is[:\s]+(.+?)(?:\n|$)", re.IGNORECASE),
)


def read_strictly(reply: str) -> str:
    for built_in in _BUILT_IN:
        if match := built_in.search(reply):
            return match[1].strip()
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    return lines[-1] if lines else ""
