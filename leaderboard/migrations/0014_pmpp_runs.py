"""Tokens and runs of PMPP's server routes."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0013_sample_notes"),
        ("problems", "0012_weights_and_kinds"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PmppToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("hint", models.CharField(help_text="The first characters, to tell tokens apart.", max_length=12)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("daily_runs", models.PositiveIntegerField(help_text="Maximum number of new runs per day (UTC).")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField()),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "entrant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pmpp_tokens",
                        to="leaderboard.entrant",
                    ),
                ),
                (
                    "release",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="pmpp_tokens", to="problems.release"
                    ),
                ),
                (
                    "track",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="pmpp_tokens", to="leaderboard.track"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pmpp_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "PMPP token",
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="PmppRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("is_reference", models.BooleanField(default=False, help_text="Asked for by /check-task.")),
                (
                    "solution_sha256",
                    models.CharField(help_text="Blob: the solution's record, one JSON line.", max_length=64),
                ),
                ("solution_bytes", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("leased", "Running"),
                            ("done", "Done"),
                            ("not_graded", "Not graded"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                (
                    "outcome",
                    models.JSONField(blank=True, help_text="Verdict, reason and steps, once it has ended.", null=True),
                ),
                ("n_calls", models.PositiveIntegerField(default=0, help_text="Requests that asked for it.")),
                (
                    "n_unanswered",
                    models.PositiveIntegerField(
                        default=0, help_text="Of these, requests whose time limit ended before the run."
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "problem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="pmpp_runs", to="problems.problem"
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="leaderboard.pmpptoken"
                    ),
                ),
            ],
            options={
                "verbose_name": "PMPP run",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["token", "created_at"], name="pmpp_runs_of_token"),
                    models.Index(
                        condition=models.Q(("state__in", ["queued", "leased"])), fields=["token"], name="pmpp_runs_open"
                    ),
                    models.Index(fields=["created_at"], name="pmpp_runs_by_age"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "not_graded"), _negated=True),
                        fields=("token", "solution_sha256", "is_reference"),
                        name="pmpp_run_once",
                    )
                ],
            },
        ),
    ]
