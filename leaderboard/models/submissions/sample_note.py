"""Organisers' notes on samples: a thumb up or down and a few words, for other organisers to read."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

NOTE_CHARACTERS = 2000


class Thumb(models.TextChoices):
    UP = "up", "Thumb up"
    DOWN = "down", "Thumb down"


class SampleNote(models.Model):
    """One organiser's view of a sample. It may change; the audit keeps what it was. Nothing is computed from it."""

    sample = models.ForeignKey("leaderboard.Sample", on_delete=models.CASCADE, related_name="notes")
    author = models.ForeignKey("auth.User", on_delete=models.PROTECT, related_name="+")
    thumb = models.CharField(max_length=4, choices=Thumb.choices)
    text = models.CharField(max_length=NOTE_CHARACTERS, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["sample", "author"], name="sample_note_once"),
        ]

    def __str__(self) -> str:
        return f"{self.get_thumb_display()} on {self.sample}"
