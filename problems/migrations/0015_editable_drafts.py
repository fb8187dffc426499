"""Problems of drafts can be edited and left out; a changed problem says since when its results count."""

from typing import Any

from django.db import migrations, models

from problems import triggers


def let_change(_apps: Any, schema_editor: Any) -> None:
    """Published problems are guarded; the triggers are made anew after every migrate."""
    triggers.remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [
        ("problems", "0014_private_content"),
    ]

    operations = [
        migrations.RunPython(let_change, migrations.RunPython.noop),
        migrations.AddField(
            model_name="problem",
            name="is_left_out",
            field=models.BooleanField(default=False, help_text="Kept in its draft, and not a part of the release."),
        ),
        migrations.AddField(
            model_name="problem",
            name="graded_since",
            field=models.DateTimeField(
                blank=True,
                help_text="When its draft last changed what results depend on; older ones do not verify it.",
                null=True,
            ),
        ),
    ]
