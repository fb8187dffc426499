"""The board's rows: read slim, filtered and sorted here, so that a page of a thousand entrants costs a few queries."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from django.db.models import OuterRef, QuerySet

from leaderboard.boards.columns import Column, columns_for
from leaderboard.boards.problem_choice import Facet
from leaderboard.boards.query import BoardQuery
from leaderboard.boards.ranked_again import Ranked
from leaderboard.models import Standing, Submission
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.results.measured import measured_words, together
from leaderboard.standings.count import chosen_at

PAGE_ROWS = 100
ROW_FIELDS = (
    "pk", "rank", "rank_low", "rank_high", "is_incomplete", "incomplete_reason", "primary_value", "estimates",
    "n_solved", "n_problems", "n_skipped", "n_samples", "n_passed", "n_unwitnessed", "n_provisional",
    "n_open_flags", "n_upheld_flags", "n_full_submissions", "round_figures", "fast_p", "groups",
    "submission_id", "submission__created_at",
    "submission__finished_at", "submission__state",
    "submission__measured_where", "submission__tokens_per_sample", "submission__usd_per_sample",
    "entrant_id", "entrant__slug", "entrant__name", "entrant__kind",
    "entrant__organisation", "entrant__is_verified", "entrant__open_weights", "submission__licence",
)  # fmt: skip
_SLIM_FIELDS = (
    "pk", "rank", "primary_value", "estimates", "n_unwitnessed", "n_provisional", "round_figures",
    "submission__measured_where", "submission__tokens_per_sample", "submission__usd_per_sample",
    "entrant__name", "entrant__kind", "entrant__organisation", "entrant__is_verified", "entrant__open_weights",
)  # fmt: skip
"""Enough to filter, count and sort by rank or name."""
CHOSEN_AT = "chosen_at"
"""When the row's submission was last chosen: a field of whole rows beside those of `ROW_FIELDS`."""
_OF_SUBMISSION = tuple(name for name in ROW_FIELDS if name.startswith(("submission__", "entrant_")))

Row = dict[str, Any]


class Rows(Protocol):
    """The source of a board's rows: those of one track that the user may see."""

    def all(self) -> list[Row]:
        """Every row with all fields."""

    def slim(self) -> list[Row]:
        """Every row with no more than filters, counts and the order by rank or name need."""

    def whole(self, rows: Sequence[Row]) -> Mapping[int, Row]:
        """The same rows with all fields, by `pk`."""

    def only(self, entrant: str) -> "Rows":
        """The row of the entrant of this slug."""


@dataclass(frozen=True)
class StoredRows:
    """The rows of the last ranking. One query each."""

    standings: QuerySet[Standing]

    def all(self) -> list[Row]:
        return list(self._dated.values(*ROW_FIELDS, CHOSEN_AT))

    @property
    def _dated(self) -> QuerySet[Standing]:
        return self.standings.annotate(**{CHOSEN_AT: chosen_at("submission", OuterRef("track"))})

    def slim(self) -> list[Row]:
        return list(self.standings.values(*_SLIM_FIELDS))

    def whole(self, rows: Sequence[Row]) -> Mapping[int, Row]:
        ids = [row["pk"] for row in rows]
        return {row["pk"]: row for row in self._dated.filter(pk__in=ids).values(*ROW_FIELDS, CHOSEN_AT)}

    def only(self, entrant: str) -> "StoredRows":
        return StoredRows(self.standings.filter(entrant__slug=entrant))


@dataclass(frozen=True)
class RankedRows:
    """The rows of a board that was ranked over some problems or as of a day. One query."""

    submissions: QuerySet[Submission]
    """Annotated with `CHOSEN_AT`."""
    ranked: Ranked

    def all(self) -> list[Row]:
        names = [*(name.removeprefix("submission__") for name in _OF_SUBMISSION), CHOSEN_AT]
        of_submission = ("pk", *_OF_SUBMISSION, CHOSEN_AT)
        rows = self.submissions.filter(pk__in=self.ranked.figures).values_list("pk", *names)
        return [
            {**dict(zip(of_submission, row, strict=True)), "submission_id": row[0], **self.ranked.figures[row[0]]}
            for row in rows
        ]

    def slim(self) -> list[Row]:
        return self.all()

    def whole(self, rows: Sequence[Row]) -> Mapping[int, Row]:
        return {row["pk"]: row for row in rows}

    def only(self, entrant: str) -> "RankedRows":
        return RankedRows(self.submissions.filter(entrant__slug=entrant), self.ranked)


@dataclass(frozen=True)
class BoardTable:
    """Rows of one page, the baselines pinned above them, and what the filters would give."""

    columns: list[Column]
    available: list[Column]
    """Also those that the query hides."""
    rows: list[Row]
    pinned: list[Row]
    n_found: int
    n_all: int
    n_baselines: int
    organisations: list[Facet]
    n_open: int
    n_proprietary: int
    n_verified: int
    page: int
    n_pages: int
    imported: str
    """Where and when, if every row's results were imported; else empty."""
    n_provisional: int
    """Passes of all rows whose times were measured under a weaker timing policy than the release promises."""


