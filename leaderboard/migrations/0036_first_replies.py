"""A sample says in which submission its reply was first sent."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0035_reference_runs"),
    ]

    operations = [
        migrations.AddField(
            model_name="sample",
            name="first_sent",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                help_text="Of a reply to a sealed question that counts in place of the one that was sent: with which"
                " submission it came.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="leaderboard.submission",
            ),
        ),
    ]
