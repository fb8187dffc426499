"""The counted submission of an entrant, release and track: the one last chosen. It follows from the events alone."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, OuterRef, Q, Subquery

from leaderboard.models import Chosen, Counted, Entrant, ReleaseTrack, Submission, SubmissionState, Track
from leaderboard.models.audit import record
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.standings import scores


def hold(entrant_id: int) -> None:
    """Lock the entrant until the transaction ends, so that simultaneous submissions see each other."""
    list(Entrant.objects.select_for_update(no_key=True).filter(pk=entrant_id).values_list("pk"))


def choose(user: Any, submission: Submission, tracks: Iterable[Track]) -> None:
    """Note that the user chose it to count on these tracks.

    The caller holds the entrant and calls `settle` afterwards.
    """
    by = user if getattr(user, "is_authenticated", False) else None
    Chosen.objects.bulk_create(Chosen(submission=submission, track=track, chosen_by=by) for track in tracks)


def hold_account(user: Any) -> None:
    """Lock the account likewise; before the entrant."""
    if user is not None:
        list(User.objects.select_for_update(no_key=True).filter(pk=user.pk).values_list("pk"))


def settle(submission: Submission, actor: Any) -> None:
    """Count the one last chosen on each of the submission's tracks. Each change is logged with what it replaced.

    The caller must lock the entrant (`hold`) before it changes the submission.
    """
    if not submission.is_full:
        return
    for track in submission.tracks.all():
        _settle(submission.entrant_id, submission.release_id, track, actor)
        scores.touch(submission.release_id, track.pk)  # its row says from how many submissions it was taken


def settle_place(place: ReleaseTrack) -> None:
    """The same of every entrant on one board: a chosen submission that has finished since then counts from now on."""
    for entrant_id in differing(place):
        with transaction.atomic():
            hold(entrant_id)
            _settle(entrant_id, place.release_id, place.track, None)


def differing(place: ReleaseTrack) -> list[int]:
    """The entrants whose counted submission is not the one that follows from the events. Two queries."""
    chosen = {one: submission for one, (_, submission) in last_chosen(place.release_id, place.track_id).items()}
    counted = Counted.objects.filter(release=place.release_id, track=place.track_id)
    stored = dict(counted.values_list("entrant", "submission"))
    return sorted(one for one in chosen.keys() | stored.keys() if chosen.get(one) != stored.get(one))


def last_chosen(
    release_id: int, track_id: int, *, entrant_id: int | None = None, before: datetime | None = None
) -> Mapping[int, tuple[int, int]]:
    """The last choice of each entrant: its event and its submission, of those that are finished and unretracted.

    Where none is finished, the last one in progress. With `before` only what had been chosen and finished by then.
    """
    rows = Chosen.objects.on(release_id, track_id).live().exclude(submission__entrant__kind=EntrantKind.SYSTEM)
    if entrant_id is not None:
        rows = rows.filter(submission__entrant=entrant_id)
    done = Q(submission__state=SubmissionState.DONE)
    if before is not None:
        rows = rows.filter(done, at__lt=before, submission__finished_at__lt=before)
    last = rows.order_by().values("submission__entrant").annotate(done=Max("pk", filter=done), last=Max("pk"))
    events: list[Any] = [row["done"] or row["last"] for row in last]
    found = Chosen.objects.filter(pk__in=events).values_list("submission__entrant", "pk", "submission")
    return {entrant: (event, submission) for entrant, event, submission in found}


def chosen_at(submission: str, track: int | OuterRef, before: datetime | None = None) -> Subquery:
    """When the submission of an outer row was last chosen to count on the track (by then), null if never."""
    rows = Chosen.objects.filter(submission=OuterRef(submission), track=track)
    rows = rows if before is None else rows.filter(at__lt=before)
    return Subquery(rows.order_by("-pk").values("at")[:1])


def _settle(entrant_id: int, release_id: int, track: Track, actor: Any) -> None:
    _, latest = last_chosen(release_id, track.pk, entrant_id=entrant_id).get(entrant_id, (0, None))
    place = Counted.objects.filter(entrant=entrant_id, release=release_id, track=track)
    before = place.values_list("submission", flat=True).first()
    if before == latest:
        return
    place.delete()
    if latest:
        Counted.objects.create(entrant_id=entrant_id, release_id=release_id, track=track, submission_id=latest)
    shown: Any = latest or before
    record(actor, "count", Submission.objects.get(pk=shown), track=track.slug, counted=latest, replaced=before)
