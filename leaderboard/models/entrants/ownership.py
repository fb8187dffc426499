"""How an entrant comes to another owner: transfers, claims and verifications."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

REASON_CHARACTERS = 2000


class TransferState(models.TextChoices):
    OFFERED = "offered", "Offered"
    ACCEPTED = "accepted", "Accepted"
    DECLINED = "declined", "Declined"
    WITHDRAWN = "withdrawn", "Withdrawn"


class Transfer(models.Model):
    """An offer of an entrant to a user or a team."""

    entrant = models.ForeignKey("leaderboard.Entrant", on_delete=models.CASCADE, related_name="transfers")
    offered_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="offered_transfers")
    to_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="transfers"
    )
    to_team = models.ForeignKey(
        "leaderboard.Team", null=True, blank=True, on_delete=models.CASCADE, related_name="transfers"
    )
    state = models.CharField(max_length=10, choices=TransferState.choices, default=TransferState.OFFERED)
    offered_at = models.DateTimeField(default=timezone.now)
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["entrant"], condition=Q(state="offered"), name="transfer_one_open"),
            models.CheckConstraint(
                condition=Q(to_user=None, to_team__isnull=False) | Q(to_user__isnull=False, to_team=None),
                name="transfer_to_one",
            ),
        ]

    def __str__(self) -> str:
        return f"transfer of {self.entrant} to {self.to_team or self.to_user}"


class RequestKind(models.TextChoices):
    CLAIM = "claim", "Claim"
    VERIFY = "verify", "Verification"


class RequestState(models.TextChoices):
    OPEN = "open", "Open"
    GRANTED = "granted", "Granted"
    REFUSED = "refused", "Refused"


class EntrantRequest(models.Model):
    """A request to the organisers about an entrant."""

    kind = models.CharField(max_length=10, choices=RequestKind.choices)
    entrant = models.ForeignKey("leaderboard.Entrant", on_delete=models.CASCADE, related_name="requests")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="entrant_requests")
    reason = models.TextField()
    asked_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=10, choices=RequestState.choices, default=RequestState.OPEN)
    ruled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    ruled_at = models.DateTimeField(null=True, blank=True)
    ruling = models.TextField(blank=True, help_text="What the organiser said to the asker.")

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["entrant", "kind", "asked_by"], condition=Q(state="open"), name="request_one_open"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "id"], name="requests_to_rule"),  # the admin's dashboard
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display().lower()} of {self.entrant} asked by {self.asked_by}"
