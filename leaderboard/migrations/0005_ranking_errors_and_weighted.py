"""A track keeps why it could not be ranked; a standing keeps its weighted score."""

from django.db import migrations, models

import leaderboard.models.boards.track


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0004_purposes_cases_and_trials"),
    ]

    operations = [
        migrations.AddField(
            model_name="releasetrack",
            name="ranking_error",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="releasetrack",
            name="ranking_failed_at",
            field=models.DateTimeField(blank=True, help_text="The touched_at that could not be ranked.", null=True),
        ),
        migrations.AddField(
            model_name="standing",
            name="weighted",
            field=models.FloatField(help_text="pass@1 by the weights that the release gives to groups.", null=True),
        ),
        migrations.AddField(
            model_name="standing",
            name="weighted_high",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="standing",
            name="weighted_low",
            field=models.FloatField(null=True),
        ),
        migrations.AlterField(
            model_name="track",
            name="peaks",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text='Measured ceilings: {"gbps": 4000, "gflops": {"fp32": 50000}}.',
                validators=[leaderboard.models.boards.track.valid_peaks],
            ),
        ),
    ]
