"""Messages that a submission has ended: preferences, webhooks, deliveries. Those that ended before are not announced."""

import uuid
from typing import Any

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import leaderboard.models.accounts.notification


def announce_nothing_old(apps: Any, _schema_editor: Any) -> None:
    submissions = apps.get_model("leaderboard", "Submission").objects
    submissions.exclude(state="accepted").update(announced_at=models.F("created_at"))


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0021_typed_drafts"),
        ("problems", "0016_first_failure"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "Waiting"), ("sent", "Sent"), ("failed", "Failed")],
                        default="pending",
                        max_length=8,
                    ),
                ),
                ("n_tries", models.PositiveSmallIntegerField(default=0)),
                ("next_try_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "status",
                    models.PositiveSmallIntegerField(
                        blank=True, help_text="HTTP status of the last answer.", null=True
                    ),
                ),
                ("error", models.CharField(blank=True, help_text="What was wrong with the last try.", max_length=300)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="NotificationSettings",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("by_mail", models.BooleanField(default=False)),
                ("feed_digest", models.CharField(blank=True, max_length=64, null=True, unique=True)),
                ("feed_hint", models.CharField(blank=True, max_length=16)),
                ("feed_made_at", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.CharField(max_length=500)),
                (
                    "nonce",
                    models.CharField(
                        default=leaderboard.models.accounts.notification.new_nonce, editable=False, max_length=64
                    ),
                ),
                ("is_on", models.BooleanField(default=True)),
                ("off_reason", models.CharField(blank=True, help_text="Why the site turned it off.", max_length=200)),
                (
                    "n_failed",
                    models.PositiveIntegerField(
                        default=0, help_text="Deliveries that failed for good since the last sent."
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.AddField(
            model_name="submission",
            name="announced_at",
            field=models.DateTimeField(
                blank=True, help_text="When the messages that it has ended were made.", null=True
            ),
        ),
        migrations.RunPython(announce_nothing_old, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(
                condition=models.Q(("announced_at", None), ("state__in", ["done", "cancelled"])),
                fields=["id"],
                name="submission_unannounced",
            ),
        ),
        migrations.AddField(
            model_name="delivery",
            name="submission",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="deliveries",
                to="leaderboard.submission",
            ),
        ),
        migrations.AddField(
            model_name="delivery",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="deliveries", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="notificationsettings",
            name="user",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="notification_settings",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="webhook",
            name="entrant",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="webhooks",
                to="leaderboard.entrant",
            ),
        ),
        migrations.AddField(
            model_name="webhook",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="webhooks", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="delivery",
            name="webhook",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="deliveries",
                to="leaderboard.webhook",
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(condition=models.Q(("state", "pending")), fields=["next_try_at"], name="delivery_due"),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(fields=["user", "-created_at"], name="deliveries_of_user"),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("ended_at__isnull", False)), fields=["ended_at"], name="delivery_ended"
            ),
        ),
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.UniqueConstraint(
                condition=models.Q(("webhook__isnull", False)),
                fields=("submission", "webhook"),
                name="delivery_once_a_webhook",
            ),
        ),
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.UniqueConstraint(
                condition=models.Q(("webhook__isnull", True)),
                fields=("submission", "user"),
                name="delivery_once_by_mail",
            ),
        ),
    ]
