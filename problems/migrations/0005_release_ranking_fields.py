"""Fields of a release: weights, and the public reasons for a correction and for an unverified publication."""

from typing import Any

from django.db import migrations, models

import problems.models
from problems import triggers


def _let_change(_apps: Any, schema_editor: Any) -> None:
    """Published releases are guarded; the triggers are made anew after every migrate."""
    triggers.remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [
        ("problems", "0004_kinds_and_problem_blobs"),
    ]

    operations = [
        migrations.RunPython(_let_change, migrations.RunPython.noop),
        migrations.AddField(
            model_name="release",
            name="correction",
            field=models.TextField(
                blank=True, help_text="Why its ranking was corrected after publication; shown on its pages."
            ),
        ),
        migrations.AddField(
            model_name="release",
            name="unverified_reason",
            field=models.TextField(
                blank=True, help_text="Why it was published before every problem was verified; shown on its pages."
            ),
        ),
        migrations.AddField(
            model_name="release",
            name="weights",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text='Weight of each group of problems, for the metric weighted: {"group": 2.5}.',
                validators=[problems.models.valid_weights],
            ),
        ),
        migrations.AlterField(
            model_name="release",
            name="ks",
            field=models.JSONField(
                default=list,
                help_text="The k of pass@k that the board offers, as [1, 10].",
                validators=[problems.models.valid_ks],
            ),
        ),
        migrations.AlterField(
            model_name="release",
            name="primary_metric",
            field=models.CharField(
                default="pass@1",
                help_text="What ranks follow: pass@k for some k, speedup, weighted, gflops, roofline.",
                max_length=40,
                validators=[problems.models.valid_metric],
            ),
        ),
    ]
