"""Teams: accounts that share entrants, each with a role, and the invitations to join them."""

import secrets
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from leaderboard.models.accounts.one_time import OneTimeSecret
from leaderboard.models.accounts.token import digest_of


class TeamRole(models.TextChoices):
    OWNER = "owner", "Owner"
    MEMBER = "member", "Member"
    READER = "reader", "Reader"


READING = frozenset(TeamRole)
"""May see the team's submissions with their code and logs."""
SUBMITTING = frozenset({TeamRole.OWNER, TeamRole.MEMBER})
"""May also submit, cancel, rerun and appeal."""
MANAGING = frozenset({TeamRole.OWNER})
"""May also edit and transfer entrants, and rule over the team."""


class TeamQuerySet(models.QuerySet["Team"]):
    def of(self, user: Any, roles: frozenset[TeamRole] = READING) -> "TeamQuerySet":
        """Teams in which the user has one of the roles."""
        return self.filter(memberships__user_id=user.pk, memberships__role__in=sorted(roles))


class Team(models.Model):
    slug = models.SlugField(max_length=100, unique=True)
    name = models.CharField(max_length=150, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    users = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="teams")

    objects = TeamQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=TeamRole.choices, default=TeamRole.MEMBER)
    joined_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["joined_at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "user"], name="membership_one"),  # and the index of a team's page
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class TeamInvitation(OneTimeSecret):
    PREFIX = "pdt_"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=TeamRole.choices, default=TeamRole.MEMBER)
    email = models.EmailField(blank=True, help_text="Where it was mailed; empty: handed on by its maker.")
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="team_invitations")

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"invitation {self.hint}… to {self.team}"

    @classmethod
    def issue(
        cls, invited_by: Any, team: Team, role: str, expires_at: datetime, email: str = ""
    ) -> tuple["TeamInvitation", str]:
        """Make an invitation and its secret, which cannot be read again."""
        secret = cls.PREFIX + secrets.token_urlsafe(24)
        row = cls.objects.create(
            team=team, role=role, email=email, invited_by=invited_by, hint=secret[:8], digest=digest_of(secret),
            expires_at=expires_at,
        )  # fmt: skip
        return row, secret
