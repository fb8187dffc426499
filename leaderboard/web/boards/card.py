"""The social card of a release: what a stranger sees of its first board, as a picture."""

import hashlib
import json
from dataclasses import asdict

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse

from leaderboard import visibility
from leaderboard.boards import cards, table
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.web.boards.embed import query_of, score_words
from leaderboard.web.shared.lookups import tracks_of
from leaderboard.web.shared.shareable import STRANGER, public_release_or_404, shareable
from problems.models import Release

KEPT_SECONDS = 24 * 3600


@shareable
def card(_request: HttpRequest, slug: str) -> HttpResponse:
    """Drawn once for each content: the cache has it by the digest of its texts."""
    content = _card_of(public_release_or_404(slug))
    digest = hashlib.sha256(json.dumps(asdict(content)).encode()).hexdigest()
    picture = cache.get_or_set(f"card-{digest}", lambda: cards.draw(content), KEPT_SECONDS)
    return HttpResponse(picture, content_type="image/png")


def _card_of(release: Release) -> cards.Card:
    """The card of the first track with results; its five first ranks. Four queries."""
    standings = visibility.visible_standings(STRANGER, release).exclude(rank=None)
    with_results = set(standings.order_by().values_list("track_id", flat=True).distinct())
    track = next((one for one in tracks_of(release) if one.pk in with_results), None)
    contestants = standings.filter(track=track).exclude(entrant__kind=EntrantKind.BASELINE)
    first = list(contestants.order_by("rank", "entrant__name").values(*table.ROW_FIELDS)[: cards.MOST_ROWS])
    line = f"{release.problems.count()} problems, ranked by {release.primary_metric}"
    if track is not None:
        line += f", {track.title or track.slug}"
    query = query_of(release, track.slug if track else "")
    best = max((row["primary_value"] or 0.0 for row in first), default=0.0) or 1.0
    rows = tuple(
        cards.CardRow(
            str(row["rank"]), row["entrant__name"], score_words(release, query, row), (row["primary_value"] or 0) / best
        )
        for row in first
    )
    return cards.Card(release.title, line, rows)
