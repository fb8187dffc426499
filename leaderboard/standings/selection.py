"""Facts of a standing's selection: the number of submissions it was taken from, and its figures before a round."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from leaderboard.models import ReleaseTrack, RoundPlace, Standing, Submission
from runners.wire.protocol import Verdict


def tell_selection(
    place: ReleaseTrack, rows: Sequence[Standing], before: datetime | None = None, *, is_whole: bool = True
) -> Sequence[Standing]:
    """Set `n_full_submissions` and, where all problems are ranked, `round_figures`. Returns the rows. Two queries."""
    n_full = _n_full(place, before)
    figures = _round_figures(place, before) if is_whole else {}
    for row in rows:
        row.n_full_submissions = n_full.get(row.entrant_id, 0)
        row.round_figures = figures.get(row.submission_id)
    return rows


def _n_full(place: ReleaseTrack, before: datetime | None) -> dict[int, int]:
    """Numbers of full submissions by entrant. Each one showed its results, so cancelled and retracted ones are
    attempts too."""
    full = Submission.objects.filter(release=place.release_id, tracks=place.track_id, is_full=True).order_by()
    if before is not None:
        full = full.filter(created_at__lt=before)
    return dict(full.values_list("entrant").annotate(n=Count("pk")))


def _round_figures(place: ReleaseTrack, before: datetime | None) -> dict[int, dict[str, Any]]:
    """Figures by submission. `before` leaves out rounds that were started later; results are those of now."""
    places = _places(place)
    if before is not None:
        places = places.filter(rejudge__started_at__lt=before)
    names = ("rank", "value", "n", "n_judged", "n_imported")
    metric = {"metric": place.release.primary_metric}
    return {
        pk: metric | dict(zip(names, values, strict=True)) for pk, *values in places.values_list("submission", *names)
    }


def _places(place: ReleaseTrack) -> QuerySet[RoundPlace]:
    """Annotated with the number of items of the submission, and of those with a second result or a failed one."""
    places = RoundPlace.objects.filter(
        rejudge__is_round=True, rejudge__release=place.release_id, rejudge__track=place.track_id
    )
    own = Q(rejudge__items__live__submission=F("submission"))
    failed = ~Q(rejudge__items__after_verdict__in=["", Verdict.PASSED, Verdict.PLATFORM_ERROR, Verdict.SKIPPED])
    judged = own & (Q(rejudge__items__live__second_result__isnull=False) | failed)
    items = "rejudge__items"
    return places.order_by().annotate(n=Count(items, filter=own), n_judged=Count(items, filter=judged))
