"""A user's unsubmitted text in a problem's editor. Nobody else sees it."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from problems.spec.solution import SourceFile


class TypedDraft(models.Model):
    """One user's draft for one problem, in each language that was typed in."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="typed_drafts")
    problem = models.ForeignKey("problems.Problem", on_delete=models.CASCADE, related_name="typed_drafts")
    language = models.CharField(max_length=20, blank=True, help_text="The language that was typed in last.")
    files = models.JSONField(default=dict, help_text="Language → list of files, each with path and content.")
    saved_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-saved_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "problem"], name="typed_draft_once"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["user", "-saved_at"], name="typed_drafts_by_age"),  # a new one replaces the oldest
        ]

    def __str__(self) -> str:
        return f"draft of {self.user} for {self.problem}"

    @property
    def by_language(self) -> Mapping[str, Sequence[SourceFile]]:
        """The files of each language."""
        stored: dict[str, list[dict[str, Any]]] = self.files
        return {language: [SourceFile(**file) for file in files] for language, files in stored.items()}
