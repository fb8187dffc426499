"""Clarifications: what participants ask or report about a problem, and what organisers answer."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

CLARIFICATION_CHARACTERS = 4000


class ClarificationKind(models.TextChoices):
    QUESTION = "question", "A question"
    FAULT = "fault", "A fault in the problem"


class Clarification(models.Model):
    """`text` is for organisers and its asker. A public answer shows `public_text`, the organiser's wording of it."""

    problem = models.ForeignKey("problems.Problem", on_delete=models.PROTECT, related_name="clarifications")
    kind = models.CharField(max_length=10, choices=ClarificationKind.choices, default=ClarificationKind.QUESTION)
    text = models.CharField(max_length=CLARIFICATION_CHARACTERS)
    asked_by = models.ForeignKey("auth.User", on_delete=models.PROTECT, related_name="clarifications")
    asked_at = models.DateTimeField(default=timezone.now)
    answer = models.CharField(max_length=CLARIFICATION_CHARACTERS, blank=True)
    is_public = models.BooleanField(default=False)
    public_text = models.CharField(max_length=CLARIFICATION_CHARACTERS, blank=True)
    answered_by = models.ForeignKey("auth.User", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    answered_at = models.DateTimeField(null=True, blank=True)
    erratum = models.ForeignKey(
        "leaderboard.Decision", null=True, blank=True, on_delete=models.PROTECT, related_name="clarifications"
    )

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="clarification_public_when_answered", condition=Q(is_public=False) | Q(answered_at__isnull=False)
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["asked_by", "asked_at"], name="clarifications_of_user"),  # the bound a day
            models.Index(
                fields=["id"], condition=Q(answered_at=None), name="clarification_open"
            ),  # the admin's dashboard
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} about {self.problem}: {self.text[:60]}"

    def get_absolute_url(self) -> str:
        problem = self.problem
        return f"{reverse('problem', args=[problem.release.slug, problem.slug])}#clarifications"
