"""Make an entrant of one's own."""

from typing import Any

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from leaderboard.actions.errors import Conflict, NotAllowed, Refused
from leaderboard.models import Entrant
from leaderboard.models.audit import record
from leaderboard.models.entrant import EntrantKind

OWN_KINDS = (EntrantKind.MODEL, EntrantKind.AGENT, EntrantKind.PERSON)


def slug_of(name: str) -> str:
    """The address made from a name; never one of the system's, which begin with an underscore."""
    return slugify(name)[:100]


def why_bad_name(name: str) -> str:
    """Words for a person; empty where a new entrant may bear the name."""
    slug = slug_of(name)
    if not slug or name.startswith("_"):
        return "Use at least one letter or digit, and begin with one: the address is made from the name."
    if Entrant.objects.filter(slug=slug).exists():
        return f"An entrant at the address “{slug}” is here already. Choose another name."
    return ""


def kinds_for(user: Any) -> tuple[EntrantKind, ...]:
    """Baselines are an organiser's to make; system entrants are the site's own."""
    return (*OWN_KINDS, EntrantKind.BASELINE) if user.is_staff else OWN_KINDS


def create_entrant(user: Any, name: str, kind: str = EntrantKind.MODEL, **fields: Any) -> Entrant:
    """A new entrant that the user owns. Raises NotAllowed, Refused or Conflict."""
    if not user.is_authenticated or kind not in kinds_for(user):
        raise NotAllowed("not_your_kind", f"You may not make an entrant of kind {kind!r}.")
    if reason := why_bad_name(name):
        raise Refused("bad_name", reason)
    try:
        with transaction.atomic():
            entrant = Entrant.objects.create(slug=slug_of(name), name=name, kind=kind, owner=user, **fields)
            record(user, "create", entrant)
    except IntegrityError as error:
        raise Conflict("name_taken", f"An entrant called {name!r} has just been made. Choose another name.") from error
    return entrant
