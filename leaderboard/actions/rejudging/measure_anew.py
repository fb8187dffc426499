"""A board's one round: the passes of the submissions near its top are measured a second time, on new secret seeds.

A second measurement stands beside the first result and replaces neither it nor its verdict; its times count in ranks.
"""

import hashlib
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef

from leaderboard.actions.curation.curate import check_organiser
from leaderboard.actions.rejudging.rejudge import (
    REJUDGE_PRIORITY,
    cancel_shadows,
    chunks,
    hold_open_shadows,
    queue_shadows,
    shadows_of,
)
from leaderboard.curation import rounds
from leaderboard.errors import Conflict, Refused
from leaderboard.models import Rejudge, RejudgeItem, RejudgeState, ReleaseTrack, RoundPlace
from leaderboard.models.audit import record
from leaderboard.rows.shadows import finish_if_judged, hold
from leaderboard.signals import evaluations_queued
from leaderboard.standings import scores
from leaderboard.standings.rank import rank_touched


def start(user: Any, place: ReleaseTrack, reason: str) -> Rejudge:
    """Start the round of the board. Raises NotAllowed, Refused or Conflict."""
    check_organiser(user)
    if not reason.strip():
        raise Refused("reason_needed", "Say why: the reason is kept with the round.")
    rank_touched(place.release)
    place.refresh_from_db()
    if why := rounds.why_not(place):
        raise Refused("no_round", why)
    try:
        return _start(user, place, reason.strip())
    except IntegrityError as error:
        words = f"A round or a rejudge of {place} has just been started. Look at it first."
        raise Conflict("started_at_once", words) from error


@transaction.atomic
def _start(user: Any, place: ReleaseTrack, reason: str) -> Rejudge:
    chosen = rounds.chosen(place)
    rows = list(chosen.passes.select_related("problem").defer("problem__record").order_by("pk"))
    _check(chosen, len(rows))
    made = Rejudge.objects.create(
        release=place.release, track=place.track, counted_only=True, is_round=True, reason=reason,
        scope=hashlib.sha256(f"round {place.pk}".encode()).hexdigest(), n_evaluations=len(rows), started_by=user,
    )  # fmt: skip
    RoundPlace.objects.bulk_create(
        RoundPlace(
            rejudge=made, submission_id=one.submission_id, rank=one.rank or 0, value=one.primary_value,
            n_imported=chosen.n_imported.get(one.submission_id, 0),
        )
        for one in chosen.standings
    )  # fmt: skip
    ids = [pk for chunk in chunks(rows) for pk in queue_shadows(made, chunk)]
    evaluations_queued.send(Rejudge, evaluation_ids=ids, priority=REJUDGE_PRIORITY)
    scores.touch(place.release_id, place.track_id)
    record(
        user, "start round", made, reason, track=place.track.slug, places=len(chosen.standings), evaluations=len(ids)
    )
    return made


def _check(chosen: rounds.RoundSelection, n: int) -> None:
    if not n:
        imported = " Imported results cannot be measured anew." if chosen.n_imported else ""
        raise Refused("nothing_to_measure", f"No submission near the top has a pass that a node made.{imported}")
    if n > rounds.MAX_EVALUATIONS:
        words = f"The submissions near the top have {n:,} passes; a round may have {rounds.MAX_EVALUATIONS:,}."
        raise Refused("too_many", words)
    held = RejudgeItem.objects.filter(live=OuterRef("pk"), is_open=True)
    if n_held := chosen.passes.filter(Exists(held)).count():
        raise Refused("held", f"An open rejudge holds {n_held:,} of their passes. Apply or drop it first.")


@transaction.atomic
def pause(user: Any, rejudge: Rejudge) -> int:
    """Withdraw what is queued or running. What was measured stays. Returns the number withdrawn.

    Raises NotAllowed, or Conflict if nothing runs.
    """
    check_organiser(user)
    shadows = hold_open_shadows(rejudge)
    hold(rejudge.pk)
    if not Rejudge.objects.filter(pk=rejudge.pk, is_round=True, state=RejudgeState.RUNNING).exists():
        raise Conflict("not_running", f"Nothing of {rejudge} is queued or running: there is nothing to pause.")
    n = cancel_shadows(shadows)
    finish_if_judged(rejudge.pk)
    rejudge.refresh_from_db()
    record(user, "pause round", rejudge, withdrawn=n)
    return n


def resume(user: Any, rejudge: Rejudge) -> int:
    """Queue again what has no second measurement. Returns the number queued. Raises NotAllowed, Refused or Conflict."""
    check_organiser(user)
    try:
        return _resume(user, rejudge)
    except IntegrityError as error:
        raise Conflict("held", f"An open rejudge holds passes of {rejudge}. Apply or drop it first.") from error


@transaction.atomic
def _resume(user: Any, rejudge: Rejudge) -> int:
    if rejudge.release is None or not rejudge.is_round or rejudge.release.state != "published":
        raise Refused("no_round", f"{rejudge} is no round of a published release.")
    moved = Rejudge.objects.filter(pk=rejudge.pk, state=RejudgeState.READY).update(state=RejudgeState.RUNNING)
    items = list(rounds.lacking(rejudge).select_related("live__problem").defer("live__problem__record").order_by("pk"))
    if not moved or not items:
        raise Conflict("nothing_to_resume", f"{rejudge} is running, or lacks nothing: there is nothing to resume.")
    ids: list[int] = []
    for chunk in chunks(items):
        shadow_of = shadows_of([one.live for one in chunk])
        for one in chunk:
            one.shadow_id, one.is_open = shadow_of[one.live_id], True
            one.after, one.after_verdict, one.change, one.time_ratio = None, "", "", None
        RejudgeItem.objects.bulk_update(
            chunk, ["shadow", "is_open", "after", "after_verdict", "change", "time_ratio"], batch_size=200
        )
        ids += shadow_of.values()
    evaluations_queued.send(Rejudge, evaluation_ids=ids, priority=REJUDGE_PRIORITY)
    rejudge.refresh_from_db()
    record(user, "resume round", rejudge, evaluations=len(ids))
    return len(ids)
