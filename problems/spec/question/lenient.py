"""Reads a reply as a fair person would: the last declared answer counts, whatever its markup.

A reply that declares several answers, or none that can be told, is wrong. An answer that is denied is none.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from problems.spec.question import declarations
from problems.spec.question.declarations import plain
from problems.spec.question.negation import affirmed
from problems.spec.question.numerals import SCALES, Numeral, is_number, numeral, sides
from problems.spec.question.patterns import all_matches

_REASON = re.compile(r"\s(?P<because>because|since|as|so|which)\b|\.\s|;\s|\s[–—-]\s", re.IGNORECASE)
_GROUNDS = re.compile(r"\s(?:because|since)\b", re.IGNORECASE)
"""Words after which the text speaks of other answers, too."""
_LEADING_LETTER = re.compile(r"[(\[<]?([A-Z])[)\]>.:,]*\s+")
_ARTICLE = r"A\s+(?!(?:or|and|because|since|as|so|is)\b)[a-z]"
_ALSO = "or|and|maybe|perhaps|possibly|alternatively"
_EXPLAINS = frozenset("because since as so which that it this these the they i we e g therefore hence thus".split())  # noqa: SIM905
_ASSURES = frozenset({"absolutely", "certainly", "correct", "definitely", "done", "exactly", "indeed", "qed", "thanks"})
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LONGEST_ANSWER, LONGEST_CHOICE = 2000, 25_000
"""Characters. A longer declaration names no answer that can be told; a choice's own text may be longer."""
MOST_WORDS = 3
"""A longer tail of an answer is an explanation."""
PERCENT_OF_ALL = 100.0
"""Up to here a percentage may stand for the bare number."""
MIN_DIGITS = 2
"""A rounded reply needs that many significant digits."""


def declared(reply: str, patterns: Sequence[str]) -> str:
    """The last answer that the reply declares, as text without markup. Raises PatternTooSlow."""
    found = [one for pattern in patterns for one in all_matches(pattern, reply)[-1:]]
    return plain(found[-1] if found else declarations.declared(reply))


def chosen_letter(text: str, choices: Sequence[str]) -> str:
    """The letter that a declared answer names, or ""; `choices` are the texts of A, B, C …"""
    letters = LETTERS[: len(choices)]
    known = {_known(choice): letter for letter, choice in zip(letters, choices, strict=True)}
    said = affirmed(text) if len(text) <= LONGEST_ANSWER else ""
    head, tail = _parts(said)
    for one in dict.fromkeys((text, _parts(text)[0], said, head)):
        if same := _letter_of_text(one, known):
            return same if _letter_of_text(tail, known) in ("", same) or same == _letter_of_text(said, known) else ""
    named = _named(said, letters) | _letter_behind(said, known)
    return named.pop() if len(named) == 1 else ""


def _letter_of_text(text: str, known: Mapping[str, str]) -> str:
    """The letter of the choice whose text it is, with or without its letter before it; or ""."""
    if len(text) > LONGEST_CHOICE:
        return ""
    if same := known.get(_folded(text)):
        return same
    leading = _LEADING_LETTER.match(text)
    return leading[1] if leading and known.get(_folded(text[leading.end() :])) == leading[1] else ""


def _letter_behind(text: str, known: Mapping[str, str]) -> set[str]:
    """The letter of the choice whose text follows a leading letter: `B) one` names two where A is `one`."""
    leading = _LEADING_LETTER.match(text)
    same = known.get(_folded(text[leading.end() :])) if leading else None
    return {same} if same else set()


def _named(text: str, letters: str) -> set[str]:
    """The letters that a text declares: a leading one with those listed behind it, else all that stand alone."""
    form = rf"(?:option |choice )?[(\[<]?([{letters}])(?:[)\]>.:,]|\s[-–—]\s|$)"
    for one in (text, _parts(text)[0]):
        if leading := re.match(form, one, re.IGNORECASE):
            return {leading[1].upper(), *_listed(text[leading.end() :], letters)}
    alone = re.compile(rf"(?<![\w'])(?!{_ARTICLE})([{letters}])(?![\w'])")
    return set(alone.findall(_GROUNDS.split(text, maxsplit=1)[0])) or set(alone.findall(text))


