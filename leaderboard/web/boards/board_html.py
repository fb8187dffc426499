"""The board's rows as HTML, written in one go: a template tag per cell would cost more than the rest of the page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from leaderboard.boards.columns import Cell, Column, ranking_metric
from leaderboard.boards.query import BoardQuery
from leaderboard.boards.table import Row
from leaderboard.boards.written import written
from leaderboard.charts.chart import headed
from leaderboard.charts.colours import colour_of
from leaderboard.models.boards.estimates import figure_of_group
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.results.measured import measured_words
from leaderboard.site.numerals import MISSING
from problems.models import Release
from scoring.metrics import PASS_AT_1, Metric
from scoring.uncertainty import FEW_PROBLEMS

NUMBER = "987654321"
"""Stands for the number of the row's submission in the address of `Links`."""
SLUG = "SLUG"
"""Stands for the row's entrant in the addresses of `Links`."""
OPEN_FLAGS = "Flags that no organiser has decided. While one is open, its pass or its time does not count."
UPHELD_FLAGS = "Flags that an organiser upheld. Their passes or times do not count."
FEW = "few problems"
NEW_DAYS = 14
"""Days for which a submission is new, on a release that is older."""


@dataclass(frozen=True)
class Links:
    """Addresses of a row's links. `flags` is the list of the track's flags, to which the entrant is added."""

    flags: str
    details: str = ""
    """The address that a script fetches to open a row's details; empty where rows have none."""
    expand: str = ""
    """The board with that row open, for pages without a script."""
    collapse: str = ""
    ticks: str = ""
    """The id of the form to which each row's tick belongs; without one there are no ticks."""
    newer_than: datetime | None = None
    """Rows whose results are newer are marked as new; None: none are."""
    results: str = ""
    """The address of a submission, with `NUMBER` for its number; empty where rows have no such link."""


def body(rows: Sequence[Row], columns: Sequence[Column], links: Links, expanded: str = "") -> SafeString:
    """Every text of a row, a column and an address goes through `escape`.

    The details of the row of the slug `expanded` stand below it.
    """
    entrant = reverse("entrant", args=[SLUG])
    lines = (_row(row, columns, entrant, links, row["entrant__slug"] == expanded) for row in rows)
    return mark_safe("\n".join(lines))  # noqa: S308 - escaped piece by piece


def _row(row: Row, columns: Sequence[Column], entrant: str, links: Links, is_open: bool) -> str:
    baseline = row["entrant__kind"] == EntrantKind.BASELINE
    tone = "baseline" if baseline else "incomplete" if row["is_incomplete"] else ""
    cells = "".join(_cell(column.cell(row), column.ranks) for column in columns)
    more = details(row, columns, len(columns) + 2) if is_open and links.details else ""
    slug = escape(row["entrant__slug"])
    return f'<tr class="{tone}" id="row-{slug}">{_rank(row)}{_model(row, entrant, links, is_open)}{cells}</tr>{more}'


MEDALS = {1: "first", 2: "second", 3: "third"}
"""The class of a rank's medal."""


def _rank(row: Row) -> str:
    if row["rank"] is None:
        return f'<td class="num rank" title="{escape(_why_unranked(row))}">–</td>'
    low, high = row["rank_low"], row["rank_high"]
    if low is None:
        interval = f'<span class="few">{FEW}</span>'
        title = f"Fewer than {FEW_PROBLEMS} problems tell too little for an interval of the rank."
    else:
        interval = f"({low}–{high})" if low != high else ""
        title = f"95 % interval of the rank: {f'{low}–{high}' if interval else f'{low} alone'}"
    return f'<td class="num rank" title="{title}">{_place(row["rank"], low, high)} <small>{interval}</small></td>'


def _place(rank: int, low: int | None, high: int | None) -> str:
    """The rank; of the first three a medal, which is filled only where the interval holds no other rank."""
    if rank not in MEDALS:
        return f"<b>{rank}</b>"
    sure = " sure" if low == high == rank else ""
    return f'<b class="medal {MEDALS[rank]}{sure}">{rank}</b>'


_NO_FIGURE = {True: "incomplete", False: "no figure in the metric that ranks"}


