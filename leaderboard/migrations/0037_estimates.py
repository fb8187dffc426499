"""A standing has its figures in one JSON object, and the interval of its primary figure in columns.

The columns that they replace stay until 0039, and all new ones have a default in the database: the code before goes on
while this migration and the next one run.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0036_first_replies"),
    ]

    operations = [
        migrations.AddField(
            model_name="standing",
            name="estimates",
            field=models.JSONField(
                db_default={},
                default=dict,
                help_text="Name of a metric → value, low, high, and what it is taken over.",
            ),
        ),
        migrations.AddField(model_name="standing", name="primary_low", field=models.FloatField(null=True)),
        migrations.AddField(model_name="standing", name="primary_high", field=models.FloatField(null=True)),
    ]
