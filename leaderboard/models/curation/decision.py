"""Decisions on flags, errata and retractions, with author, time and public reason, and appeals; append-only."""

from datetime import datetime
from typing import ClassVar

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

APPEAL_CHARACTERS = 4000


class DecisionKind(models.TextChoices):
    FLAG_UPHELD = "flag_upheld", "Flag upheld"
    FLAG_DISMISSED = "flag_dismissed", "Flag dismissed"
    PROBLEM_VOIDED = "problem_voided", "Problem voided"
    PROBLEM_RESTORED = "problem_restored", "Erratum undone"
    SUBMISSION_RETRACTED = "submission_retracted", "Submission retracted"


class DecisionQuerySet(models.QuerySet["Decision"]):
    def errata(self, before: datetime | None = None) -> "DecisionQuerySet":
        """The errata in force: those that void a problem and that no decision has undone.

        `before`: as they stood at that time.
        """
        undone = Decision.objects.filter(kind=DecisionKind.PROBLEM_RESTORED, earlier=OuterRef("pk"))
        rows = self.filter(kind=DecisionKind.PROBLEM_VOIDED)
        if before is not None:
            rows, undone = rows.filter(at__lt=before), undone.filter(at__lt=before)
        return rows.filter(~Exists(undone))

    def latest_on_flags(self) -> "DecisionQuerySet":
        """The rulings on flags that no later ruling replaces."""
        later = Decision.objects.filter(flag=OuterRef("flag"), pk__gt=OuterRef("pk"))
        return self.filter(~Exists(later), flag__isnull=False)


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
    earlier = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="named_by",
        help_text="The erratum that this decision undoes, or the decision of an earlier revision that it carries over.",
    )
    at = models.DateTimeField(default=timezone.now)

    objects = DecisionQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="decision_has_one_subject",
                condition=Q(kind__startswith="flag", flag__isnull=False, problem__isnull=True, submission__isnull=True)
                | Q(kind__startswith="problem", flag__isnull=True, problem__isnull=False, submission__isnull=True)
                | Q(kind="submission_retracted", flag__isnull=True, problem__isnull=True, submission__isnull=False),
            ),
            models.CheckConstraint(
                name="decision_undoes_an_erratum", condition=~Q(kind="problem_restored") | Q(earlier__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.public_reason[:60]}"

    @property
    def carried_from(self) -> str:
        """The decision of an earlier revision of which this one is the copy, in words; empty for others."""
        if self.earlier is None or self.kind == DecisionKind.PROBLEM_RESTORED:
            return ""
        author = self.earlier.decided_by.get_username()
        return f"carried over from decision {self.earlier_id} by {author} on {self.earlier.at:%Y-%m-%d}"


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


class RevisionAnswer(models.Model):
    """An organiser's answer about a decision of the last revision that cannot be carried over without asking."""

    release = models.ForeignKey("problems.Release", on_delete=models.CASCADE, related_name="answers")
    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="answers")
    keeps = models.BooleanField(
        help_text="Whether the decision holds in the new revision: of a ruling, if the same flag is raised again."
    )
    public_reason = models.TextField()
    answered_by = models.ForeignKey("auth.User", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["release", "decision"], name="revision_answer_one"),
        ]

    def __str__(self) -> str:
        return f"{'keep' if self.keeps else 'drop'}: {self.decision}"
