"""A release may keep from authors what the first failed test said."""

from typing import Any

from django.db import migrations, models

from problems import triggers


def let_change(_apps: Any, schema_editor: Any) -> None:
    """Published releases are guarded; the triggers are made anew after every migrate."""
    triggers.remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [
        ("problems", "0015_editable_drafts"),
    ]

    operations = [
        migrations.RunPython(let_change, migrations.RunPython.noop),
        migrations.AddField(
            model_name="release",
            name="shows_first_failure",
            field=models.BooleanField(
                default=True,
                help_text="Whether a team may read which test or case of a sample failed first, and what it said. The"
                " first message of a test may quote held-out values. If not, a team reads verdicts and build logs"
                " only.",
                verbose_name="authors read the first failure",
            ),
        ),
    ]
