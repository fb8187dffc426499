"""Delete an account: what is personal goes, and what results rest on stays under a name that says nothing."""

import secrets
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from leaderboard.accounts.kept_data import KEPT, Fate
from leaderboard.errors import Refused
from leaderboard.models import AuditEntry, Entrant, EntrantRequest, Invitation, Membership, PmppToken, Team, Transfer
from leaderboard.models.audit import record
from leaderboard.models.entrants.ownership import RequestState, TransferState
from leaderboard.models.entrants.team import TeamRole

_ACTION = "delete_account"


@transaction.atomic
def delete_account(user: Any) -> None:
    """Raises Refused for an organiser, and for the only owner of a team that has other members."""
    row = User.objects.select_for_update().get(pk=user.pk)
    if row.is_staff:
        words = "An organiser's account is not deleted. Ask another organiser to take away your rights first."
        raise Refused("organisers_stay", words)
    _leave_teams(row)
    idle = Entrant.objects.filter(owner=row, submissions=None)
    counts = {"entrants_deleted": idle.count(), "entrants_kept": Entrant.objects.filter(owner=row).count()}
    counts["entrants_kept"] -= counts["entrants_deleted"]
    record(row, _ACTION, row, "", **counts)
    _end_what_is_open(row)
    idle.delete()
    for one in KEPT:
        if one.fate is Fate.GOES:
            one.rows(row).delete()
    Invitation.objects.filter(used_by=row).update(email="", note="")
    _rename(row)


def is_retired(username: str) -> bool:
    """Whether it was the name of a deleted account, which the audit goes on naming."""
    return AuditEntry.objects.filter(action=_ACTION, actor_name__iexact=username).exists()


def _leave_teams(user: User) -> None:
    """Dissolves the teams whose only member is the user, who takes over their entrants. Raises Refused if the user
    is the only owner of a team with other members."""
    owned = Team.objects.filter(memberships__user=user, memberships__role=TeamRole.OWNER)
    for team in Team.objects.select_for_update().filter(pk__in=owned.values("pk")):
        others = Membership.objects.filter(team=team).exclude(user=user)
        if others.filter(role=TeamRole.OWNER).exists():
            continue
        if others.exists():
            words = f"You are the only owner of {team}. Make somebody else an owner, or remove the others, first."
            raise Refused("last_owner", words)
        team.entrants.update(team=None, owner=user)
        record(user, "dissolve_team", team, members=[user.username])
        team.delete()


def _end_what_is_open(user: User) -> None:
    now = timezone.now()
    offers = Transfer.objects.filter(offered_by=user) | Transfer.objects.filter(to_user=user)
    offers.filter(state=TransferState.OFFERED).update(state=TransferState.WITHDRAWN, answered_at=now)
    EntrantRequest.objects.filter(asked_by=user, state=RequestState.OPEN).update(
        state=RequestState.REFUSED, ruled_at=now, ruling="The account was deleted."
    )
    PmppToken.objects.filter(user=user, revoked_at=None).update(revoked_at=now)


def _rename(user: User) -> None:
    user.username = f"deleted-{secrets.token_hex(5)}"
    user.email = user.first_name = user.last_name = ""
    user.last_login, user.is_active = None, False
    user.set_unusable_password()  # which also ends every session
    user.save()
