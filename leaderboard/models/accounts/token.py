"""API tokens. They are shown once, stored as digests, scoped, and they expire."""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeVar

from django.db import models
from django.utils import timezone

Token = TypeVar("Token", bound=models.Model)
PREFIX = "pdm_"
LAST_USED_GRAIN = timedelta(minutes=5)


class Scope(models.TextChoices):
    READ = "read", "Read what I may see"
    SUBMIT = "submit", "Submit, cancel and rerun"


def digest_of(secret: str) -> str:
    """The sha256 of a secret. A slow hash is not needed, since the secret has 256 random bits."""
    return hashlib.sha256(secret.encode()).hexdigest()


def valid_token(rows: models.QuerySet[Token], secret: str) -> Token | None:
    """The row of this secret if it is neither revoked nor expired. Notes its last use, to within a few minutes."""
    now = timezone.now()
    token = rows.filter(digest=digest_of(secret), revoked_at=None, expires_at__gt=now, user__is_active=True).first()
    last_used: datetime | None = getattr(token, "last_used_at", None)
    if token and (last_used is None or now - last_used > LAST_USED_GRAIN):
        rows.filter(pk=token.pk).update(last_used_at=now)
    return token


class ApiToken(models.Model):
    user = models.ForeignKey("auth.User", on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    hint = models.CharField(max_length=12, help_text="The first characters, to tell tokens apart.")
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"

    @classmethod
    def issue(cls, user: Any, name: str, scopes: list[str], expires_at: datetime) -> tuple["ApiToken", str]:
        """Make a token and its secret, which cannot be read again."""
        secret = PREFIX + secrets.token_urlsafe(32)
        token = cls.objects.create(
            user=user, name=name, hint=secret[:8], digest=digest_of(secret), scopes=scopes, expires_at=expires_at
        )
        return token, secret

    @classmethod
    def find(cls, secret: str) -> "ApiToken | None":
        """The valid token of this secret, if any. Notes its last use, to within a few minutes."""
        return valid_token(cls.objects.select_related("user"), secret)
