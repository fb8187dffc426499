"""Teams: make one, invite people to it, change their roles, leave it. A team always has an owner."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage, get_connection
from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard.entrants.entrant_rules import slug_of, why_unprintable
from leaderboard.entrants.name_records import why_refused
from leaderboard.errors import Conflict, NotAllowed, Refused, TooMuch
from leaderboard.models import Membership, NameKind, Team, TeamInvitation
from leaderboard.models.audit import AuditEntry, record
from leaderboard.models.entrants.team import MANAGING, TeamRole

OPEN_INVITATIONS = 20
"""The most that a team may have open at once."""
INVITED_FOR = timedelta(days=7)
MAILS_PER_DAY, MAILS_TO_ONE_PER_DAY = 20, 3
"""Invitations that an account may have mailed, and that one address is mailed by all accounts together."""
INVITE = "invite_to_team"
NOT_VALID = "This invitation is not valid: it is mistyped, was used, or has expired. Ask for a new one."


def create_team(user: Any, name: str) -> Team:
    """Make a team whose owner is the user. Raises Refused or Conflict."""
    if reason := why_unprintable(name):
        raise Refused("bad_name", reason)
    slug = slug_of(name)
    if not slug:
        raise Refused("bad_name", "Use at least one letter or digit: the address is made from the name.")
    try:
        with transaction.atomic():
            if reason := why_refused(NameKind.TEAM, name, user):
                raise Refused("bad_name", reason)
            team = Team.objects.create(slug=slug, name=name)
            Membership.objects.create(team=team, user=user, role=TeamRole.OWNER)
            record(user, "create", team)
    except IntegrityError as error:
        raise Conflict("name_taken", f"There is a team called {name!r} already. Choose another name.") from error
    return team


def invite_to_team(user: Any, team: Team, role: str, *, email: str = "", join_url: str) -> tuple[TeamInvitation, str]:
    """Returns the invitation and its secret; mails it to the address, if there is one.

    Raises NotAllowed, Refused, TooMuch, or OSError if no mail can be sent, and then the invitation is withdrawn.
    """
    with transaction.atomic():
        _held(user, team)
        _check_role(role)
        if TeamInvitation.usable().filter(team=team).count() >= OPEN_INVITATIONS:
            raise TooMuch("too_many_invitations", f"{OPEN_INVITATIONS} invitations are open. Withdraw one first.")
        if email:
            _check_mails(user, email)
        row, secret = TeamInvitation.issue(user, team, role, timezone.now() + INVITED_FOR, email)
        record(user, INVITE, team, invitation=row.hint, role=role, email=email)
    if email:  # after the transaction: a slow mail server holds no lock
        connection = get_connection(**settings.MAIL, timeout=10)
        words = _words(user, row, secret, join_url)
        try:
            EmailMessage(f"Join {team} on Podium", words, settings.MAIL_FROM, [email], connection=connection).send()
        except OSError:
            withdraw_invitation(user, row)
            raise
    return row, secret


def _check_mails(user: Any, email: str) -> None:
    """Counts mails in the audit, which remembers withdrawn invitations and dissolved teams. Raises TooMuch."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # a second request waits here
    mailed = AuditEntry.objects.filter(
        action=INVITE, at__gt=timezone.now() - timedelta(days=1), detail__email__isnull=False
    ).exclude(detail__email="")
    if mailed.filter(actor=user).count() >= MAILS_PER_DAY:
        raise TooMuch("too_many_mails", f"At most {MAILS_PER_DAY} invitations a day are mailed for an account.")
    if mailed.filter(detail__email__iexact=email).count() >= MAILS_TO_ONE_PER_DAY:
        raise TooMuch("too_many_mails", "This address has had several invitations today. Use one, or ask tomorrow.")


def withdraw_invitation(user: Any, invitation: TeamInvitation) -> bool:
    """Ends the invitation at once. Returns False if it was used or had expired. Raises NotAllowed."""
    with transaction.atomic():
        _held(user, invitation.team)
        withdrawn = TeamInvitation.usable().filter(pk=invitation.pk).update(expires_at=timezone.now())
        if withdrawn:
            record(user, "withdraw_invitation", invitation.team, invitation=invitation.hint)
    return bool(withdrawn)


