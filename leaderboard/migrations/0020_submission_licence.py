"""The licence of a submission's code, as its submitter states it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0019_rejudges_and_voided_results"),
    ]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="licence",
            field=models.CharField(
                blank=True,
                help_text="SPDX expression under which its code may be used; empty: not stated.",
                max_length=100,
            ),
        ),
    ]