def load(source: Rows, query: BoardQuery, groups: Sequence[str]) -> BoardTable:
    """One page of the board. Two queries."""
    slim = source.slim() if query.sort.lstrip("-") in {"", *_LEFT_COLUMNS} else source.all()
    columns = columns_for(query, groups, slim)
    contestants = [row for row in slim if row["entrant__kind"] != EntrantKind.BASELINE]
    baselines = [row for row in slim if row["entrant__kind"] == EntrantKind.BASELINE]
    found = _sorted([row for row in contestants if _matches(row, query)], columns, query.sort)
    n_pages = max(1, -(-len(found) // PAGE_ROWS))
    page = min(query.page, n_pages)
    shown = found[(page - 1) * PAGE_ROWS : page * PAGE_ROWS]
    pinned = [] if query.hide_baselines else [row for row in baselines if _has_words(row, query.search)]
    whole = source.whole([*pinned, *shown])
    openness = _counts(contestants, replace(query, openness=""), "entrant__open_weights")
    verified = _counts(contestants, replace(query, verified=False), "entrant__is_verified")
    return BoardTable(
        columns=_not_hidden(columns, query),
        available=columns,
        rows=[whole[row["pk"]] for row in shown],
        pinned=[whole[row["pk"]] for row in pinned],
        n_found=len(found),
        n_all=len(contestants),
        n_baselines=len(baselines),
        organisations=_organisations(contestants, query),
        n_open=openness[True],
        n_proprietary=openness[False],
        n_verified=verified[True],
        page=page,
        n_pages=n_pages,
        imported=imported_words(slim),
        n_provisional=sum(row["n_provisional"] for row in slim),
    )


def _not_hidden(columns: Sequence[Column], query: BoardQuery) -> list[Column]:
    return [column for column in columns if column.key not in query.hidden]


def _counts(rows: Sequence[Row], query: BoardQuery, field: str) -> Counter[Any]:
    """Numbers of rows by value of the field, of those that fit the query."""
    return Counter(row[field] for row in rows if _matches(row, query))


def imported_words(rows: Sequence[Row]) -> str:
    """Where and when the rows' results were measured, if every one was imported; else empty."""
    wheres = [row["submission__measured_where"] for row in rows]
    return "" if not wheres or None in wheres else measured_words(together(wheres))


def load_all(source: Rows, query: BoardQuery, groups: Sequence[str]) -> tuple[list[Column], list[Row]]:
    """Every row of the filter, in the page's order (baselines first): what the exports write. One query."""
    rows = source.all()
    columns = columns_for(query, groups, rows)
    found = [row for row in rows if row["entrant__kind"] != EntrantKind.BASELINE and _matches(row, query)]
    pinned = [row for row in rows if row["entrant__kind"] == EntrantKind.BASELINE and _has_words(row, query.search)]
    ordered = [*([] if query.hide_baselines else pinned), *_sorted(found, columns, query.sort)]
    return _not_hidden(columns, query), ordered


def _has_words(row: Row, search: str) -> bool:
    text = f"{row['entrant__name']} {row['entrant__organisation']}".casefold()
    return all(word in text for word in search.casefold().split())


def _matches(row: Row, query: BoardQuery) -> bool:
    wanted = {"open": True, "proprietary": False}.get(query.openness)
    return (
        _has_words(row, query.search)
        and (not query.organisation or row["entrant__organisation"] == query.organisation)
        and (wanted is None or row["entrant__open_weights"] is wanted)
        and (not query.verified or row["entrant__is_verified"])
    )


def _organisations(rows: Sequence[Row], query: BoardQuery) -> list[Facet]:
    """Every organisation with the number of rows that the other filters leave it."""
    counts = _counts(rows, replace(query, organisation=""), "entrant__organisation")
    return [Facet(name, counts[name]) for name in sorted({row["entrant__organisation"] for row in rows}) if name]


def _by_rank(row: Row) -> tuple[bool, int, float, str]:
    """Ranked rows by rank; after them the unranked by their primary value."""
    return row["rank"] is None, row["rank"] or 0, -(row["primary_value"] or 0.0), row["entrant__name"].casefold()


def _sorted(rows: list[Row], columns: Sequence[Column], sort: str) -> list[Row]:
    """Sorts by the chosen column, missing values last either way; the rank breaks ties and is the default."""
    rows = sorted(rows, key=_by_rank)
    name = sort.lstrip("-")
    value = {column.key: column.value for column in columns}.get(name) or _LEFT_COLUMNS.get(name)
    if value is None:
        return rows
    known = [row for row in rows if value(row) is not None]
    known.sort(key=value, reverse=sort.startswith("-"))
    return known + [row for row in rows if value(row) is None]


_LEFT_COLUMNS: dict[str, Callable[[Row], Any]] = {
    "rank": lambda row: row["rank"],
    "model": lambda row: row["entrant__name"].casefold(),
}
