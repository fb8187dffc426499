"""Make an entrant that a user or a team of the user's owns."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from leaderboard.entrants.entrant_rules import kinds_for, slug_of, why_bad_name
from leaderboard.entrants.name_records import why_refused
from leaderboard.errors import Conflict, NotAllowed, Refused, TooMuch
from leaderboard.models import Entrant, NameKind, Team
from leaderboard.models.audit import record
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.models.entrants.team import MANAGING


def create_entrant(
    user: Any, name: str, kind: str = EntrantKind.MODEL, team: Team | None = None, **fields: Any
) -> Entrant:
    """Make an entrant of the user, or of the team. Raises NotAllowed, Refused, TooMuch or Conflict."""
    if not user.is_authenticated or kind not in kinds_for(user):
        raise NotAllowed("not_your_kind", f"You may not make an entrant of kind {kind!r}.")
    if team is not None and not Team.objects.of(user, MANAGING).filter(pk=team.pk).exists():
        raise NotAllowed("owners_only", f"Only an owner of {team} makes entrants for it.")
    holder: dict[str, Any] = {"owner": user} if team is None else {"team": team}
    try:
        with transaction.atomic():
            _check_number(user)
            _check_names(user, name, fields.get("organisation", ""))
            entrant = Entrant.objects.create(slug=slug_of(name), name=name, kind=kind, **holder, **fields)
            record(user, "create", entrant)
    except IntegrityError as error:
        raise Conflict("name_taken", f"An entrant called {name!r} has just been made. Choose another name.") from error
    return entrant


def _check_number(user: Any) -> None:
    """Counts what the account owns and what it manages for its teams. Organisers make any number."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # a second request waits here
    most = settings.ENTRANTS_PER_ACCOUNT
    if not user.is_staff and Entrant.objects.managed_by(user).distinct().count() >= most:
        words = f"An account has at most {most} entrants, those of its teams included. Edit one, or ask an organiser."
        raise TooMuch("too_many_entrants", words)


def _check_names(user: Any, name: str, organisation: str) -> None:
    if reason := why_bad_name(name, user):
        raise Refused("bad_name", reason)
    if reason := why_refused(NameKind.ORGANISATION, organisation, user):
        raise Refused("bad_organisation", reason)
