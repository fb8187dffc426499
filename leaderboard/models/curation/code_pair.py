"""Fingerprints of solutions' code, and pairs of different entrants whose code is nearly the same."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone


class Fingerprint(models.Model):
    """The smallest hashes of one sample's code, without those that it shares with what contestants are given."""

    sample = models.OneToOneField("leaderboard.Sample", on_delete=models.CASCADE, related_name="fingerprint")
    problem = models.ForeignKey("problems.Problem", on_delete=models.PROTECT, related_name="fingerprints")
    entrant = models.ForeignKey("leaderboard.Entrant", on_delete=models.PROTECT, related_name="fingerprints")
    solution_sha256 = models.CharField(max_length=64)
    hashes = models.BinaryField(help_text="Ascending little-endian 64-bit integers.")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["problem", "entrant", "solution_sha256"], name="fingerprint_once"
            ),  # comparing the code of one problem
        ]

    def __str__(self) -> str:
        return f"Fingerprint of {self.sample}"


class CodePair(models.Model):
    """The most similar samples of two entrants for one problem. `entrant` has the smaller id of the two."""

    problem = models.ForeignKey("problems.Problem", on_delete=models.PROTECT, related_name="code_pairs")
    entrant = models.ForeignKey("leaderboard.Entrant", on_delete=models.PROTECT, related_name="+")
    other_entrant = models.ForeignKey("leaderboard.Entrant", on_delete=models.PROTECT, related_name="+")
    sample = models.ForeignKey("leaderboard.Sample", on_delete=models.CASCADE, related_name="+")
    other_sample = models.ForeignKey("leaderboard.Sample", on_delete=models.CASCADE, related_name="+")
    similarity = models.FloatField(help_text="Share of common shingles among those of both, 0 to 1.")
    found_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-similarity", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["problem", "entrant", "other_entrant"], name="code_pair_once"),
            models.CheckConstraint(name="code_pair_ordered", condition=Q(entrant__lt=F("other_entrant"))),
        ]

    def __str__(self) -> str:
        return f"{self.entrant} and {self.other_entrant} on {self.problem}"
