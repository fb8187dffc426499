"""New releases are ranked by the third rules. Those that exist keep theirs."""

from typing import Any

from django.db import migrations, models

from problems import triggers


def let_change(_apps: Any, schema_editor: Any) -> None:
    """Published releases are guarded; the triggers are made anew after every migrate."""
    triggers.remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [
        ("problems", "0017_rules_version"),
    ]

    operations = [
        migrations.RunPython(let_change, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="release",
            name="rules",
            field=models.PositiveSmallIntegerField(
                default=3,
                help_text="How its scores, intervals and ranks are computed.",
                verbose_name="version of the rules",
            ),
        ),
    ]
