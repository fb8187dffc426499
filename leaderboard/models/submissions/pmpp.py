"""Runs asked for over PMPP's server routes: their tokens, and one row for each distinct solution of a token."""

import secrets
from datetime import datetime
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from leaderboard.models.accounts.token import digest_of, valid_token

PREFIX = "pmpp_"


class PmppTokenQuerySet(models.QuerySet["PmppToken"]):
    def visible_to(self, user: Any) -> "PmppTokenQuerySet":
        """The tokens of the entrants for which the user may submit, and the user's own; organisers see all."""
        if user.is_staff:
            return self
        from leaderboard.models.entrants.entrant import Entrant

        return self.filter(Q(entrant__in=Entrant.objects.submittable_by(user)) | Q(user_id=user.pk))


class PmppToken(models.Model):
    """Permission to grade on one release and track for one entrant, as the user who made it.

    PMPP's client sends no header, so the secret is a part of the address.
    """

    user = models.ForeignKey("auth.User", on_delete=models.CASCADE, related_name="pmpp_tokens")
    entrant = models.ForeignKey("leaderboard.Entrant", on_delete=models.CASCADE, related_name="pmpp_tokens")
    release = models.ForeignKey("problems.Release", on_delete=models.CASCADE, related_name="pmpp_tokens")
    track = models.ForeignKey("leaderboard.Track", on_delete=models.CASCADE, related_name="pmpp_tokens")
    name = models.CharField(max_length=100)
    hint = models.CharField(max_length=12, help_text="The first characters, to tell tokens apart.")
    digest = models.CharField(max_length=64, unique=True)
    daily_runs = models.PositiveIntegerField(help_text="Maximum number of new runs per day (UTC).")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = PmppTokenQuerySet.as_manager()

    class Meta:
        verbose_name = "PMPP token"
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"

    @classmethod
    def issue(cls, expires_at: datetime, **fields: Any) -> tuple["PmppToken", str]:
        """Make a token and its secret, which cannot be read again."""
        secret = PREFIX + secrets.token_urlsafe(32)
        token = cls.objects.create(hint=secret[:9], digest=digest_of(secret), expires_at=expires_at, **fields)
        return token, secret

    @classmethod
    def find(cls, secret: str) -> "PmppToken | None":
        """The valid token of this secret, if any. Notes its last use, to within a few minutes."""
        return valid_token(cls.objects.select_related("user", "entrant", "release", "track"), secret)


class PmppRunState(models.TextChoices):
    """`queued → leased → done`, also `leased → queued`. `not_graded`: the platform failed."""

    QUEUED = "queued", "Queued"
    LEASED = "leased", "Running"
    DONE = "done", "Done"
    NOT_GRADED = "not_graded", "Not graded"


OPEN_RUNS = (PmppRunState.QUEUED, PmppRunState.LEASED)
ENDED_RUNS = (PmppRunState.DONE, PmppRunState.NOT_GRADED)


class PmppRun(models.Model):
    """One solution, tested with the held-out tests of its problem. It is no submission and counts nowhere."""

    token = models.ForeignKey(PmppToken, on_delete=models.CASCADE, related_name="runs")
    problem = models.ForeignKey("problems.Problem", on_delete=models.CASCADE, related_name="pmpp_runs")
    is_reference = models.BooleanField(default=False, help_text="Asked for by /check-task.")
    solution_sha256 = models.CharField(max_length=64, help_text="Blob: the solution's record, one JSON line.")
    solution_bytes = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=PmppRunState.choices, default=PmppRunState.QUEUED)
    outcome = models.JSONField(null=True, blank=True, help_text="Verdict, reason and steps, once it has ended.")
    n_calls = models.PositiveIntegerField(default=0, help_text="Requests that asked for it.")
    n_unanswered = models.PositiveIntegerField(
        default=0, help_text="Of these, requests whose time limit ended before the run."
    )
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "PMPP run"
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["token", "solution_sha256", "is_reference"],
                condition=~Q(state="not_graded"),
                name="pmpp_run_once",
            ),  # identical code joins the run
        ]
        indexes: ClassVar = [
            models.Index(fields=["token", "created_at"], name="pmpp_runs_of_token"),  # a token's day and its page
            models.Index(fields=["token"], condition=Q(state__in=["queued", "leased"]), name="pmpp_runs_open"),
            models.Index(fields=["created_at"], name="pmpp_runs_by_age"),  # the sweep
        ]

    def __str__(self) -> str:
        return f"PMPP run {self.pk}"
