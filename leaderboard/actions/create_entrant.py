"""Make an entrant that a user owns."""

from typing import Any

from django.db import IntegrityError, transaction

from leaderboard.entrant_rules import kinds_for, slug_of, why_bad_name
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.models import Entrant
from leaderboard.models.audit import record
from leaderboard.models.entrant import EntrantKind


def create_entrant(user: Any, name: str, kind: str = EntrantKind.MODEL, **fields: Any) -> Entrant:
    """Make an entrant. Raises NotAllowed, Refused or Conflict."""
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
