"""The help text of a sum that depends on the release's rules."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0028_rank_for_interval_widths'),
    ]

    operations = [
        migrations.AlterField(
            model_name='problemscore',
            name='ln_speedup_sum',
            field=models.FloatField(default=0.0, help_text="Sum of what the release's rules count for samples whose time ranks."),
        ),
    ]
