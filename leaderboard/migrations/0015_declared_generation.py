"""What packs declare of their generation: model, parameters, usage, and tokens and cost per sample."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0014_pmpp_runs")]

    operations = [
        migrations.AddField(
            "submission",
            "generation",
            models.JSONField(
                blank=True, help_text="Declared in the pack: model, host, parameters, usage and time.", null=True
            ),
        ),
        migrations.AddField(
            "submission",
            "tokens_per_sample",
            models.FloatField(
                blank=True, help_text="Declared tokens of prompts and replies, by the pack's samples.", null=True
            ),
        ),
        migrations.AddField(
            "submission",
            "usd_per_sample",
            models.FloatField(blank=True, help_text="Declared cost in US dollars, by the pack's samples.", null=True),
        ),
    ]
