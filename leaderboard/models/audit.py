"""The audit: actor, action, target and reason of each change; append-only."""

from typing import Any, ClassVar

from django.db import models
from django.utils import timezone

from leaderboard.models.audit_values import told

MAX_REASON = 4000


class AuditEntry(models.Model):
    actor = models.ForeignKey("auth.User", null=True, blank=True, on_delete=models.SET_NULL)
    actor_name = models.CharField(max_length=150, help_text="Kept when the account goes; 'system' for the site.")
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=200)
    reason = models.TextField(blank=True)
    detail = models.JSONField(default=dict)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "audit entries"
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["target", "-id"], name="audit_of_target"),  # an object's history
            models.Index(fields=["action", "-id"], name="audit_of_action"),  # the admin's dashboard: last imports
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.actor_name} {self.action} {self.target}"

    @property
    def told(self) -> str:
        """The detail in words."""
        return told(self.detail)


def target_of(row: object) -> str:
    """How entries name what they are about: `<model> <its text>`. `request.user` is a proxy: its `type` is none."""
    return f"{row.__class__.__name__.lower()} {row}"[:200]


def record(actor: Any, action: str, target: object, reason: str = "", **detail: Any) -> AuditEntry:
    """Append one entry."""
    known = actor if getattr(actor, "is_authenticated", False) else None
    return AuditEntry.objects.create(
        actor=known,
        actor_name=known.get_username() if known else "system",
        action=action,
        target=target_of(target),
        reason=reason.replace("\0", "")[:MAX_REASON],
        detail=detail,
    )
