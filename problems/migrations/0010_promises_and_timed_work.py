"""Promises of releases, and whether the timed work of each problem is checked."""

import json
from typing import Any

from django.db import migrations, models

from problems import triggers


def let_change(_apps: Any, schema_editor: Any) -> None:
    """Published problems are guarded; the triggers are made anew after every migrate."""
    triggers.remove(schema_editor.connection)


def fill(apps: Any, _schema_editor: Any) -> None:
    problem = apps.get_model("problems", "Problem")
    for one in problem.objects.filter(has_benchmark=True).select_related("release").iterator():
        record = json.loads(bytes(one.record))
        mode = (record.get("timing_mode") or {}).get("type", "process")
        is_test = record["benchmark_command"].split() == record["test_command"].split()
        ours = (record.get("metadata") or {}).get("podium") if one.release.profile == "podium/1" else {}
        is_checked = (ours or {}).get("work_checked", False) or (mode == "process" and is_test)
        one.timed_work = "self_reported" if mode == "custom" else "checked" if is_checked else "unchecked"
        one.save(update_fields=["timed_work"])


class Migration(migrations.Migration):
    dependencies = [
        ("problems", "0009_samples_a_problem"),
    ]

    operations = [
        migrations.RunPython(let_change, migrations.RunPython.noop),
        migrations.AddField(
            model_name="problem",
            name="timed_work",
            field=models.CharField(
                blank=True,
                choices=[("checked", "checked"), ("unchecked", "unchecked"), ("self_reported", "self reported")],
                max_length=20,
            ),
        ),
        migrations.AddField(
            model_name="release",
            name="one_command",
            field=models.BooleanField(
                default=False,
                help_text="Promise: every timed problem is timed by its own test command, so that a solution cannot tell a timed run from a test. Publishing checks it.",
                verbose_name="test and benchmark are one command",
            ),
        ),
        migrations.AddField(
            model_name="release",
            name="separate_harness",
            field=models.BooleanField(
                default=False,
                help_text="Promise: every problem says `harness: separate`, which verifying tests with a solution that ends its process at once. Publishing checks it.",
                verbose_name="harnesses run in processes of their own",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
