"""Invitations to sign up. They are shown or mailed once, stored as digests, used once, and they expire."""

import secrets
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from leaderboard.models.accounts.one_time import OneTimeSecret
from leaderboard.models.accounts.token import digest_of


class Invitation(OneTimeSecret):
    PREFIX = "pdi_"

    email = models.EmailField(blank=True, help_text="Only an account with this address may use it; empty: any.")
    note = models.CharField(max_length=200, blank=True, help_text="Whom it is for.")
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="invitations",
        help_text="Empty: the site mailed it, because the address is of a domain that may sign up.",
    )  # fmt: skip

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["email", "created_at"], name="invitations_of_address"),  # the bound on mails
        ]

    def __str__(self) -> str:
        return f"invitation {self.hint}…"

    @classmethod
    def issue(
        cls, invited_by: Any, expires_at: datetime, *, email: str = "", note: str = ""
    ) -> tuple["Invitation", str]:
        """Make an invitation and its secret, which cannot be read again."""
        secret = cls.PREFIX + secrets.token_urlsafe(24)
        row = cls.objects.create(
            hint=secret[:8], digest=digest_of(secret), email=email, note=note, invited_by=invited_by,
            expires_at=expires_at,
        )  # fmt: skip
        return row, secret
