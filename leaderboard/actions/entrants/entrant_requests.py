"""Claims and verifications: a user asks about an entrant with a reason, an organiser rules on it."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard.actions.entrants.transfers import hand_over
from leaderboard.errors import Conflict, NotAllowed, Refused, TooMuch
from leaderboard.models import Entrant, EntrantRequest
from leaderboard.models.audit import record
from leaderboard.models.entrants.ownership import REASON_CHARACTERS, RequestKind, RequestState

DAILY_REQUESTS = 5
"""The most that one account may ask within 24 hours."""


@transaction.atomic
def ask(user: Any, kind: str, entrant: Entrant, reason: str) -> EntrantRequest:
    """Keep the request. Raises NotAllowed, Refused, TooMuch or Conflict."""
    if not may_ask(user, kind, entrant):
        raise NotAllowed("not_to_ask", f"You may not ask for a {RequestKind(kind).label.lower()} of {entrant.name}.")
    words = reason.replace("\0", "").strip()
    if not words or len(words) > REASON_CHARACTERS:
        raise Refused("words_needed", f"Say in 1 to {REASON_CHARACTERS} characters how organisers can check it.")
    User.objects.select_for_update().get(pk=user.pk)  # two requests at once count one after the other
    since = timezone.now() - timedelta(days=1)
    if EntrantRequest.objects.filter(asked_by=user, asked_at__gt=since).count() >= DAILY_REQUESTS:
        raise TooMuch("asked_too_often", f"You have asked {DAILY_REQUESTS} times within 24 hours. Ask again tomorrow.")
    try:
        with transaction.atomic():
            made = EntrantRequest.objects.create(kind=kind, entrant=entrant, asked_by=user, reason=words)
    except IntegrityError as error:
        raise Conflict("asked_already", "You have asked this already. An organiser will rule on it.") from error
    record(user, f"ask_{kind}", entrant, words)
    return made


def may_ask(user: Any, kind: str, entrant: Entrant) -> bool:
    """A claim: of one that nobody or an organiser holds. A verification: of one that the user manages."""
    if not getattr(user, "is_authenticated", False):
        return False
    if kind == RequestKind.VERIFY:
        return not entrant.is_verified and entrant.has_manager(user)
    return not entrant.has_manager(user) and Entrant.objects.claimable().filter(pk=entrant.pk).exists()


@transaction.atomic
def rule(organiser: Any, asked: EntrantRequest, *, granted: bool, words: str) -> None:
    """Grant or refuse it; a granted claim hands the entrant over. Raises NotAllowed, Refused or Conflict."""
    if not organiser.is_staff:
        raise NotAllowed("organisers_only", "Only an organiser rules on this.")
    entrant = Entrant.objects.select_for_update().get(pk=asked.entrant_id)
    ruled = {
        "state": RequestState.GRANTED if granted else RequestState.REFUSED,
        "ruled_by": organiser, "ruled_at": timezone.now(), "ruling": words.replace("\0", "")[:REASON_CHARACTERS],
    }  # fmt: skip
    if not EntrantRequest.objects.filter(pk=asked.pk, state=RequestState.OPEN).update(**ruled):
        raise Conflict("ruled_already", "This was ruled on already.")
    if not granted:
        record(organiser, f"refuse_{asked.kind}", entrant, words, asked_by=asked.asked_by.username)
        return
    if not asked.asked_by.is_active or not may_ask(asked.asked_by, asked.kind, entrant):
        raise Conflict("moved_on", f"{entrant.name} has changed hands or state since. Refuse the request.")
    if asked.kind == RequestKind.CLAIM:
        hand_over(organiser, entrant, asked.asked_by, "grant_claim", words)
    else:
        Entrant.objects.filter(pk=entrant.pk).update(is_verified=True)
        record(organiser, "verify", entrant, words, asked_by=asked.asked_by.username)