def _listed(text: str, letters: str) -> list[str]:
    """Letters that stand as further answers behind a first one: `, C`, `[A]`, `or C)`, but not `, bigger than C`."""
    one = rf"[(\[<]?([{letters}])(?=[)\]>:.,;/&]|\s+(?:or|and)\b|\s*$)"
    behind = re.match(rf"(?:[\s,;/&()\[\]<>.:-]|\b(?:{_ALSO})\b)*{one}", text, re.IGNORECASE)
    alternatives = re.findall(rf"\b(?:{_ALSO})\s{one}|[,;]\s?[(\[<]?([{letters}])[)\]:]", text)
    return [*([behind[1].upper()] if behind else []), *("".join(groups) for groups in alternatives)]


def agrees(given: str, expected: str, tolerance: float) -> bool:
    """Equal as numbers, within the tolerance or where one is the other correctly rounded; or equal as text."""
    if len(given) > LONGEST_ANSWER:
        return False
    if _same(given, expected):
        return True
    said = affirmed(given)
    head, tail = _parts(said)
    if not said or _is_another(tail, expected, tolerance):
        return False
    return any(_same(one, expected) or _same_number(one, expected, tolerance) for one in {said, head})


def _parts(text: str) -> tuple[str, str]:
    """The text before the first reason, comment or further sentence, and the text after it."""
    found = _REASON.search(text)
    if found is None:
        return text, ""
    head = text[: found.start()]
    if found["because"]:
        head = head.rstrip().removesuffix(",")
    return head, text[found.end() :].strip()


def _is_another(tail: str, expected: str, tolerance: float) -> bool:
    """Whether what follows an answer is another answer, and no explanation of it."""
    words = re.findall(r"[^\s,;]+", plain(tail).casefold())
    if not words or len(words) > MOST_WORDS or words[0] in _EXPLAINS or set(words) <= _ASSURES:
        return False
    if numeral(plain(expected)) is None:
        return not _same(tail, expected) and len(words) <= len(expected.split()) + 1
    return is_number(tail) and not _same_number(tail, expected, tolerance)


def _same(given: str, expected: str) -> bool:
    return _folded(given) == _known(expected)


def _folded(text: str) -> str:
    return " ".join(plain(text).split()).casefold().removesuffix("()").strip()


@lru_cache(maxsize=4096)
def _known(text: str) -> str:
    return _folded(text)


def _same_number(given: str, expected: str, tolerance: float) -> bool:
    """An equation says the answer if a side is it and no other side in the same unit is another number."""
    right = numeral(plain(expected))
    if right is None:
        return False
    numbers = sides(given)
    fits = [_fits(own, right, tolerance) for own in numbers]
    units = {(own.unit, own.is_percent) for own, fit in zip(numbers, fits, strict=True) if fit}
    others = {(own.unit, own.is_percent) for own, fit in zip(numbers, fits, strict=True) if not fit}
    return bool(units) and not units & others


def _fits(own: Numeral, right: Numeral, tolerance: float) -> bool:
    if not _units_fit(own, right) or own.bound not in ("", right.bound):
        return False
    return any(_close(value, own, right, tolerance) for value in _readings(own, right))


def _readings(own: Numeral, right: Numeral) -> list[float]:
    """`12.5 %` may stand for 12.5 and for 0.125, unless the expected answer says which; `4096 %` is 40.96."""
    if own.is_percent and not right.is_percent:
        return [own.value / 100, *([own.value] if abs(own.value) <= PERCENT_OF_ALL else [])]
    return [own.value]


def _units_fit(own: Numeral, right: Numeral) -> bool:
    is_scaled = own.unit in SCALES or right.unit in SCALES
    return own.unit == right.unit or not (is_scaled or (own.unit and right.unit))


def _close(value: float, own: Numeral, right: Numeral, tolerance: float) -> bool:
    if abs(value - right.value) <= max(tolerance, 1e-12 * abs(right.value)):
        return True
    return value == own.value and _is_rounded(own, right)


def _is_rounded(own: Numeral, right: Numeral) -> bool:
    """Whether the number with fewer decimals is the other one rounded; whole numbers are exact."""
    if right.decimals is None or right.decimals <= 0:
        return False
    decimals = right.decimals if own.decimals is None else min(own.decimals, right.decimals)
    shorter = own if own.decimals is not None and own.decimals <= right.decimals else right
    if decimals <= 0 or shorter.digits < MIN_DIGITS:
        return False
    return abs(own.value - right.value) <= 0.5 * 10.0**-decimals * (1 + 1e-9)
