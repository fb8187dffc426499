"""The board's rows as HTML, written in one go: a template tag per cell would cost more than the rest of the page."""

from collections.abc import Sequence
from typing import Any

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from leaderboard.board.columns import Cell, Column
from leaderboard.board.query import BoardQuery
from leaderboard.board.table import Row
from leaderboard.charts.colours import colour_of
from leaderboard.models.entrant import EntrantKind

_SLUG = "SLUG"


def body(rows: Sequence[Row], columns: Sequence[Column]) -> SafeString:
    address = reverse("entrant", args=[_SLUG])
    return format_html_join("\n", "{}", ((_row(row, columns, address),) for row in rows))


def _row(row: Row, columns: Sequence[Column], address: str) -> SafeString:
    baseline = row["entrant__kind"] == EntrantKind.BASELINE
    cells = format_html_join("", "{}", ((_cell(column.cell(row)),) for column in columns))
    tone = "baseline" if baseline else "incomplete" if row["is_incomplete"] else ""
    link = address.replace(_SLUG, row["entrant__slug"])
    return format_html('<tr class="{}">{}{}{}</tr>', tone, _rank(row), _model(row, link), cells)


def _rank(row: Row) -> SafeString:
    if row["rank"] is None:
        return format_html('<td class="num rank" title="{}">–</td>', _why_unranked(row))
    low, high = row["rank_low"], row["rank_high"]
    interval = f"({low}–{high})" if low is not None and low != high else ""
    return format_html(
        '<td class="num rank" title="95 % interval of the rank: {}–{}"><b>{}</b> <small>{}</small></td>',
        low, high, row["rank"], interval,
    )  # fmt: skip


def _why_unranked(row: Row) -> str:
    if row["entrant__kind"] == EntrantKind.BASELINE:
        return "A baseline is not ranked."
    return f"Not ranked: {row['incomplete_reason'] or 'incomplete'}."


def _model(row: Row, link: str) -> SafeString:
    badges = format_html_join("", ' <span class="badge {}" title="{}">{}</span>', _badges(row))
    dot = colour_of(row["entrant_id"])
    return format_html(
        '<th scope="row" class="model"><svg class="dot" viewBox="0 0 10 10" aria-hidden="true">'
        '<circle cx="5" cy="5" r="5" fill="{}"/></svg><a href="{}">{}</a>'
        '<span class="about"><small>{}</small>{}</span></th>',
        dot, link, row["entrant__name"], row["entrant__organisation"], badges,
    )  # fmt: skip


def _badges(row: Row) -> list[tuple[str, str, str]]:
    """(tone, explanation, text) of each."""
    found = [
        (row["entrant__kind"] == EntrantKind.BASELINE, "dim", "A reference to compare with; not ranked.", "baseline"),
        (row["entrant__is_verified"], "good", "An organiser has verified who is behind it.", "verified"),
        (row["entrant__open_weights"], "", "Its weights are public.", "open weights"),
        (row["is_incomplete"], "warn", f"Not ranked: {row['incomplete_reason']}.", "incomplete"),
        (row["submission__state"] == "accepted", "wait", "Its submission is still being judged.", "provisional"),
    ]
    return [(tone, words, text) for shown, tone, words, text in found if shown]


def _cell(cell: Cell) -> SafeString:
    if cell.note:
        return format_html('<td class="num" title="{}">{} <small>{}</small></td>', cell.note, cell.text, cell.margin)
    return format_html('<td class="num">{} <small>{}</small></td>', cell.text, cell.margin)


def header(columns: Sequence[Column], query: BoardQuery) -> list[dict[str, Any]]:
    """Each column's heading: a link that sorts by it, best first; clicked again, the other way round."""
    left = [
        {"key": "rank", "title": "Rank", "better": "", "unit": "",
         "definition": "By the primary metric, whatever the sort; ties share a rank; its 95 % interval in brackets."},
        {"key": "model", "title": "Model", "better": "", "unit": "", "definition": "Model, agent, person or baseline."},
    ]  # fmt: skip
    right = [
        {"key": c.key, "title": c.title, "better": c.better, "unit": c.unit, "definition": c.definition}
        for c in columns
    ]
    return [one | _sorting(one, query) for one in [*left, *right]]


def _sorting(one: dict[str, Any], query: BoardQuery) -> dict[str, Any]:
    falling_first = one["better"] == "up" or one["key"] == "date"
    first, second = (f"-{one['key']}", one["key"]) if falling_first else (one["key"], f"-{one['key']}")
    current = query.sort or "rank"
    following = second if current == first else first
    aria = "none" if current.lstrip("-") != one["key"] else "descending" if current.startswith("-") else "ascending"
    arrow = {"up": "↑", "down": "↓"}.get(one["better"], "")
    return {"url": query.url(sort=following, page=1), "aria": aria, "arrow": arrow}
