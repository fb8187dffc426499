"""Organisers write notes on samples."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0012_coding_and_questions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SampleNote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("thumb", models.CharField(choices=[("up", "Thumb up"), ("down", "Thumb down")], max_length=4)),
                ("text", models.CharField(blank=True, max_length=2000)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "sample",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="notes", to="leaderboard.sample"
                    ),
                ),
            ],
            options={
                "ordering": ["-at", "-id"],
                "constraints": [models.UniqueConstraint(fields=("sample", "author"), name="sample_note_once")],
            },
        ),
    ]
