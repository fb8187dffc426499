"""Fills the estimates of the standings that are there, a batch to a transaction."""

from collections.abc import Mapping
from typing import Any

from django.db import migrations, transaction

BATCH = 50
INTERVALS = ("speedup", "coding", "weighted", "questions", "roofline", "sol_score")
VALUES = ("correct_speedup", "held_out_speedup", "gflops")
PARTS = {
    "speedup": {"problems": "n_timed_problems"},
    "correct_speedup": {"problems": "n_correct_problems"},
    "held_out_speedup": {"problems": "n_held_out_problems", "public": "public_speedup"},
    "gflops": {"problems": "n_gflops_problems", "own": "n_gflops_own"},
    "roofline": {"problems": "n_roofline_problems"},
    "sol_score": {"problems": "n_sol_score_problems", "left_out": "n_sol_score_left_out"},
}
FAST_1 = 3
"""The place in `fast_p` of the threshold 1."""


def estimates_of(row: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The estimates from the columns before. What is None is left out, and an estimate that says nothing."""
    made: dict[str, dict[str, Any]] = {
        f"pass@{k}": dict(zip(("value", "low", "high"), ends, strict=True)) for k, ends in row["pass_at_k"].items()
    }
    made |= {name: {"value": row[name], "low": row[f"{name}_low"], "high": row[f"{name}_high"]} for name in INTERVALS}
    made |= {name: {"value": row[name]} for name in VALUES}
    if len(row["fast_p"]) > FAST_1 and row["fast_p"][FAST_1] is not None:
        made["fast_1"] = {"value": row["fast_p"][FAST_1]}
    for name, parts in PARTS.items():
        made[name] |= {part: row[column] for part, column in parts.items()}
    known = {name: {part: value for part, value in one.items() if value is not None} for name, one in made.items()}
    return {name: one for name, one in known.items() if "value" in one or any(one.values())}


def fill(apps: Any, _schema_editor: Any) -> None:
    standings, last = apps.get_model("leaderboard", "Standing").objects, 0
    while True:
        with transaction.atomic():
            rows = list(
                standings.select_for_update(of=("self",))
                .filter(pk__gt=last)
                .select_related("release")
                .order_by("pk")[:BATCH]
            )
            for row in rows:
                row.estimates = estimates_of(row.__dict__)
                if row.primary_value is not None:
                    primary = row.estimates.get(row.release.primary_metric, {})
                    row.primary_low, row.primary_high = primary.get("low"), primary.get("high")
            standings.bulk_update(rows, ["estimates", "primary_low", "primary_high"])
        if len(rows) < BATCH:
            return
        last = rows[-1].pk


class Migration(migrations.Migration):
    atomic = False
    dependencies = [
        ("leaderboard", "0037_estimates"),
    ]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
