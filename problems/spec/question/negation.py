"""Leaves out what a declared answer denies: of `B (not A)` it keeps `B`, of `neither A nor B` nothing."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_TOKENS = re.compile(r"\w+(?:['’]\w+)*|\s+|[^\w\s]")
_BRACKETS = frozenset('()[]{}<>"“”')
_OPENING = frozenset('([{<:"“')
_STOPS = frozenset(",;.:!?")
_DASHES = frozenset("-–—")
_NEW_CLAUSE = frozenset({"but", "so", "because", "since", "hence", "therefore", "thus", "whereas", "while", "which"})
_NOT = frozenset({"not", "never", "neither", "nor", "without", "except", "excluding", "unlike", "besides", "≠", "¬"})
_NOT |= frozenset(
    "nicht kein keine weder noch pas ni non ninguno não nem né nessuno niet geen inte ikke nie değil не нет ни".split()  # noqa: SIM905
)
_DOUBTS = frozenset("doubt doubts doubting reject rejects rejecting exclude excludes eliminate eliminates".split())  # noqa: SIM905
_NO_DOUBT = frozenset({"no", "without", "not", "little", "can't", "cannot"})
_NOT_IN_TWO = frozenset({("rather", "than"), ("instead", "of"), ("other", "than"), ("opposed", "to")})
_ALL_BUT = frozenset({"anything", "everything", "all", "any", "every", "each"})
_NO_DENIAL = frozenset(
    {("not", "only"), ("not", "just"), ("without", "doubt"), ("without", "a"), ("never", "mind"), ("non", "-")}
)
_VERBS = frozenset(
    "is are was were be been do does did can could would should will must has have cannot".split()  # noqa: SIM905
)
_OF_ANSWERS = frozenset({"correct", "right", "true", "valid", "possible", "it", "the", "an", "a", "option", "choice"})
_WRONG = frozenset({"wrong", "incorrect", "untrue", "invalid"})
_WRONG_WITH_VERB = frozenset({"false", "excluded", "eliminated", "rejected", "unlikely", "impossible", "doubtful"})
_RETRACTIONS = (["no"], ["nope"], ["wait", "no"])
_DENIAL_MARK = re.compile(r"!=|(?<!\S)!(?=\w)")
_IN_LISTS = frozenset({"and", "or", "nor", "option", "choice"})


@dataclass(frozen=True)
class _Clause:
    tokens: Sequence[str]
    stop: str
    """The mark or word that ends it; "" at the end of the text."""

    @property
    def words(self) -> list[str]:
        return [token.lower() for token in self.tokens if not token.isspace()]

    def until(self, n_words: int) -> str:
        """The first words as they stand."""
        kept: list[str] = []
        for token in self.tokens:
            if not token.isspace():
                n_words -= 1
            if n_words < 0:
                break
            kept.append(token)
        return "".join(kept)


def affirmed(text: str) -> str:
    """The text without its denied parts; unchanged where it denies nothing, "" where it affirms nothing."""
    clauses = list(_clauses(_DENIAL_MARK.sub("≠", text)))
    kept = [_affirmed_words(clause) for clause in clauses]
    for place, clause in enumerate(clauses[1:], 1):
        if clause.words in _RETRACTIONS and clauses[place - 1].stop == "?":
            kept[place - 1] = kept[place] = 0
    if all(n == len(clause.words) for n, clause in zip(kept, clauses, strict=True)):
        return text
    for place in range(1, len(clauses)):
        if _denies_on(clauses[place - 1], kept[place - 1], clauses[place]):
            kept[place] = 0
    shown = (clause.until(n) + clause.stop for n, clause in zip(kept, clauses, strict=True))
    return _without_rests("".join(shown))


def _clauses(text: str) -> Iterator[_Clause]:
    tokens: list[str] = []
    found = _TOKENS.findall(text)
    for place, token in enumerate(found):
        if _ends_a_clause(found, place):
            yield _Clause(tokens, token)
            tokens = []
        else:
            tokens.append(token)
    yield _Clause(tokens, "")


def _ends_a_clause(tokens: Sequence[str], place: int) -> bool:
    token = tokens[place]
    blank_after = place + 1 == len(tokens) or tokens[place + 1].isspace()
    if token in _STOPS:
        return blank_after
    if token in _DASHES:
        return blank_after and place > 0 and tokens[place - 1].isspace()
    if token.lower() == "but":
        return not _ALL_BUT & {before.lower() for before in tokens[max(place - 4, 0) : place]}
    return token in _BRACKETS or token.lower() in _NEW_CLAUSE or "\n" in token


def _affirmed_words(clause: _Clause) -> int:
    """The number of the clause's first words that are no denial."""
    words = clause.words
    if _WRONG & set(words) or (_WRONG_WITH_VERB & set(words) and _VERBS & set(words)):
        return 0
    at = _denial(words)
    if at is None:
        return len(words)
    is_verb = words[at].endswith(("n't", "n’t")) or words[at] == "cannot" or (at > 0 and words[at - 1] in _VERBS)
    return 0 if is_verb and _speaks_of_an_answer(words[at + 1 :]) else at


def _denial(words: Sequence[str]) -> int | None:
    """Where a denial begins."""
    for at, (word, after) in enumerate(pairwise([*words, ""])):
        if (word, after) in _NO_DENIAL:
            continue
        if word in _NOT or word == "cannot" or word.endswith(("n't", "n’t")) or (word, after) in _NOT_IN_TWO:
            return at
        if word in _DOUBTS and not (at and words[at - 1] in _NO_DOUBT):
            return at
        if word in _ALL_BUT and "but" in words[at + 1 : at + 3]:
            return at
        if word == "no" and len(after) == 1 and after.isalpha():
            return at
    return None


def _speaks_of_an_answer(words: Sequence[str]) -> bool:
    return not words or words[0] in _OF_ANSWERS or _is_item(words[0])


def _is_item(word: str) -> bool:
    """A letter or a number, as lists of answers have them."""
    return len(word) == 1 or word[0].isdigit()


def _denies_on(before: _Clause, n_kept: int, clause: _Clause) -> bool:
    """Whether a denial goes on behind the mark that ends its clause: `not (A)`, `not A, B, or C`."""
    denied, words = before.words[n_kept:], [word for word in clause.words if word not in _IN_LISTS]
    if not before.words or n_kept == len(before.words):
        return False
    if before.stop in _OPENING and _denial(before.words) == len(before.words) - 1:
        return True
    return before.stop == "," and _is_item(denied[-1]) and bool(words) and all(_is_item(word) for word in words)


def _without_rests(text: str) -> str:
    for empty in ("()", "[]", "{}", "<>", '""', "“”"):
        text = text.replace(empty, "")
    return text.strip(" \t\n,;:.!?-–—")
