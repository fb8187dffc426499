"""Trials: runs of a solution before it is submitted. Only their user sees them. They are deleted after a day."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone


class TrialState(models.TextChoices):
    QUEUED = "queued", "Queued"
    LEASED = "leased", "Running"
    DONE = "done", "Done"


OPEN_TRIALS = (TrialState.QUEUED, TrialState.LEASED)


class Trial(models.Model):
    """One solution that a user tries on one problem and track, without a result."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="trials")
    problem = models.ForeignKey("problems.Problem", on_delete=models.CASCADE, related_name="trials")
    track = models.ForeignKey("leaderboard.Track", on_delete=models.CASCADE, related_name="trials")
    solution_sha256 = models.CharField(max_length=64, help_text="Blob: the solution's record, one JSON line.")
    solution_bytes = models.PositiveIntegerField()
    sizes = models.JSONField(default=dict, blank=True, help_text="Own sizes of a function's run: scalar → length.")
    state = models.CharField(max_length=10, choices=TrialState.choices, default=TrialState.QUEUED)
    outcome = models.JSONField(null=True, blank=True, help_text="Verdict, reason, steps and cases, once it is done.")
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["user", "state"], name="trials_of_user"),  # the bound on open ones
            models.Index(fields=["created_at"], name="trials_by_age"),  # the sweep
        ]

    def __str__(self) -> str:
        return f"trial {self.pk}"
