"""Makes the deliveries of submissions that have ended. Grading does not wait for it and knows nothing of it."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from leaderboard.models import Delivery, DeliveryState, Entrant, Submission, SubmissionState, Webhook
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.models.submissions.submission import IMPORT

A_TURN = 50
MAILS_A_DAY = 100
"""Limit of mails to one account. Mails beyond it are in the log and are not sent."""
TOO_MANY = f"There were {MAILS_A_DAY} mails within a day already."
_ENDED = (SubmissionState.DONE, SubmissionState.CANCELLED)


def announce_ended(limit: int = A_TURN) -> int:
    """Make the deliveries of the oldest submissions that have ended and are not announced yet. Returns their number."""
    rows = Submission.objects.filter(announced_at=None, state__in=_ENDED).select_related("entrant")
    found = list(rows.order_by("pk")[:limit])
    for submission in found:
        _announce(submission)
    return len(found)


@transaction.atomic
def _announce(submission: Submission) -> None:
    """Once: of several workers, the one that sets `announced_at` makes the deliveries."""
    moved = Submission.objects.filter(pk=submission.pk, announced_at=None).update(announced_at=timezone.now())
    entrant = submission.entrant
    if not moved or submission.submitted_through == IMPORT or entrant.kind == EntrantKind.SYSTEM:
        return
    hooks = Webhook.objects.filter(is_on=True, user__in=team_of(entrant)).filter(Q(entrant=entrant) | Q(entrant=None))
    made = [Delivery(user_id=hook.user_id, webhook=hook, submission=submission) for hook in hooks]
    made += [_mail(user, submission) for user in team_of(entrant).filter(notification_settings__by_mail=True)]
    Delivery.objects.bulk_create(made, ignore_conflicts=True)


def team_of(entrant: Entrant) -> "QuerySet[User]":
    """The entrant's owner and team, as far as they may sign in."""
    return User.objects.filter(Q(entrants=entrant) | Q(memberships__team__entrants=entrant), is_active=True).distinct()


def _mail(user: User, submission: Submission) -> Delivery:
    made = Delivery(user=user, submission=submission)
    today = Delivery.objects.filter(user=user, webhook=None, created_at__gt=timezone.now() - timedelta(days=1))
    if today.count() >= MAILS_A_DAY:
        made.state, made.error, made.ended_at = DeliveryState.FAILED, TOO_MANY, timezone.now()
    return made
