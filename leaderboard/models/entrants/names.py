"""Names that look alike: the skeleton of a name, and why a name may not stand."""

import re
import unicodedata
from functools import cache
from hashlib import sha256

from confusable_homoglyphs.categories import alias
from confusable_homoglyphs.confusables import confusables_data

BADGE_WORDS = ("verified", "official", "certified", "authentic")
RESERVED = (
    "admin", "administrator", "root", "superuser", "moderator", "staff", "organiser", "organizer", "operator",
    "support", "security", "system", "podium", "baseline", "reference", "known bad", *BADGE_WORDS,
)  # fmt: skip
"""Names of the site's own. A name also counts as reserved if it joins several, as “Podium admin”."""
MIXED = "“{word}” mixes alphabets, so that it can look like another name. Write each word in one."
IS_RESERVED = "This name, or one that looks like it, is the site's own. Choose another."
LOOKS_LIKE = "This name looks like one that somebody else has. Choose another."
_SCRIPTS_TOGETHER = (
    {"LATIN", "HAN", "HIRAGANA", "KATAKANA"},
    {"LATIN", "HAN", "HANGUL"},
    {"LATIN", "HAN", "BOPOMOFO"},
)
"""Scripts that may be mixed: the sets of Unicode Technical Standard 39, "highly restrictive", for Japanese, Korean
and Chinese."""
_NO_SCRIPT = {"COMMON", "INHERITED", "UNKNOWN"}
_CHECK_MARKS = "√✓✔☑✅"
_MARKS = "\u200e\u200f"
_TELLING = "#&@%"
"""Punctuation that a name may differ by."""


def why_imitates(name: str) -> str:
    """Returns the reason why nobody may have the name; empty if somebody may."""
    for word in _words(name):
        if not _is_one_writing(word):
            return MIXED.format(word=word)
    return IS_RESERVED if _is_reserved(name) else ""


def skeleton(name: str) -> str:
    """The same text for all names that look alike, without badge words and symbols beside the name.

    Unicode Technical Standard 39, section 4, in any letter case: as small i and capital I are one letter, and capital
    I, small l and 1 look alike, these four become one.
    """
    return " ".join(_without_badges(name))


def digest_of_skeleton(name: str) -> str:
    """64 characters, whatever the name's length, so that a column can hold it and an index find it."""
    return sha256(skeleton(name).encode()).hexdigest()


def spelling(name: str) -> str:
    """The same text for spellings of one name by its honest users: letter case, width and spaces are left out."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _words(name: str) -> list[str]:
    """Runs of letters, marks and digits, in the characters as they were typed."""
    kept = "".join(one if unicodedata.category(one)[0] in "LMN" else " " for one in _visible(name))
    return kept.split()


def _visible(name: str) -> str:
    """Without characters that show nothing: joiners, marks of direction, soft hyphens, variation selectors."""
    return "".join(one for one in name if unicodedata.category(one) != "Cf" and not "\ufe00" <= one <= "\ufe0f")


def _is_one_writing(word: str) -> bool:
    scripts = {str(alias(one)).upper() for one in word} - _NO_SCRIPT  # type: ignore[no-untyped-call]
    return len(scripts) <= 1 or any(scripts <= together for together in _SCRIPTS_TOGETHER)


def _without_badges(name: str) -> list[str]:
    """The skeleton's words. A name of badge words alone keeps them."""
    words = _skeleton_words(name)
    badges = {_skeleton_of(word) for word in BADGE_WORDS}
    return [word for word in words if word not in badges] or words


def _skeleton_words(name: str) -> list[str]:
    shown = "".join(" " if _is_symbol(one) else one for one in _visible(name))
    words = [word for word in re.split(r"[\s_‐‑–—-]+", shown) if word]
    return [_skeleton_of(word) for word in filter(None, map(_without_punctuation, words))] or list(
        map(_skeleton_of, words)
    )


def _without_punctuation(word: str) -> str:
    """The word from its first to its last character that says something: `C#` and `C++` are not `C`."""
    says = [at for at, one in enumerate(word) if not _is_punctuation(one)]
    return word[says[0] : says[-1] + 1] if says else ""


def _is_punctuation(one: str) -> bool:
    return one in "|<>" or (unicodedata.category(one)[0] == "P" and one not in _TELLING)


def _is_symbol(one: str) -> bool:
    return one in _CHECK_MARKS or unicodedata.category(one) in ("So", "Sk", "Co")


def _skeleton_of(text: str) -> str:
    found = _prototypes(unicodedata.normalize("NFKC", _prototypes(text)).casefold()).casefold()
    return unicodedata.normalize("NFD", found).replace("i", "l").replace("ı", "l")


def _prototypes(text: str) -> str:
    return "".join(_prototype(one) for one in unicodedata.normalize("NFD", text))


@cache
def _prototype(one: str) -> str:
    """The prototype of the character in Unicode's table of confusables; itself where it is in none.

    The library keeps a prototype's row with all characters that are drawn like it, and each of these with the prototype
    alone. Of a pair that nothing else is drawn like, the first stands for both.
    """
    alike = [str(row["c"]).strip(_MARKS) for row in confusables_data.get(one, [])]
    if len(alike) != 1:
        return one
    (other,) = alike
    if len(other) > 1 or len(confusables_data.get(other, [])) > 1:
        return other
    return min(one, other)


@cache
def _reserved_skeletons() -> frozenset[str]:
    return frozenset("".join(_skeleton_words(name)) for name in RESERVED)


def _is_reserved(name: str) -> bool:
    """A reserved name, several of them joined, or one that a symbol sets off, as in “Alpha ✓ verified”."""
    reserved = _reserved_skeletons()
    words = _skeleton_words(name)
    if words and (all(word in reserved for word in words) or "".join(words) in reserved):
        return True
    parts = "".join("\n" if _is_symbol(one) else one for one in _visible(name)).split("\n")
    return len(parts) > 1 and any("".join(_skeleton_words(part)) in reserved for part in parts)
