"""A search by words: every word stands in one of some fields, in any case."""

from collections.abc import Sequence

from django.db.models import Q

MOST_CHARACTERS = 100
MOST_WORDS = 6


def words_of(search: str) -> list[str]:
    """The words that are sought: the first `MOST_WORDS` of the first `MOST_CHARACTERS`."""
    return search[:MOST_CHARACTERS].split()[:MOST_WORDS]


def has_words(words: Sequence[str], fields: Sequence[str]) -> Q:
    """Rows that have every word in one of the fields; without words all rows."""
    found = Q()
    for word in words:
        somewhere = Q()
        for field in fields:
            somewhere |= Q(**{f"{field}__icontains": word})
        found &= somewhere
    return found
