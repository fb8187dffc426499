"""The content of a notification: JSON for webhooks, text for mails and feeds."""

from typing import Any

from django.conf import settings
from django.db.models import Count
from django.utils import timezone

from leaderboard.models import Delivery, Evaluation, Submission
from leaderboard.standings.absent import absent_verdicts
from leaderboard.visibility import told_verdict

ENDED, TEST = "submission.ended", "test"


def payload(delivery: Delivery) -> dict[str, Any]:
    """The JSON body of a webhook. `delivery` is the same in each try."""
    told: dict[str, Any] = {
        "event": ENDED if delivery.submission else TEST,
        "delivery": str(delivery.pk),
        "sent_at": timezone.now().isoformat(),
    }
    if delivery.submission:
        told["submission"] = _facts(delivery.submission)
    return told


def _facts(submission: Submission) -> dict[str, Any]:
    return {
        "id": submission.pk,
        "page": page_of(submission),
        "entrant": submission.entrant.slug,
        "release": submission.release.slug,
        "tracks": sorted(track.slug for track in submission.tracks.all()),
        "name": submission.name,
        "is_full": submission.is_full,
        "state": submission.state,
        "created_at": submission.created_at.isoformat(),
        "finished_at": submission.finished_at.isoformat() if submission.finished_at else None,
        "verdicts": verdicts_of(submission),
    }


def page_of(submission: Submission) -> str:
    return f"{settings.SITE_URL}{submission.get_absolute_url()}"


def verdicts_of(submission: Submission) -> dict[str, int]:
    """Numbers of evaluations by verdict over all tracks, absent samples included; the states of those without one.

    As everybody is told them now, organisers too.
    """
    live = Evaluation.objects.live().filter(submission=submission).annotate(told=told_verdict(None)).order_by()
    rows = live.values_list("state", "told").annotate(Count("pk"))
    found: dict[str, int] = dict(absent_verdicts(submission))
    for state, verdict, n in rows:
        key = str(verdict or state)
        found[key] = found.get(key, 0) + n
    return dict(sorted((str(name), n) for name, n in found.items()))


def title(submission: Submission) -> str:
    return f"Submission #{submission.pk} of {submission.entrant.name} is {submission.state}"


def mail_text(submission: Submission) -> str:
    """The body of the mail."""
    counts = [f"  {n} {name.replace('_', ' ')}" for name, n in verdicts_of(submission).items()]
    return "\n".join(
        [
            f"{title(submission)}.",
            "",
            f"Release: {submission.release.title}",
            f"Name: {submission.name}",
            "Evaluations:",
            *(counts or ["  none"]),
            "",
            page_of(submission),
            "",
            f"You asked for this mail: {settings.SITE_URL}/account/notifications/ turns it off.",
            "",
        ]
    )
