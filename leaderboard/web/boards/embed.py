"""Parts of a board for other sites: an entrant's badge as SVG, and the top rows as a page for a frame."""

from dataclasses import dataclass

from csp.constants import NONE, SELF
from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.clickjacking import xframe_options_exempt

from leaderboard import visibility
from leaderboard.boards import table
from leaderboard.boards.columns import Cell, Column, columns_for
from leaderboard.boards.query import BoardQuery
from leaderboard.web.boards.board_html import Links, body, flags_address
from leaderboard.web.shared.lookups import chosen_track, tracks_of
from leaderboard.web.shared.shareable import STRANGER, public_release_or_404, shareable
from problems.models import Release
from scoring.metrics import UnknownMetric, metric_named

SHOWN_ROWS, MOST_ROWS = 10, 50
_LABEL, _FILLS = "Podium", ("#3b4350", "#0b6e69")
_POLICY = {"frame-ancestors": ["*"], "script-src": [NONE], "style-src": [SELF], "connect-src": [NONE]}
_LETTER_PX, _MARGIN_PX = 6.5, 7


@dataclass(frozen=True)
class BadgePart:
    """One field of a badge. Lengths are in px."""

    text: str
    left: int
    text_width: int
    fill: str

    @property
    def width(self) -> int:
        return self.text_width + 2 * _MARGIN_PX

    @property
    def text_left(self) -> int:
        return self.left + _MARGIN_PX


def query_of(release: Release, track: str) -> BoardQuery:
    """The board's query whose columns have the primary metric."""
    try:
        k = metric_named(release.primary_metric).k
    except UnknownMetric:
        k = None
    return BoardQuery(track=track, ranked_by=release.primary_metric, k=k or 1)


def primary_column(release: Release, columns: list[Column]) -> Column | None:
    return next((one for one in columns if one.key == release.primary_metric), None)


def score_words(release: Release, query: BoardQuery, row: table.Row) -> str:
    """The primary metric with its unit: `pass@1 71.4 %`."""
    column = primary_column(release, columns_for(query, [], [row]))
    if column is None:
        return ""
    cell: Cell = column.cell(row)
    return f"{column.title} {cell.text}{' %' if column.unit == '%' else ''}"


@shareable
def badge(_request: HttpRequest, slug: str, track_slug: str, entrant_slug: str) -> HttpResponse:
    """Rank and score of an entrant on one board, as a stranger sees them."""
    release = public_release_or_404(slug)
    standings = visibility.visible_standings(STRANGER, release).filter(track__slug=track_slug)
    row = standings.filter(entrant__slug=entrant_slug).values(*table.ROW_FIELDS).first()
    if row is None:
        raise Http404("There is no such result that strangers may see.")
    n_ranked = standings.exclude(rank=None).count()
    place = f"rank {row['rank']} of {n_ranked}" if row["rank"] else "not ranked"
    words = [release.slug, place, score_words(release, query_of(release, track_slug), row)]
    return HttpResponse(_svg([_LABEL, " · ".join(filter(None, words))]), content_type="image/svg+xml")


def _svg(texts: list[str]) -> str:
    parts: list[BadgePart] = []
    for text, fill in zip(texts, _FILLS, strict=True):
        left = parts[-1].left + parts[-1].width if parts else 0
        parts.append(BadgePart(text, left, round(_LETTER_PX * len(text)), fill))
    width = sum(one.width for one in parts)
    return render_to_string("podium/boards/badge.svg", {"parts": parts, "width": width, "title": ": ".join(texts)})


@shareable
@xframe_options_exempt
@csp_replace(_POLICY)  # type: ignore[arg-type]  # its types know views of the request alone
def framed_board(request: HttpRequest, slug: str) -> HttpResponse:
    """The first rows of a board for a frame on another site: without the session, scripts or forms."""
    release = public_release_or_404(slug)
    track = chosen_track(request, tracks_of(release))
    query = query_of(release, track.slug if track else "")
    standings = visibility.visible_standings(STRANGER, release).filter(track=track)
    found = table.load(table.StoredRows(standings), query, [])
    wanted = (release.primary_metric, "pass@1", "solved", "speedup")
    columns = sorted((one for one in found.columns if one.key in wanted), key=lambda one: wanted.index(one.key))
    shown = found.rows[: _asked_rows(request)]
    context = {
        "release": release, "track": track, "columns": columns, "n_rows": len(shown), "n_all": found.n_all,
        "rows": body(shown, columns, Links(flags_address(release, query.track))),
    }  # fmt: skip
    return render(request, "podium/boards/embed.html", context)


def _asked_rows(request: HttpRequest) -> int:
    text = request.GET.get("rows", "")
    asked = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0
    return min(asked, MOST_ROWS) or SHOWN_ROWS