def _why_unranked(row: Row) -> str:
    if row["entrant__kind"] == EntrantKind.BASELINE:
        return "A baseline is not ranked."
    return f"Not ranked: {row['incomplete_reason'] or _NO_FIGURE[row['is_incomplete']]}."


def _model(row: Row, entrant: str, links: Links, is_open: bool) -> str:
    badges = "".join(
        f' <span class="badge {tone}" title="{escape(words)}">{text}</span>'
        for tone, words, text in _badges(row, links.newer_than)
    )
    slug = row["entrant__slug"]
    flags = _flags(row, escape(f"{links.flags}&entrant={slug}"))
    return (
        '<th scope="row" class="model"><svg class="dot" viewBox="0 0 10 10" aria-hidden="true">'
        f'<circle cx="5" cy="5" r="5" fill="{colour_of(row["entrant_id"])}"/></svg>'
        f'<a href="{escape(entrant.replace(SLUG, slug))}">{escape(row["entrant__name"])}</a>'
        f'<span class="about"><small>{escape(row["entrant__organisation"])}</small>'
        f"{badges}{flags}{_tick(row, links.ticks)}{_expander(row, links, is_open)}</span></th>"
    )


def _expander(row: Row, links: Links, is_open: bool) -> str:
    """The link that opens and closes the row's details."""
    if not links.details:
        return ""
    slug, target = row["entrant__slug"], links.collapse if is_open else links.expand
    return _results(row, links) + (
        f'<a class="expander" href="{escape(target.replace(SLUG, slug))}#row-{escape(slug)}"'
        f' data-details="{escape(links.details.replace(SLUG, slug))}" aria-expanded="{str(is_open).lower()}"'
        f' aria-label="Details of {escape(row["entrant__name"])}">Details</a>'
    )


def _results(row: Row, links: Links) -> str:
    """The link to the row's submission, whose matrix leads to each sample's evaluation."""
    if not links.results:
        return ""
    address, name = links.results.replace(NUMBER, str(row["submission_id"])), escape(row["entrant__name"])
    return f'<small><a href="{escape(address)}" aria-label="Samples of {name}">Samples</a></small> '


def _tick(row: Row, form: str) -> str:
    """The box that takes the row into a comparison."""
    if not form:
        return ""
    slug, name = escape(row["entrant__slug"]), escape(row["entrant__name"])
    words = f'title="Tick to compare" aria-label="Compare {name}"'
    box = f'<input type="checkbox" class="tick" form="{escape(form)}" name="entrant" value="{slug}" {words}>'
    return f'<label class="tick">{box} Compare</label>'


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


def _badges(row: Row, newer_than: datetime | None) -> Iterator[tuple[str, str, str]]:
    """(tone, explanation, text) of each."""
    if row["entrant__kind"] == EntrantKind.BASELINE:
        yield "dim", "A reference to compare with; not ranked.", "baseline"
    if row["entrant__is_verified"]:
        yield "good", "An organiser has verified who is behind it.", "verified"
    if row["entrant__open_weights"]:
        yield "", "Its weights are public.", "open weights"
    if newer_than and row["submission__created_at"] > newer_than:
        yield "good", f"Its counted submission was made in the last {NEW_DAYS} days.", "new"
    if (n := row["n_full_submissions"]) and row["entrant__kind"] != EntrantKind.BASELINE:
        words = f"Chosen from {n} full submission{'s'[: n > 1]} of its entrant here, cancelled and retracted ones too."
        yield "dim", words, f"chosen from {n}"
    if row["is_incomplete"]:
        yield "warn", f"Not ranked: {row['incomplete_reason']}.", "incomplete"
    if row["submission__measured_where"] is not None:
        words = measured_words(row["submission__measured_where"])
        yield "wait", f"Not by this site's nodes: {words}. It cannot be measured anew.", "imported"
    if row["submission__state"] == "accepted":
        yield "wait", "Its submission is still being judged.", "provisional"


def _cell(cell: Cell, ranks: bool) -> str:
    note = f' title="{escape(cell.note)}"' if cell.note else ""
    below = "".join(f"<small>{escape(words)}</small>" for words in (cell.margin, cell.basis) if words)
    return f'<td class="num{" ranks" if ranks else ""}"{note}>{escape(cell.text)}{below}</td>'


