"""The leaders of a board and since when; append-only, written when a ranking changes the first rank."""

from typing import ClassVar

from django.db import models
from django.utils import timezone


class FirstRank(models.Model):
    """One entrant at rank 1 of a release on a track. Entrants that share the rank have the same `since`."""

    release = models.ForeignKey("problems.Release", on_delete=models.PROTECT, related_name="first_ranks")
    track = models.ForeignKey("leaderboard.Track", on_delete=models.PROTECT, related_name="+")
    entrant = models.ForeignKey("leaderboard.Entrant", on_delete=models.CASCADE, related_name="first_ranks")
    since = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-since", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["release", "track", "-since"], name="first_ranks_of_board"),  # each ranking
        ]

    def __str__(self) -> str:
        return f"{self.entrant} first on {self.release}, {self.track}"
