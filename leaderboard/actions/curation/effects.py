"""The effect of an act on boards: the act runs in a transaction that is rolled back, and the boards are compared."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.db import transaction

from leaderboard.errors import Refused
from leaderboard.models import Counted, Entrant, ReleaseTrack, Standing
from leaderboard.standings import rank, rankable
from problems.models import Release

MOST_SCORES = 20_000
"""Entrants × problems of the boards that a page ranks twice: a fraction of a second."""
SHOWN = 10
"""Standings of a board that are named one by one."""


def places_of(releases: Iterable[Release]) -> list[ReleaseTrack]:
    rows = ReleaseTrack.objects.filter(release__in=list(releases)).select_related("release", "track")
    return list(rows.order_by("release__slug", "track__slug"))


def on_standings(run: Callable[[], Any], places: Sequence[ReleaseTrack]) -> list[str]:
    """The change of these boards' standings by `run`, or the words of its refusal. Stores nothing."""
    ranked = [place for place in places if not rankable.faults(place.release)]
    if _n_scores(ranked) > MOST_SCORES:
        n = Counted.objects.filter(release__in={place.release_id for place in ranked}).count()
        return [f"{n:,} standings are ranked again. They are too many to show here how each changes."]
    with transaction.atomic():
        before = [_standings(place) for place in ranked]
        try:
            run()
            after = [_standings(place) for place in ranked]
        except Refused as refused:
            return [f"It would be refused: {refused}"]
        finally:
            transaction.set_rollback(True)
    return [
        line
        for place, old, new in zip(ranked, before, after, strict=True)
        for line in _changes(place, old, new)
    ]  # fmt: skip


def _n_scores(places: Sequence[ReleaseTrack]) -> int:
    counted = (Counted.objects.filter(release=one.release, track=one.track).count() for one in places)
    return sum(n * one.release.problems.count() for n, one in zip(counted, places, strict=True))


def _standings(place: ReleaseTrack) -> dict[int, Standing]:
    return {one.entrant_id: one for one in rank.compute(place)}


def _changes(place: ReleaseTrack, before: dict[int, Standing], after: dict[int, Standing]) -> list[str]:
    board = f"{place.release.slug} on {place.track.slug}"
    both = list({**before, **after})
    changed = [pk for pk in both if _words(before.get(pk)) != _words(after.get(pk))]
    changed.sort(key=lambda pk: _rank(before.get(pk) or after[pk]))
    if not changed:
        return [f"{board}: none of {len(both)} standings changes."]
    lines = [f"{board}: {len(changed)} of {len(both)} standings change."]
    names = Entrant.objects.in_bulk(changed[:SHOWN])
    lines += [f"{names[pk]}: {_words(before.get(pk))} → {_words(after.get(pk))}" for pk in changed[:SHOWN]]
    if len(changed) > SHOWN:
        lines.append(f"And {len(changed) - SHOWN} more.")
    return lines


def _rank(standing: Standing) -> float:
    return float("inf") if standing.rank is None else standing.rank


def _words(standing: Standing | None) -> str:
    """Rank, value and solved problems of a standing in words."""
    if standing is None:
        return "not on the board"
    rank_words = "no rank" if standing.rank is None else f"rank {standing.rank}"
    state = ", incomplete" if standing.is_incomplete else ""
    value = "–" if standing.primary_value is None else f"{standing.primary_value:.4g}"
    return f"{rank_words}, {value}, {standing.n_solved} of {standing.n_problems} solved{state}"
