"""Samples know their language, results the machine code of a CUDA solution, and trials their own sizes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0009_sol_score"),
    ]

    operations = [
        migrations.AddField(
            model_name="sample",
            name="language",
            field=models.CharField(
                blank=True,
                help_text="Of a function: cuda, cpp, triton or python; empty where it is not known.",
                max_length=20,
            ),
        ),
        migrations.AddField(
            model_name="result",
            name="listing",
            field=models.JSONField(
                blank=True, help_text="SASS and PTX as text: their blob's sha256 and size.", null=True
            ),
        ),
        migrations.AddField(
            model_name="trial",
            name="sizes",
            field=models.JSONField(
                blank=True, default=dict, help_text="Own sizes of a function's run: scalar → length."
            ),
        ),
    ]