def details(row: Row, columns: Sequence[Column], n_cells: int) -> SafeString:
    """A row below the board's: a bar for each group, and what each figure rests on."""
    metric = ranking_metric(next((column.key for column in columns if column.ranks), "")) or PASS_AT_1
    shares = metric.unit == "%"
    known = [value for one in row["groups"].values() if (value := figure_of_group(one, metric)) is not None]
    most = 1.0 if shares else max(known, default=1.0) or 1.0
    groups = "".join(_group(name, one, metric, most) for name, one in row["groups"].items())
    notes = "".join(
        f"<dt>{escape(column.title)}</dt><dd>{escape(cell.text)}{_percent_sign(column, cell)}"
        f" <small>{escape(cell.note)}</small></dd>"
        for column, cell in ((column, column.cell(row)) for column in columns)
        if cell.note
    )
    if row["rank"] is None:
        notes = f"<dt>Rank</dt><dd>{MISSING} <small>{escape(_why_unranked(row))}</small></dd>{notes}"
    bars = (
        f'<div><table><caption>{metric.title} by group</caption><thead><tr><th scope="col">Group</th>'
        f'<th scope="col">{headed(metric)}</th><th scope="col">Solved</th></tr></thead>'
        f"<tbody>{groups}</tbody></table></div>"
    )
    return mark_safe(  # noqa: S308 - escaped piece by piece
        f'<tr class="details"><td colspan="{n_cells}"><div class="inside">{bars}<dl>{notes}</dl></div></td></tr>'
    )


def _percent_sign(column: Column, cell: Cell) -> str:
    """The unit that stands in the header alone."""
    return " %" if column.unit == "%" and cell.text != MISSING else ""


def _group(name: str, figures: Mapping[str, Any], metric: Metric, most: float) -> str:
    """`most`: the figure of a whole bar."""
    value, counts = figure_of_group(figures, metric), f"{figures['solved']}/{figures['problems']}"
    if value is None:
        bar = f'<span title="No problem of {escape(name)} counts yet.">{MISSING}</span>'
    else:
        words = written(metric, value)
        label = f"{escape(name)}: {words}{' %' if metric.unit == '%' else ''}"
        bar = f'<progress class="bar" max="1" value="{value / most:.4f}" aria-label="{label}"></progress>{words}'
    return f'<tr><th scope="row">{escape(name)}</th><td>{bar}</td><td class="num">{counts}</td></tr>'


def missing_words(columns: Sequence[Column], rows: Sequence[Row]) -> list[tuple[str, list[str]]]:
    """The reasons of “–” in these rows by column, as text for readers without a pointer."""
    reasons = {
        column.title: list(dict.fromkeys(column.cell(row).note for row in rows if column.value(row) is None))
        for column in columns
    }
    return [(title, [words for words in found if words]) for title, found in reasons.items() if any(found)]


def header(columns: Sequence[Column], query: BoardQuery) -> list[dict[str, Any]]:
    """Each column's heading: a link that sorts by it, best first; clicked again, the other way round."""
    left = [
        {"key": "rank", "title": "Rank", "better": "", "unit": "",
         "definition": "By the primary metric, whatever the sort; ties share a rank; its 95 % interval in brackets."},
        {"key": "model", "title": "Model", "better": "", "unit": "", "definition": "Model, agent, person or baseline."},
    ]  # fmt: skip
    right: list[dict[str, Any]] = [
        {
            "key": c.key, "title": c.title, "better": c.better, "unit": c.unit, "ranks": c.ranks,
            "definition": f"{c.definition} The release ranks by it." if c.ranks else c.definition,
            "no_interval": c.no_interval, "trap": c.trap,
        }
        for c in columns
    ]  # fmt: skip
    return [one | _sorting(one, query) for one in [*left, *right]]


def _sorting(one: dict[str, Any], query: BoardQuery) -> dict[str, Any]:
    falling_first = one["better"] == "up" or one["key"] == "date"
    first, second = (f"-{one['key']}", one["key"]) if falling_first else (one["key"], f"-{one['key']}")
    current = query.sort or "rank"
    following = second if current == first else first
    aria = "none" if current.lstrip("-") != one["key"] else "descending" if current.startswith("-") else "ascending"
    arrow = {"up": "↑", "down": "↓"}.get(one["better"], "")
    return {"url": query.url(sort=following, page=1), "aria": aria, "arrow": arrow}
