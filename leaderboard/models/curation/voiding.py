"""Results of a revoked node that no longer count, with the public reason."""

from typing import ClassVar

from django.db import models
from django.utils import timezone


class Voiding(models.Model):
    """One organiser's act: the current results of a node, made in a period, stop counting and are judged again."""

    node = models.CharField(max_length=100)
    since = models.DateTimeField(null=True, blank=True)
    until = models.DateTimeField(help_text="Results recorded later stay. At most the time of the act.")
    public_reason = models.TextField()
    voided_by = models.ForeignKey("auth.User", null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    n_results = models.PositiveIntegerField(default=0)
    done_at = models.DateTimeField(null=True, blank=True, help_text="Null while steps remain.")

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"results of {self.node}"


class VoidedResult(models.Model):
    """A result that stopped counting. It stays readable."""

    voiding = models.ForeignKey(Voiding, on_delete=models.PROTECT, related_name="results")
    result = models.OneToOneField("leaderboard.Result", on_delete=models.PROTECT, related_name="voided")

    def __str__(self) -> str:
        return f"{self.result}, void"
