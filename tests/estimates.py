"""Estimates of standings for tests: made from triples, and changed in stored rows."""

from typing import Any

from django.db.models import QuerySet

from leaderboard.models import Standing
from leaderboard.models.boards.estimates import Triple, kept


def estimates(figures: dict[str, Triple | float | None], **parts: dict[str, Any]) -> dict[str, Any]:
    """Name of a metric → its value, or its value and interval; and name → the other parts of its estimate."""
    made: dict[str, dict[str, Any]] = {}
    for name, figure in figures.items():
        value, low, high = figure if isinstance(figure, tuple) else (figure, None, None)
        made[name] = {"value": value, "low": low, "high": high, **parts.get(name, {})}
    return kept(made)


def change(rows: QuerySet[Standing], **changes: dict[str, Any]) -> None:
    """Set parts of estimates of the stored rows; a part that is None goes."""
    for row in rows:
        row.estimates = kept(
            {**row.estimates, **{name: row.estimates.get(name, {}) | changes[name] for name in changes}}
        )
        row.save(update_fields=["estimates"])
