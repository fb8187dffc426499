"""A release names the version of the rules that rank it. Those that exist keep the first."""

from typing import Any

from django.db import migrations, models

from problems import triggers


def let_change(_apps: Any, schema_editor: Any) -> None:
    """Published releases are guarded; the triggers are made anew after every migrate."""
    triggers.remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [
        ("problems", "0016_first_failure"),
    ]

    operations = [
        migrations.RunPython(let_change, migrations.RunPython.noop),
        migrations.AddField(
            model_name="release",
            name="rules",
            field=models.PositiveSmallIntegerField(default=1),
        ),
        migrations.AlterField(
            model_name="release",
            name="rules",
            field=models.PositiveSmallIntegerField(
                default=2,
                help_text="How its scores, intervals and ranks are computed.",
                verbose_name="version of the rules",
            ),
        ),
    ]
