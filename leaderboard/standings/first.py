"""Remembers each change of a board's first rank."""

from collections.abc import Sequence

from django.utils import timezone

from leaderboard.models import FirstRank, ReleaseTrack, Standing


def note_first(place: ReleaseTrack, rows: Sequence[Standing]) -> None:
    """Store the entrants at rank 1 unless they are those stored last. A board that nobody leads changes nothing.

    While a former leader is judged anew, nothing changes either. Called within the transaction that stores the rows.
    At most two queries.
    """
    leaders = {row.entrant_id for row in rows if row.rank == 1}
    stored = FirstRank.objects.filter(release=place.release, track=place.track).values_list("since", "entrant_id")
    latest = list(stored.order_by("-since", "-pk")[: len(leaders) + 1])
    last = {entrant_id for since, entrant_id in latest if since == latest[0][0]}
    is_waiting = any(row.is_incomplete and row.entrant_id in last - leaders for row in rows)
    if leaders and leaders != last and not is_waiting:
        facts = {"release": place.release, "track": place.track, "since": timezone.now()}
        FirstRank.objects.bulk_create(FirstRank(entrant_id=one, **facts) for one in sorted(leaders))
