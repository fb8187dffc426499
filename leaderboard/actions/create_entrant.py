"""Make an entrant that a user or a team of the user's owns."""

from typing import Any

from django.db import IntegrityError, transaction

from leaderboard.entrant_rules import kinds_for, slug_of, why_bad_name
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.models import Entrant, Team
from leaderboard.models.audit import record
from leaderboard.models.entrant import EntrantKind
from leaderboard.models.team import MANAGING


def create_entrant(
    user: Any, name: str, kind: str = EntrantKind.MODEL, team: Team | None = None, **fields: Any
) -> Entrant:
    """Make an entrant of the user, or of the team. Raises NotAllowed, Refused or Conflict."""
    if not user.is_authenticated or kind not in kinds_for(user):
        raise NotAllowed("not_your_kind", f"You may not make an entrant of kind {kind!r}.")
    if team is not None and not Team.objects.of(user, MANAGING).filter(pk=team.pk).exists():
        raise NotAllowed("owners_only", f"Only an owner of {team} makes entrants for it.")
    holder: dict[str, Any] = {"owner": user} if team is None else {"team": team}
    if reason := why_bad_name(name):
        raise Refused("bad_name", reason)
    try:
        with transaction.atomic():
            entrant = Entrant.objects.create(slug=slug_of(name), name=name, kind=kind, **holder, **fields)
            record(user, "create", entrant)
    except IntegrityError as error:
        raise Conflict("name_taken", f"An entrant called {name!r} has just been made. Choose another name.") from error
    return entrant
