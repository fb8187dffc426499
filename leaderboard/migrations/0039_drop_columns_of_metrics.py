"""Drops the columns that estimates replace. The code before must have stopped.

It may have ranked since 0038, so the estimates are filled once more, and every board is ranked anew: the arrays from
which boards are ranked over some problems have other names now.
"""

import importlib
from typing import Any

from django.db import migrations
from django.utils import timezone

fill = importlib.import_module("leaderboard.migrations.0038_fill_estimates").fill
DROPPED = (
    "pass_at_1", "pass_at_1_low", "pass_at_1_high", "pass_at_k", "n_timed_problems",
    "speedup", "speedup_low", "speedup_high", "correct_speedup", "n_correct_problems",
    "held_out_speedup", "public_speedup", "n_held_out_problems",
    "coding", "coding_low", "coding_high", "weighted", "weighted_low", "weighted_high",
    "questions", "questions_low", "questions_high", "gflops", "n_gflops_problems", "n_gflops_own",
    "roofline", "roofline_low", "roofline_high", "n_roofline_problems",
    "sol_score", "sol_score_low", "sol_score_high", "n_sol_score_problems", "n_sol_score_left_out",
)  # fmt: skip


def rank_anew(apps: Any, _schema_editor: Any) -> None:
    apps.get_model("leaderboard", "RankedArrays").objects.all().delete()
    places = apps.get_model("leaderboard", "ReleaseTrack").objects
    places.exclude(touched_at=None).update(touched_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0038_fill_estimates"),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunPython(rank_anew, migrations.RunPython.noop),
        *(migrations.RemoveField(model_name="standing", name=name) for name in DROPPED),
    ]
