"""Secrets that are shown or mailed once, stored as digests, used once, and that expire."""

from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.utils import timezone

from leaderboard.models.accounts.token import digest_of


class OneTimeSecret(models.Model):
    PREFIX: ClassVar[str]

    hint = models.CharField(max_length=12, help_text="The first characters, to tell invitations apart.")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        abstract = True

    @classmethod
    def find(cls, secret: str) -> Self | None:
        """The row of this secret, if it may still be used."""
        return cls.usable().filter(digest=digest_of(secret.strip())).first()

    def claim(self) -> bool:
        """Mark it as used. Returns False if somebody else came first."""
        return bool(self.usable().filter(pk=self.pk).update(used_at=timezone.now()))

    @classmethod
    def usable(cls) -> models.QuerySet[Self]:
        return cls._default_manager.filter(used_at=None, expires_at__gt=timezone.now())
