"""The board as CSV and JSON: exactly the rows and columns shown, over all pages of the filter, as plain numbers."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from leaderboard.boards.columns import Column
from leaderboard.boards.query import BoardQuery
from leaderboard.boards.source import BoardSource
from leaderboard.boards.table import Row
from leaderboard.results.measured import measured_words
from problems.models import Release

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def records(columns: Sequence[Column], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """One flat record a row; shares are 0 to 1, missing figures None, intervals as `<key>_low` and `<key>_high`."""
    return [_record(columns, row) for row in rows]


def _record(columns: Sequence[Column], row: Row) -> dict[str, Any]:
    record: dict[str, Any] = {
        "rank": row["rank"], "rank_low": row["rank_low"], "rank_high": row["rank_high"],
        "entrant": row["entrant__slug"], "model": row["entrant__name"], "organisation": row["entrant__organisation"],
        "kind": row["entrant__kind"], "verified": row["entrant__is_verified"],
        "open_weights": row["entrant__open_weights"], "incomplete": row["incomplete_reason"],
        "submission": row["submission_id"], "licence": row["submission__licence"], "imported": _imported(row),
        "full_submissions": row["n_full_submissions"],
        "open_flags": row["n_open_flags"], "upheld_flags": row["n_upheld_flags"],
    }  # fmt: skip
    for column in columns:
        record[column.key] = column.value(row)
        if column.bounds:
            record[f"{column.key}_low"], record[f"{column.key}_high"] = column.bounds(row)
        record |= column.exported(row)
    return record


def release_facts(release: Release, query: BoardQuery) -> dict[str, Any]:
    """The release and its rules, by which an export says what it is of."""
    return {
        "release": release.slug,
        "revision": release.revision,
        "digest": release.digest,
        "track": query.track,
        "metric": release.primary_metric,
        "timing_policy": release.timing_policy,
        "rules": release.rules,
    }


def column_facts(column: Column) -> dict[str, Any]:
    """The meaning of a column, and the reason where its estimates have no interval."""
    names = ("key", "title", "unit", "better", "definition", "no_interval", "trap")
    return {name: getattr(column, name) for name in names}


def ranking_facts(query: BoardQuery, source: BoardSource) -> dict[str, Any]:
    """Over which problems the board is ranked, and of which day; `as_of` is null for the newest ranking."""
    return {
        "problems": source.n_problems,
        "problems_of_release": source.n_all,
        "groups": list(query.choice.groups),
        "tags": list(query.choice.tags),
        "difficulties": list(query.choice.difficulties),
        "as_of": query.as_of and query.as_of.isoformat(),
        "ranked_at": _ranked_at(query, source),
        "not_ranked": source.why_not,
    }


def _imported(row: Row) -> str:
    """Where and when imported results were measured; empty for the site's own."""
    where = row["submission__measured_where"]
    return "" if where is None else measured_words(where)


def _ranked_at(query: BoardQuery, source: BoardSource) -> str | None:
    """When the newest ranking was made; None for the ranking of a day, which is made anew."""
    at = source.place and source.place.ranked_at
    return at.isoformat(timespec="seconds") if at and query.as_of is None else None


def csv_facts(release: Release, query: BoardQuery, source: BoardSource) -> dict[str, Any]:
    """The columns that say in each row of a CSV what it is of; `ranked_over` is empty for all problems."""
    ranking = ranking_facts(query, source)
    over = {"ranked_over": query.choice.words if query.choice else ""}
    return release_facts(release, query) | {name: ranking[name] for name in ("as_of", "ranked_at")} | over


def as_csv(columns: Sequence[Column], rows: Sequence[Row], facts: dict[str, Any]) -> str:
    """A header line and one line a row, which ends with the facts. Text that a spreadsheet would run as a formula gets
    a leading quote."""
    found = [record | facts for record in records(columns, rows)]
    header = list(found[0]) if found else ["rank", "entrant", "model", *(column.key for column in columns), *facts]
    target = io.StringIO()
    writer = csv.DictWriter(target, header, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: safe_text(value) for name, value in record.items()} for record in found)
    return target.getvalue()


def safe_text(value: Any) -> Any:
    """Text that a spreadsheet would run as a formula gets a leading quote."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
