"""A release says when it tells what rests on its questions. Those that are published tell it at once, as they did."""

from typing import Any

import django.core.validators
from django.db import migrations, models

from problems import triggers


def keep_practice(apps: Any, schema_editor: Any) -> None:
    """Published releases are guarded; the triggers are made anew after every migrate."""
    triggers.remove(schema_editor.connection)
    published = apps.get_model("problems", "Release").objects.exclude(state="draft")
    published.update(question_policy="practice")


class Migration(migrations.Migration):
    dependencies = [
        ("problems", "0018_third_rules"),
    ]

    operations = [
        migrations.AddField(
            model_name="release",
            name="question_policy",
            field=models.CharField(
                blank=True,
                choices=[
                    ("practice", "Practice: verdicts at once"),
                    ("sealed", "Sealed: nothing before they are revealed, and an entrant's first reply counts"),
                ],
                default="",
                help_text="Whether verdicts on questions are told at once, or nothing that rests on them before"
                " `reveals at`. Publication fixes it; left empty, sealed where questions rank and practice where they"
                " do not.",
                max_length=10,
                verbose_name="questions",
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="release",
            name="question_samples",
            field=models.PositiveIntegerField(
                default=1,
                help_text="The most samples of one sealed question that a submission may have.",
                validators=[django.core.validators.MinValueValidator(1)],
                verbose_name="replies to a sealed question",
            ),
        ),
        migrations.AddField(
            model_name="release",
            name="reveals_at",
            field=models.DateTimeField(
                blank=True,
                null=True,
                help_text="When what rests on sealed questions is shown. Later replies never rank.",
            ),
        ),
        migrations.RunPython(keep_practice, migrations.RunPython.noop),
    ]
