"""Counts of each account's submissions by day, which its quotas bound."""

from typing import ClassVar

from django.conf import settings
from django.db import models


class DailyUse(models.Model):
    """One row per account and day (UTC) with a submission, a trial or a rerun."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="daily_use")
    day = models.DateField()
    n_evaluations = models.PositiveIntegerField(default=0, help_text="Queued by submissions, trials and reruns.")
    n_bytes = models.PositiveBigIntegerField(default=0, help_text="Of solutions, unpacked.")

    class Meta:
        ordering: ClassVar = ["-day"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "day"], name="daily_use_one")]

    def __str__(self) -> str:
        return f"{self.user} on {self.day:%Y-%m-%d}"
