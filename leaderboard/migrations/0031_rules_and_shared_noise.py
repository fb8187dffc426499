"""Boards know the noise that nodes and days put into all their times; a sum depends on the release's rules."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0030_timed_cases"),
    ]

    operations = [
        migrations.AddField(
            model_name="releasetrack",
            name="shared_ln_sd",
            field=models.FloatField(
                default=0.0,
                help_text="Standard deviation of the noise in ln time that a node and day put into all times; 0 if not"
                " known.",
            ),
        ),
        migrations.AlterField(
            model_name="problemscore",
            name="ln_speedup_sum",
            field=models.FloatField(
                default=0.0, help_text="Sum of what the release's rules count for samples whose time ranks."
            ),
        ),
    ]
