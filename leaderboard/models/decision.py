"""Decisions on flags, errata and retractions, with author, time and public reason, and appeals; append-only."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

APPEAL_CHARACTERS = 4000


class DecisionKind(models.TextChoices):
    FLAG_UPHELD = "flag_upheld", "Flag upheld"
    FLAG_DISMISSED = "flag_dismissed", "Flag dismissed"
    PROBLEM_VOIDED = "problem_voided", "Problem voided"
    SUBMISSION_RETRACTED = "submission_retracted", "Submission retracted"


class Decision(models.Model):
    kind = models.CharField(max_length=30, choices=DecisionKind.choices)
    flag = models.ForeignKey(
        "leaderboard.Flag", null=True, blank=True, on_delete=models.PROTECT, related_name="decisions"
    )
    problem = models.ForeignKey(
        "problems.Problem", null=True, blank=True, on_delete=models.PROTECT, related_name="decisions"
    )
    submission = models.ForeignKey(
        "leaderboard.Submission", null=True, blank=True, on_delete=models.PROTECT, related_name="decisions"
    )
    decided_by = models.ForeignKey("auth.User", on_delete=models.PROTECT, related_name="+")
    public_reason = models.TextField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="decision_has_one_subject",
                condition=models.Q(
                    kind__startswith="flag", flag__isnull=False, problem__isnull=True, submission__isnull=True
                )
                | models.Q(kind="problem_voided", flag__isnull=True, problem__isnull=False, submission__isnull=True)
                | models.Q(
                    kind="submission_retracted", flag__isnull=True, problem__isnull=True, submission__isnull=False
                ),
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.public_reason[:60]}"


class Appeal(models.Model):
    """A team's objection to a ruling that upheld a flag. A later ruling on the flag answers it."""

    decision = models.OneToOneField(Decision, on_delete=models.PROTECT, related_name="appeal")
    appealed_by = models.ForeignKey("auth.User", on_delete=models.PROTECT, related_name="+")
    words = models.CharField(max_length=APPEAL_CHARACTERS, help_text="Shown to the team and to organisers.")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"Appeal against {self.decision}"
