"""The audit of a problem: answers that do no work, judged as samples, and an organiser's reason if some pass."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

REASON_CHARACTERS = 4000


class ProblemAudit(models.Model):
    """One audit of a problem on a track. Its figures are the current results of its mutants' samples.

    Without mutants, `why_not` gives the reason. It speaks of the problem as it was at `made_at`.
    """

    problem = models.ForeignKey("problems.Problem", on_delete=models.PROTECT, related_name="audits")
    track = models.ForeignKey("leaderboard.Track", on_delete=models.PROTECT, related_name="+")
    submission = models.ForeignKey(
        "leaderboard.Submission", null=True, blank=True, on_delete=models.PROTECT, related_name="audits"
    )
    why_not = models.CharField(max_length=200, blank=True)
    made_at = models.DateTimeField(default=timezone.now)
    settled_at = models.DateTimeField(
        null=True, blank=True, help_text="When an erratum was proposed or found not to be needed."
    )
    proposal = models.ForeignKey(
        "leaderboard.Clarification", null=True, blank=True, on_delete=models.PROTECT, related_name="audits",
        help_text="The report of a fault that proposes an erratum of a published release.",
    )  # fmt: skip

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["id"], condition=Q(settled_at=None), name="problem_audits_open"),  # proposing errata
        ]

    def __str__(self) -> str:
        return f"audit of {self.problem} on {self.track}"


class AuditMutant(models.Model):
    """Which part of the reference one sample of an audit lacks. `name` may quote it: it is the organisers' alone."""

    audit = models.ForeignKey(ProblemAudit, on_delete=models.CASCADE, related_name="mutants")
    sample = models.OneToOneField("leaderboard.Sample", on_delete=models.CASCADE, related_name="audit_mutant")
    kind = models.CharField(max_length=60)
    name = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()


class AuditReason(models.Model):
    """An organiser's public reason for which a problem ranks although an answer that does no work passes it.

    It holds for the problem as it was at `at`. The last one counts.
    """

    problem = models.ForeignKey("problems.Problem", on_delete=models.PROTECT, related_name="audit_reasons")
    public_reason = models.CharField(max_length=REASON_CHARACTERS)
    given_by = models.ForeignKey("auth.User", null=True, on_delete=models.PROTECT, related_name="+")
    """Null if it was given on the server's command line."""
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.problem}: {self.public_reason[:60]}"
