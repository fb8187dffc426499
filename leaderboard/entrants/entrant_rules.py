"""Rules for new entrants: their names, and the kinds that a user may make."""

import unicodedata
from hashlib import sha256
from typing import Any

from django.utils.text import slugify

from leaderboard.entrants.name_records import why_refused
from leaderboard.models import Entrant, NameKind
from leaderboard.models.entrants.entrant import EntrantKind

OWN_KINDS = (EntrantKind.MODEL, EntrantKind.AGENT, EntrantKind.PERSON)


def slug_of(name: str) -> str:
    """The address made from a name. It never begins with an underscore, as those of system entrants do.

    Addresses are in ASCII. Of a name with letters of other alphabets it ends with a hash, or is one.
    """
    told = slugify(name)[:90]
    lost = any(one.isalnum() and not one.isascii() for one in unicodedata.normalize("NFKD", name))
    return f"{told}-{sha256(name.encode()).hexdigest()[:8]}".lstrip("-_") if lost else slugify(name)[:100]


def why_unprintable(name: str) -> str:
    """Returns the reason why a name cannot stand in a line of a page, a mail or a feed; empty where it can."""
    return "" if name.isprintable() else "Use printable characters only: no line breaks and no control characters."


def why_bad_name(name: str, user: Any) -> str:
    """Returns the reason why the name is refused; empty where a new entrant may have it."""
    if reason := why_unprintable(name):
        return reason
    slug = slug_of(name)
    if not slug or name.startswith("_"):
        return "Use at least one letter or digit, and begin with one: the address is made from the name."
    if Entrant.objects.filter(slug=slug).exists():
        return f"An entrant at the address “{slug}” is here already. Choose another name."
    return why_refused(NameKind.ENTRANT, name, user)


def kinds_for(user: Any) -> tuple[EntrantKind, ...]:
    """Only organisers make baselines. Nobody makes system entrants: they are the site's own."""
    return (*OWN_KINDS, EntrantKind.BASELINE) if user.is_staff else OWN_KINDS