@transaction.atomic
def join(user: Any, secret: str) -> Team:
    """Use an invitation up. A member keeps the role that is there. Raises Refused."""
    found = TeamInvitation.find(secret)
    if found is None:
        raise Refused("bad_invitation", NOT_VALID)
    Team.objects.select_for_update().get(pk=found.team_id)
    if not Membership.objects.filter(team=found.team_id, user=found.invited_by_id, role=TeamRole.OWNER).exists():
        raise Refused("bad_invitation", "Who made this invitation no longer owns the team. Ask for a new one.")
    if Membership.objects.filter(team=found.team_id, user=user).exists():
        raise Refused("member_already", f"You are in {found.team} already. The invitation can still be used.")
    if not found.claim():
        raise Refused("bad_invitation", NOT_VALID)
    TeamInvitation.objects.filter(pk=found.pk).update(used_by=user)
    Membership.objects.create(team=found.team, user=user, role=found.role)
    record(user, "join_team", found.team, role=found.role, invitation=found.hint)
    return found.team


@transaction.atomic
def set_role(user: Any, member: Membership, role: str, was: str | None = None) -> None:
    """Change a member's role. `was` is the role that the user saw. Raises NotAllowed, Refused or Conflict."""
    team = _held(user, member.team, organisers=True)
    _check_role(role)
    member.role = Membership.objects.filter(pk=member.pk).values_list("role", flat=True).first() or member.role
    if was is not None and was != member.role:
        words = f"Meanwhile {member.user} became {member.role} of {team}. Nothing was changed: choose the role again."
        raise Conflict("changed_meanwhile", words)
    if role != TeamRole.OWNER:
        _check_not_last_owner(team, member)
    if not Membership.objects.filter(pk=member.pk).update(role=role):
        raise Conflict("not_a_member", f"{member.user} is no longer in {team}.")
    record(user, "set_role", team, username=member.user.username, role=role, was=member.role)


@transaction.atomic
def remove_member(user: Any, member: Membership) -> None:
    """Take a member out of the team, or leave it. Raises NotAllowed or Refused."""
    team = Team.objects.select_for_update().get(pk=member.team_id)
    if member.user_id != user.pk:
        _held(user, team, organisers=True)
    _check_not_last_owner(team, member)
    Membership.objects.filter(pk=member.pk).delete()
    action = "leave_team" if member.user_id == user.pk else "remove_member"
    record(user, action, team, username=member.user.username, was=member.role)


@transaction.atomic
def put_in_charge(organiser: Any, team: Team, username: str) -> None:
    """An organiser makes an account an owner of a team, as where all owners have gone. Raises NotAllowed or Refused."""
    if not organiser.is_staff:
        raise NotAllowed("organisers_only", "Only an organiser does this.")
    person = User.objects.filter(username=username, is_active=True).first()
    if person is None:
        raise Refused("no_such_account", f"There is no account “{username}”. Usernames are case-sensitive.")
    Membership.objects.update_or_create(team=team, user=person, defaults={"role": TeamRole.OWNER})
    record(organiser, "put_in_charge", team, username=username, role=TeamRole.OWNER)


@transaction.atomic
def dissolve(user: Any, team: Team) -> None:
    """Delete a team that holds no entrant. Raises NotAllowed or Refused."""
    held = _held(user, team)
    if held.entrants.exists():
        raise Refused("has_entrants", "The team holds entrants. Transfer each of them first.")
    record(user, "dissolve_team", held, members=list(held.users.values_list("username", flat=True)))
    held.delete()


def _held(user: Any, team: Team, *, organisers: bool = False) -> Team:
    """The team's row, locked, so that two changes of its owners follow one another. Raises NotAllowed."""
    row = Team.objects.select_for_update().get(pk=team.pk)
    if organisers and user.is_staff:
        return row
    if not Team.objects.of(user, MANAGING).filter(pk=team.pk).exists():
        raise NotAllowed("owners_only", f"Only an owner of {team} does this.")
    return row


def _check_role(role: str) -> None:
    if role not in TeamRole.values:
        raise Refused("no_such_role", f"Choose one of the roles {', '.join(TeamRole.values)}.")


def _check_not_last_owner(team: Team, member: Membership) -> None:
    others = Membership.objects.filter(team=team, role=TeamRole.OWNER).exclude(pk=member.pk)
    if not others.exists():
        words = f"{team} would have no owner. Make somebody else an owner first, or dissolve the team."
        raise Refused("last_owner", words)


def _words(user: Any, row: TeamInvitation, secret: str, join_url: str) -> str:
    return (
        f"{user.get_username()} invites you to the team {row.team} on Podium, as {row.role}.\n"
        f"Sign in at {join_url} and enter this invitation:\n\n    {secret}\n\n"
        f"It can be used once, within {INVITED_FOR.days} days. If you do not know the team, do nothing.\n"
    )
