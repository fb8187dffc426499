"""Aggregates keep what samples count with their cases weighted by traffic.

No release has such weights yet. Every board is ranked anew, for other benchmarks' scores.
"""

from typing import Any

from django.db import migrations, models
from django.utils import timezone


def rank_anew(apps: Any, _schema_editor: Any) -> None:
    places = apps.get_model("leaderboard", "ReleaseTrack").objects
    places.exclude(touched_at=None).update(touched_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0040_front_page"),
    ]

    operations = [
        migrations.AddField(
            model_name="problemscore",
            name="traffic_ln_sum",
            field=models.FloatField(
                db_default=0.0,
                default=0.0,
                help_text="`ln_speedup_sum` with cases weighted as the release declares.",
            ),
        ),
        migrations.RunPython(rank_anew, migrations.RunPython.noop),
    ]
