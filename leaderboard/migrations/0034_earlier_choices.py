"""Each submission that asked to count was chosen when it was sent. Boards are ranked anew."""

from django.db import migrations
from django.utils import timezone

BATCH = 1000


def choose_sent(apps, schema_editor):
    submissions = apps.get_model("leaderboard", "Submission").objects.filter(is_full=True, asks_to_count=True)
    chosen = apps.get_model("leaderboard", "Chosen")
    rows = submissions.order_by("pk", "tracks").values_list("pk", "tracks", "submitted_by", "created_at")
    made = (
        chosen(submission_id=pk, track_id=track, chosen_by_id=user, at=at)
        for pk, track, user, at in rows.iterator(BATCH)
        if track
    )
    chosen.objects.bulk_create(made, batch_size=BATCH)


def touch_ranked(apps, schema_editor):
    apps.get_model("leaderboard", "ReleaseTrack").objects.exclude(touched_at=None).update(touched_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0033_choices"),
    ]

    operations = [
        migrations.RunPython(choose_sent, migrations.RunPython.noop),
        migrations.RunPython(touch_ranked, migrations.RunPython.noop),
    ]
