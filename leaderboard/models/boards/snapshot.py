"""Boards as they stood when their release was frozen."""

from typing import ClassVar

from django.db import models
from django.utils import timezone


class BoardSnapshot(models.Model):
    """The board of a frozen release on one track, as a JSON blob. Later errata change the board, never the snapshot."""

    release = models.ForeignKey("problems.Release", on_delete=models.PROTECT, related_name="snapshots")
    track = models.ForeignKey("leaderboard.Track", on_delete=models.PROTECT, related_name="snapshots")
    sha256 = models.CharField(max_length=64, help_text="Blob: JSON.")
    size_bytes = models.PositiveBigIntegerField()
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["release", "track"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["release", "track"], name="board_snapshot_once")]

    def __str__(self) -> str:
        return f"{self.release} on {self.track}, frozen"
