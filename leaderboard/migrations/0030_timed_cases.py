"""The cases that are timed on a problem's track. Where a baseline ranks, its first measurement has fixed them.

Results keep their speedups, which are stored with them: no score and no rank changes.
"""

from django.db import migrations, models


def fix_by_first_baseline(apps, schema_editor):
    places = apps.get_model("leaderboard", "ProblemTrack").objects
    rows = list(places.filter(has_rankable_baseline=True, timed_cases__isnull=True).exclude(baseline_cases_ms={}))
    for row in rows:
        row.timed_cases = sorted(row.baseline_cases_ms)
    places.bulk_update(rows, ["timed_cases"], batch_size=200)


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0029_packed_uploads"),
    ]

    operations = [
        migrations.AddField(
            model_name="problemtrack",
            name="timed_cases",
            field=models.JSONField(
                blank=True,
                help_text="The cases that are timed for everybody, sorted; null until they are fixed.",
                null=True,
            ),
        ),
        migrations.RunPython(fix_by_first_baseline, migrations.RunPython.noop),
    ]
