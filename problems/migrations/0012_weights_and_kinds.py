"""Other weights make another revision; weights say where they come from; a release may rank by coding or questions."""

from typing import Any

from django.db import migrations, models

import problems.models
from problems import triggers


def let_change(_apps: Any, schema_editor: Any) -> None:
    """Published releases are guarded; the triggers are made anew after every migrate."""
    triggers.remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [
        ("problems", "0011_sol_score"),
    ]

    operations = [
        migrations.RunPython(let_change, migrations.RunPython.noop),
        migrations.RemoveConstraint(model_name="release", name="release_identity"),
        migrations.RemoveConstraint(model_name="release", name="release_primary_metric"),
        migrations.AddField(
            model_name="release",
            name="weights_note",
            field=models.TextField(
                blank=True, default="", help_text="Where the weights come from; shown on its pages.", max_length=4000
            ),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name="release",
            name="weights",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text='Weight of each group of coding problems, for the metric weighted: {"group": 2.5}.',
                validators=[problems.models.valid_weights],
            ),
        ),
        migrations.AlterField(
            model_name="release",
            name="primary_metric",
            field=models.CharField(
                default="pass@1",
                help_text="What ranks follow: pass@k for some k, speedup, coding, weighted, questions, gflops, roofline,"
                " sol_score.",
                max_length=40,
                validators=[problems.models.valid_metric],
            ),
        ),
        migrations.AddConstraint(
            model_name="release",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "primary_metric__in",
                        ["speedup", "coding", "weighted", "questions", "gflops", "roofline", "sol_score"],
                    ),
                    ("primary_metric__startswith", "pass@"),
                    _connector="OR",
                ),
                name="release_primary_metric",
                violation_error_message="The primary metric is not one that Podium knows.",
            ),
        ),
    ]
