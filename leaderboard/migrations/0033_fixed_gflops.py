"""A standing says on how many problems its GFLOPS are its own."""

from django.db import migrations, models
from django.utils import timezone


def touch_ranked(apps, schema_editor):
    """Boards are ranked anew, so that their rows have the count."""
    apps.get_model("leaderboard", "ReleaseTrack").objects.exclude(touched_at=None).update(touched_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0032_rounds"),
    ]

    operations = [
        migrations.AddField(
            model_name="standing",
            name="n_gflops_own",
            field=models.PositiveIntegerField(
                default=0, help_text="Those on which its own GFLOPS count. On the others the baseline's do."
            ),
        ),
        migrations.AlterField(
            model_name="standing",
            name="gflops",
            field=models.FloatField(help_text="Geometric mean over the problems that the rules take.", null=True),
        ),
        migrations.RunPython(touch_ranked, migrations.RunPython.noop),
    ]
