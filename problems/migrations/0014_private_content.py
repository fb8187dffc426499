"""A private release may show its results; licence and dataset card; problems that are not to be released."""

import json
from typing import Any

from django.db import migrations, models

from problems import triggers


def let_change(_apps: Any, schema_editor: Any) -> None:
    """Published problems are guarded; the triggers are made anew after every migrate."""
    triggers.remove(schema_editor.connection)


def mark(apps: Any, _schema_editor: Any) -> None:
    """Set `do_not_release` where the stored record says so."""
    problems = apps.get_model("problems", "Problem").objects
    marked = [
        pk
        for pk, record in problems.values_list("pk", "record").iterator(chunk_size=200)
        if b"do_not_release" in bytes(record)
        and (json.loads(bytes(record)).get("metadata") or {}).get("do_not_release") is True
    ]
    problems.filter(pk__in=marked).update(do_not_release=True)


class Migration(migrations.Migration):
    dependencies = [
        ("problems", "0012_weights_and_kinds"),
    ]

    operations = [
        migrations.RunPython(let_change, migrations.RunPython.noop),
        migrations.AddField(
            model_name="problem",
            name="do_not_release",
            field=models.BooleanField(
                default=False, help_text="As its record says: its statement and files are the organisers' alone."
            ),
        ),
        migrations.AddField(
            model_name="release",
            name="dataset_card",
            field=models.TextField(
                blank=True,
                help_text="Markdown: where the problems come from, what they cover, known faults.",
                max_length=20000,
            ),
        ),
        migrations.AddField(
            model_name="release",
            name="invited_may_read",
            field=models.BooleanField(
                default=True,
                help_text="Whether the licence lets the users invited to a private release read its statements and visible"
                " files. If not, they submit without reading them.",
                verbose_name="licence lets invited users read",
            ),
        ),
        migrations.AddField(
            model_name="release",
            name="licence",
            field=models.CharField(
                blank=True,
                help_text="Of its problems: an SPDX identifier such as Apache-2.0, or other words.",
                max_length=200,
            ),
        ),
        migrations.AddField(
            model_name="release",
            name="results_are_public",
            field=models.BooleanField(
                default=False,
                help_text="Whether strangers may see the board, entrants and charts of a private release. They see its"
                " problems' names, never their statements and files.",
                verbose_name="results public",
            ),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
