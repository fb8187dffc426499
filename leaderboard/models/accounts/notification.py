"""Notifications that a submission has ended: each user's preferences and webhooks, and the log of deliveries."""

import secrets
import uuid
from datetime import timedelta
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from leaderboard.models.accounts.token import digest_of

FEED_PREFIX = "pdmfeed_"
HOOK_PREFIX = "pdmhook_"
MAX_WEBHOOKS = 5
"""Limit of webhooks per account."""


class NotificationSettings(models.Model):
    """An account's choice of notifications. Without a row nothing is sent."""

    user = models.OneToOneField("auth.User", on_delete=models.CASCADE, related_name="notification_settings")
    by_mail = models.BooleanField(default=False)
    feed_digest = models.CharField(max_length=64, null=True, blank=True, unique=True)
    feed_hint = models.CharField(max_length=16, blank=True)
    feed_made_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"notifications of {self.user}"

    @classmethod
    def of_feed(cls, secret: str) -> "NotificationSettings | None":
        """The settings whose feed has this secret, of an account that may sign in."""
        return cls.objects.filter(feed_digest=digest_of(secret), user__is_active=True).select_related("user").first()


def new_nonce() -> str:
    return secrets.token_urlsafe(32)


class Webhook(models.Model):
    """An address that is told when submissions of an entrant, or of all entrants of its user, end.

    Its secret is derived from the site's key and `nonce`, so that the database alone cannot sign.
    """

    user = models.ForeignKey("auth.User", on_delete=models.CASCADE, related_name="webhooks")
    entrant = models.ForeignKey(
        "leaderboard.Entrant", null=True, blank=True, on_delete=models.CASCADE, related_name="webhooks"
    )
    url = models.CharField(max_length=500)
    nonce = models.CharField(max_length=64, default=new_nonce, editable=False)
    is_on = models.BooleanField(default=True)
    off_reason = models.CharField(max_length=200, blank=True, help_text="Why the site turned it off.")
    n_failed = models.PositiveIntegerField(default=0, help_text="Deliveries that failed for good since the last sent.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"webhook {self.pk}"

    @property
    def secret(self) -> str:
        return HOOK_PREFIX + salted_hmac("podium.webhook", self.nonce, algorithm="sha256").hexdigest()


class DeliveryState(models.TextChoices):
    PENDING = "pending", "Waiting"
    SENT = "sent", "Sent"
    FAILED = "failed", "Failed"


class Delivery(models.Model):
    """One message to one receiver: a webhook, or the mail address of its user where `webhook` is null.

    It is sent at least once. A receiver may see it twice, with the same id.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey("auth.User", on_delete=models.CASCADE, related_name="deliveries")
    webhook = models.ForeignKey(Webhook, null=True, blank=True, on_delete=models.CASCADE, related_name="deliveries")
    submission = models.ForeignKey(
        "leaderboard.Submission", null=True, blank=True, on_delete=models.CASCADE, related_name="deliveries"
    )  # null: a test that the user asked for
    state = models.CharField(max_length=8, choices=DeliveryState.choices, default=DeliveryState.PENDING)
    n_tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(default=timezone.now)
    status = models.PositiveSmallIntegerField(null=True, blank=True, help_text="HTTP status of the last answer.")
    error = models.CharField(max_length=300, blank=True, help_text="What was wrong with the last try.")
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        ordering: ClassVar = ["-created_at"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["submission", "webhook"], condition=Q(webhook__isnull=False), name="delivery_once_a_webhook"
            ),
            models.UniqueConstraint(
                fields=["submission", "user"], condition=Q(webhook__isnull=True), name="delivery_once_by_mail"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["next_try_at"], condition=Q(state="pending"), name="delivery_due"),  # sending
            models.Index(fields=["user", "-created_at"], name="deliveries_of_user"),  # the page of notifications
            models.Index(
                fields=["ended_at"], condition=Q(ended_at__isnull=False), name="delivery_ended"
            ),  # forgetting old ones
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def channel(self) -> str:
        return "mail" if self.webhook_id is None else "webhook"


def recent(user: Any, days: int = 30) -> models.QuerySet[Delivery]:
    """The deliveries to an account, newest first."""
    since = timezone.now() - timedelta(days=days)
    return Delivery.objects.filter(user=user, created_at__gt=since).select_related("webhook", "submission__entrant")
