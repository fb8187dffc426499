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


def ranking_facts(query: BoardQuery, source: BoardSource) -> dict[str, Any]:
    """Over which problems the board is ranked, and of which day; `as_of` is null for the newest ranking."""
    return {
        "problems": source.n_problems,
        "problems_of_release": source.n_all,
        "groups": list(query.choice.groups),
        "tags": list(query.choice.tags),
        "difficulties": list(query.choice.difficulties),
        "as_of": query.as_of and query.as_of.isoformat(),
        "not_ranked": source.why_not,
    }


def _imported(row: Row) -> str:
    """Where and when imported results were measured; empty for the site's own."""
    where = row["submission__measured_where"]
    return "" if where is None else measured_words(where)


def as_csv(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    """A header line and one line a row. Text that a spreadsheet would run as a formula gets a leading quote."""
    found = records(columns, rows)
    header = list(found[0]) if found else ["rank", "entrant", "model", *(column.key for column in columns)]
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
