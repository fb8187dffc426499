"""A release may rank by sol_score."""

from typing import Any

from django.db import migrations, models

import problems.models
from problems import triggers


def let_change(_apps: Any, schema_editor: Any) -> None:
    """Published releases are guarded; the triggers are made anew after every migrate."""
    triggers.remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [
        ("problems", "0010_promises_and_timed_work"),
    ]

    operations = [
        migrations.RunPython(let_change, migrations.RunPython.noop),
        migrations.RemoveConstraint(model_name="release", name="release_primary_metric"),
        migrations.AlterField(
            model_name="release",
            name="primary_metric",
            field=models.CharField(
                default="pass@1",
                help_text="What ranks follow: pass@k for some k, speedup, weighted, gflops, roofline, sol_score.",
                max_length=40,
                validators=[problems.models.valid_metric],
            ),
        ),
        migrations.AddConstraint(
            model_name="release",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("primary_metric__in", ["speedup", "weighted", "gflops", "roofline", "sol_score"]),
                    ("primary_metric__startswith", "pass@"),
                    _connector="OR",
                ),
                name="release_primary_metric",
                violation_error_message="The primary metric is not one that Podium knows.",
            ),
        ),
    ]
