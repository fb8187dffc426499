"""Transfers: an entrant is offered to another user or team, and becomes theirs when they accept."""

from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.models import Entrant, Team, Transfer
from leaderboard.models.audit import record
from leaderboard.models.entrants.ownership import TransferState
from leaderboard.models.entrants.team import MANAGING


@transaction.atomic
def offer(user: Any, entrant: Entrant, to: User | Team) -> Transfer:
    """Offer the entrant. A team that the user owns has it at once. Raises NotAllowed, Refused, Conflict."""
    held = _held(user, entrant)
    if to in (held.owner, held.team):
        raise Refused("theirs_already", f"{held.name} belongs to {to} already.")
    place: dict[str, Any] = {"to_team": to} if isinstance(to, Team) else {"to_user": to}
    try:
        with transaction.atomic():
            made = Transfer.objects.create(entrant=held, offered_by=user, **place)
    except IntegrityError as error:
        raise Conflict("offered_already", "It is offered to somebody already. Withdraw that offer first.") from error
    record(user, "offer_transfer", held, to=str(to), to_kind=type(to).__name__.lower())
    if isinstance(to, Team) and Team.objects.of(user, MANAGING).filter(pk=to.pk).exists():
        accept(user, made)
    return made


@transaction.atomic
def accept(user: Any, transfer: Transfer) -> Entrant:
    """Take the entrant over. Raises NotAllowed or Conflict."""
    _check_receiver(user, transfer)
    entrant = Entrant.objects.select_for_update().get(pk=transfer.entrant_id)
    if not entrant.has_manager(transfer.offered_by):
        raise Conflict("offer_lapsed", f"{transfer.offered_by} no longer holds {entrant.name}, so the offer lapsed.")
    _end(user, transfer, TransferState.ACCEPTED)
    hand_over(user, entrant, transfer.to_team or transfer.to_user, "accept_transfer")
    return entrant


@transaction.atomic
def decline(user: Any, transfer: Transfer) -> None:
    """Raises NotAllowed or Conflict."""
    _check_receiver(user, transfer)
    _end(user, transfer, TransferState.DECLINED)
    record(user, "decline_transfer", transfer.entrant)


@transaction.atomic
def withdraw(user: Any, transfer: Transfer) -> None:
    """Raises NotAllowed or Conflict."""
    _held(user, transfer.entrant)
    _end(user, transfer, TransferState.WITHDRAWN)
    record(user, "withdraw_transfer", transfer.entrant)


def hand_over(user: Any, entrant: Entrant, to: User | Team | None, action: str, reason: str = "") -> None:
    """Give the entrant, whose row the caller has locked, to another holder. The verified badge goes: it was the last
    holder's."""
    was = entrant.holder
    Transfer.objects.filter(entrant=entrant, state=TransferState.OFFERED).update(
        state=TransferState.WITHDRAWN, answered_at=timezone.now()
    )
    entrant.owner, entrant.team = (None, to) if isinstance(to, Team) else (to, None)
    entrant.is_verified = False
    entrant.save(update_fields=["owner", "team", "is_verified"])
    record(user, action, entrant, reason, was=was, now=str(to), now_kind=type(to).__name__.lower())


def open_to(user: Any) -> Any:
    """The offers that the user may accept."""
    to_teams = Transfer.objects.filter(to_team__in=Team.objects.of(user, MANAGING).values("pk"))
    offered = to_teams | Transfer.objects.filter(to_user=user)
    return offered.filter(state=TransferState.OFFERED).select_related("entrant", "offered_by", "to_team", "to_user")


def _held(user: Any, entrant: Entrant) -> Entrant:
    row = Entrant.objects.select_for_update(of=("self",)).select_related("owner", "team").get(pk=entrant.pk)
    if not row.has_manager(user):
        raise NotAllowed("not_your_entrant", f"Only an owner of {row.name} gives it away.")
    return row


def _check_receiver(user: Any, transfer: Transfer) -> None:
    if not open_to(user).filter(pk=transfer.pk).exists():
        raise NotAllowed("not_offered", "This is not offered to you, or no longer.")


def _end(user: Any, transfer: Transfer, state: TransferState) -> None:
    now = {"state": state, "answered_at": timezone.now(), "answered_by": user}
    if not Transfer.objects.filter(pk=transfer.pk, state=TransferState.OFFERED).update(**now):
        raise Conflict("answered_already", "This offer was answered or withdrawn already.")
