"""Boards are ranked anew: an interval of problems that are all alike has a width now. No score and no rank changes."""

from django.db import migrations
from django.utils import timezone


def touch_ranked(apps, schema_editor):
    apps.get_model("leaderboard", "ReleaseTrack").objects.exclude(touched_at=None).update(touched_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0027_revisions_keep_decisions"),
    ]

    operations = [
        migrations.RunPython(touch_ranked, migrations.RunPython.noop),
    ]
