"""The board's rows as HTML, written in one go: a template tag per cell would cost more than the rest of the page."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from leaderboard.board.columns import Cell, Column
from leaderboard.board.query import BoardQuery
from leaderboard.board.table import Row
from leaderboard.charts.colours import colour_of
from leaderboard.measured import measured_words
from leaderboard.models.entrant import EntrantKind
from problems.models import Release

_SLUG = "SLUG"
OPEN_FLAGS = "Flags that no organiser has decided. While one is open, its pass or its time does not count."
UPHELD_FLAGS = "Flags that an organiser upheld. Their passes or times do not count."
_FEW_PX, _SOME_PX = 988, 1225
"""How wide a frame must be for a table, as the style sheet has it: what windows of 1,024 and of 1,280 px leave."""
_BESIDE_PX, _FIGURE_PX, _LETTER_PX, _PADDING_PX = 285, 77, 10, 10
"""Rank, model and what a date is wider; a column of figures over their interval; a heading's letter; both its sides."""


def body(rows: Sequence[Row], columns: Sequence[Column], flags_url: str, ticks: str = "") -> SafeString:
    """Every text that a person or a pack may have written goes through `escape` on its way.

    `flags_url` is the list of the track's flags, to which the entrant is added. `ticks` is the id of the form to which
    each row's tick belongs; without one there are no ticks.
    """
    addresses = reverse("entrant", args=[_SLUG]), f"{escape(flags_url)}&amp;entrant={_SLUG}"
    titled = [(column, escape(_heading(column))) for column in columns]
    lines = (_row(row, titled, addresses, ticks) for row in rows)
    return mark_safe("\n".join(lines))  # noqa: S308 - escaped piece by piece


def _row(row: Row, titled: Sequence[tuple[Column, str]], addresses: tuple[str, str], ticks: str) -> str:
    baseline = row["entrant__kind"] == EntrantKind.BASELINE
    tone = "baseline" if baseline else "incomplete" if row["is_incomplete"] else ""
    cells = "".join(_cell(title, column.cell(row)) for column, title in titled)
    page, flags = (address.replace(_SLUG, row["entrant__slug"]) for address in addresses)
    return f'<tr class="{tone}">{_rank(row)}{_model(row, page, flags, ticks)}{cells}</tr>'


def _rank(row: Row) -> str:
    if row["rank"] is None:
        return f'<td class="num rank" data-title="Rank" title="{escape(_why_unranked(row))}">–</td>'
    low, high = row["rank_low"], row["rank_high"]
    interval = f"({low}–{high})" if low is not None and low != high else ""
    title = f"95 % interval of the rank: {low}–{high}"
    return f'<td class="num rank" data-title="Rank" title="{title}"><b>{row["rank"]}</b> <small>{interval}</small></td>'


def _why_unranked(row: Row) -> str:
    if row["entrant__kind"] == EntrantKind.BASELINE:
        return "A baseline is not ranked."
    return f"Not ranked: {row['incomplete_reason'] or 'incomplete'}."


def _model(row: Row, link: str, flags_url: str, ticks: str) -> str:
    badges = "".join(
        f' <span class="badge {tone}" title="{escape(words)}">{text}</span>' for tone, words, text in _badges(row)
    )
    return (
        '<th scope="row" class="model"><svg class="dot" viewBox="0 0 10 10" aria-hidden="true">'
        f'<circle cx="5" cy="5" r="5" fill="{colour_of(row["entrant_id"])}"/></svg>'
        f'<a href="{escape(link)}">{escape(row["entrant__name"])}</a>'
        f'<span class="about"><small>{escape(row["entrant__organisation"])}</small>'
        f"{badges}{_flags(row, flags_url)}{_tick(row, ticks)}</span></th>"
    )


def _tick(row: Row, form: str) -> str:
    """The box that takes the row into a comparison."""
    if not form:
        return ""
    slug, name = escape(row["entrant__slug"]), escape(row["entrant__name"])
    words = f'title="Tick to compare" aria-label="Compare {name}"'
    return f'<input type="checkbox" class="tick" form="{form}" name="entrant" value="{slug}" {words}>'


def flags_address(release: Release, track: str) -> str:
    """The list of flags of the track's counted submissions."""
    return reverse("release_flags", args=[release.slug], query={"track": track, "counted": "1"})


def _flags(row: Row, url: str) -> str:
    """Badges with the numbers of open and of upheld flags, each a link to them."""
    return "".join(
        f' <a class="badge {tone}" href="{url}&amp;ruling={ruling}" title="{words}">{n} {ruling} flag{"s"[: n > 1]}</a>'
        for n, ruling, tone, words in (
            (row["n_open_flags"], "open", "warn", OPEN_FLAGS),
            (row["n_upheld_flags"], "upheld", "dim", UPHELD_FLAGS),
        )
        if n
    )


def _badges(row: Row) -> Iterator[tuple[str, str, str]]:
    """(tone, explanation, text) of each."""
    if row["entrant__kind"] == EntrantKind.BASELINE:
        yield "dim", "A reference to compare with; not ranked.", "baseline"
    if row["entrant__is_verified"]:
        yield "good", "An organiser has verified who is behind it.", "verified"
    if row["entrant__open_weights"]:
        yield "", "Its weights are public.", "open weights"
    if row["is_incomplete"]:
        yield "warn", f"Not ranked: {row['incomplete_reason']}.", "incomplete"
    if row["submission__measured_where"] is not None:
        words = measured_words(row["submission__measured_where"])
        yield "wait", f"Not by this site's nodes: {words}.", "imported"
    if row["submission__state"] == "accepted":
        yield "wait", "Its submission is still being judged.", "provisional"


def _cell(title: str, cell: Cell) -> str:
    """With its column's title, escaped, to be shown where the figures do not stand under it."""
    note = f' title="{escape(cell.note)}"' if cell.note else ""
    return f'<td class="num" data-title="{title}"{note}>{escape(cell.text)} <small>{escape(cell.margin)}</small></td>'


def _heading(column: Column) -> str:
    """Title and unit."""
    return f"{column.title} ({column.unit})" if column.unit else column.title


def breadth(columns: Sequence[Column]) -> str:
    """`few`, `some` or `many`: how wide a page must be for a table; in a narrower one the figures wrap."""
    needed = _BESIDE_PX + sum(max(_FIGURE_PX, _heading_px(column)) for column in columns)
    return "few" if needed <= _FEW_PX else "some" if needed <= _SOME_PX else "many"


def _heading_px(column: Column) -> int:
    """About how wide its longest word is, which no browser breaks."""
    return _LETTER_PX * max(map(len, re.split(r"[\s-]", column.title))) + _PADDING_PX


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
