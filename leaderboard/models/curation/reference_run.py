"""The hidden reference judged on one node and day that served ranked times of a release."""

from datetime import UTC, datetime, time, timedelta
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q

from leaderboard.models.submissions.evaluation import ResultOrigin


class ReferenceRun(models.Model):
    """The references of some problems, submitted by a hidden system entrant for one node. Made once for each day (UTC).

    Once its submission has ended it is settled: the figures are those of `scoring`'s mean of unclamped speedups, and
    None if no reference got a time.
    """

    release = models.ForeignKey("problems.Release", on_delete=models.PROTECT, related_name="reference_runs")
    track = models.ForeignKey("leaderboard.Track", on_delete=models.PROTECT, related_name="+")
    node = models.CharField(max_length=100)
    day = models.DateField()
    submission = models.OneToOneField("leaderboard.Submission", on_delete=models.PROTECT, related_name="reference_run")
    ratio = models.FloatField(null=True, blank=True)
    low = models.FloatField(null=True, blank=True)
    high = models.FloatField(null=True, blank=True)
    n_problems = models.PositiveSmallIntegerField(default=0)
    is_noisy = models.BooleanField(default=False, help_text="Times of this node and day do not rank.")
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-day", "node"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["release", "track", "node", "day"], name="reference_run_once"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["id"], condition=Q(settled_at=None), name="reference_runs_open"),
        ]

    def __str__(self) -> str:
        return f"references of {self.release} on {self.node}, {self.day}"

    @property
    def served(self) -> dict[str, Any]:
        """Conditions of the results for which it speaks: those of its node and day."""
        since = datetime.combine(self.day, time(), UTC)
        return {
            "provenance__node": self.node, "created_at__gte": since, "created_at__lt": since + timedelta(days=1),
            "origin": ResultOrigin.FLEET, "reused_from": None,
        }  # fmt: skip
