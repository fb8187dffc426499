"""Aggregates: one row per (submission, track, problem), the ranked row of each entrant, and a board's arrays."""

from typing import ClassVar

from django.db import models
from django.urls import reverse
from django.utils import timezone

from leaderboard.models.boards.estimates import Triple, figure_of
from scoring.metrics import SPEEDUP, pass_at


class ProblemScore(models.Model):
    """Aggregate of a submission's samples of one problem on a track, computed from their current results."""

    submission = models.ForeignKey("leaderboard.Submission", on_delete=models.CASCADE, related_name="problem_scores")
    track = models.ForeignKey("leaderboard.Track", on_delete=models.PROTECT, related_name="problem_scores")
    problem = models.ForeignKey("problems.Problem", on_delete=models.PROTECT, related_name="problem_scores")
    n_samples = models.PositiveIntegerField(default=0)
    n_passed = models.PositiveIntegerField(default=0)
    n_unwitnessed = models.PositiveIntegerField(default=0, help_text="Passes that nothing outside saw end.")
    n_provisional = models.PositiveIntegerField(
        default=0, help_text="Passes whose times were measured under a weaker timing policy than the release promises."
    )
    n_skipped = models.PositiveIntegerField(default=0)
    n_pending = models.PositiveIntegerField(default=0, help_text="Queued, running or cancelled.")
    n_unresolved = models.PositiveIntegerField(default=0, help_text="Platform errors and verdicts under a flag.")
    n_time_flagged = models.PositiveIntegerField(default=0)
    n_open_flags = models.PositiveIntegerField(default=0, help_text="Flags that nobody has decided.")
    n_upheld_flags = models.PositiveIntegerField(default=0, help_text="Flags that an organiser upheld.")
    ln_speedup_sum = models.FloatField(
        default=0.0, help_text="Sum of what the release's rules count for samples whose time ranks."
    )
    traffic_ln_sum = models.FloatField(
        default=0.0, db_default=0.0, help_text="`ln_speedup_sum` with cases weighted as the release declares."
    )
    correct_ln_sum = models.FloatField(default=0.0, help_text="Sum of ln s over passed samples whose time ranks.")
    n_timed = models.PositiveIntegerField(default=0)
    ln_held_out_sum = models.FloatField(
        default=0.0, help_text="Sum over passed samples of the mean ln ratio over held-out cases."
    )
    ln_public_sum = models.FloatField(default=0.0, help_text="The same of these samples over their other cases.")
    n_held_out = models.PositiveIntegerField(default=0, help_text="The number of these samples.")
    fast_counts = models.JSONField(default=list, help_text="Passed samples faster than each fast_p threshold.")
    times_ms = models.JSONField(
        default=list, help_text="Of each sample whose time ranks: case → median, null if the case does not rank."
    )
    best_speedup = models.FloatField(null=True, blank=True)
    best_speedup_ms = models.FloatField(null=True, blank=True, help_text="Time of the sample of `best_speedup`.")
    best_speedup_evaluation = models.ForeignKey(
        "leaderboard.Evaluation", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    best_ms = models.FloatField(null=True, blank=True)
    best_evaluation = models.ForeignKey(
        "leaderboard.Evaluation", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    last_result_at = models.DateTimeField(null=True, blank=True, help_text="When its newest current result was made.")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["submission", "track", "problem"], name="problem_score_one"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["problem", "track", "best_ms"], name="problem_ranking"),  # a problem's ranking
        ]

    def __str__(self) -> str:
        return f"{self.problem}: {self.n_passed}/{self.n_samples}"


class Standing(models.Model):
    """One ranked row: (release, track, entrant)."""

    release = models.ForeignKey("problems.Release", on_delete=models.PROTECT, related_name="standings")
    track = models.ForeignKey("leaderboard.Track", on_delete=models.PROTECT, related_name="standings")
    entrant = models.ForeignKey("leaderboard.Entrant", on_delete=models.PROTECT, related_name="standings")
    submission = models.ForeignKey("leaderboard.Submission", on_delete=models.PROTECT, related_name="standings")
    rank = models.PositiveIntegerField(null=True, help_text="Null while incomplete, and for baselines.")
    rank_low = models.PositiveIntegerField(null=True)
    rank_high = models.PositiveIntegerField(null=True)
    is_incomplete = models.BooleanField(default=False)
    incomplete_reason = models.CharField(max_length=300, blank=True)
    primary_value = models.FloatField(null=True)
    primary_low = models.FloatField(null=True)
    primary_high = models.FloatField(null=True)
    estimates = models.JSONField(
        default=dict, db_default={}, help_text="Name of a metric → value, low, high, and what it is taken over."
    )
    fast_p = models.JSONField(default=list, help_text="Share of samples passed faster than each threshold.")
    n_solved = models.PositiveIntegerField(default=0)
    n_problems = models.PositiveIntegerField(default=0)
    n_skipped = models.PositiveIntegerField(default=0)
    n_samples = models.PositiveIntegerField(default=0)
    n_passed = models.PositiveIntegerField(default=0)
    n_unwitnessed = models.PositiveIntegerField(default=0, help_text="Passes that nothing outside saw end.")
    n_provisional = models.PositiveIntegerField(
        default=0, help_text="Passes whose times were measured under a weaker timing policy than the release promises."
    )
    n_open_flags = models.PositiveIntegerField(default=0, help_text="Flags that nobody has decided.")
    n_upheld_flags = models.PositiveIntegerField(default=0, help_text="Flags that an organiser upheld.")
    n_full_submissions = models.PositiveIntegerField(
        default=0, help_text="Full submissions of the entrant from which this one was taken; cancelled ones too."
    )
    round_figures = models.JSONField(
        null=True, help_text="Of a board's round: rank and value before it, passes in it, judged anew, and imported."
    )
    groups = models.JSONField(default=dict, help_text="group → {solved, problems, pass_at_1}.")
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["release", "track", "entrant"], name="standing_one"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["release", "track", "rank"], name="board_by_rank"),  # the board, first page
        ]

    def __str__(self) -> str:
        return f"{self.entrant} on {self.release}, {self.track}"

    def get_absolute_url(self) -> str:
        """The board on which it stands."""
        return reverse("board", args=[self.release.slug], query={"track": self.track.slug})

    def figure(self, name: str) -> Triple:
        """The metric's value and the ends of its interval."""
        return figure_of(self.estimates, name)

    @property
    def pass_at_1(self) -> float | None:
        return self.figure(pass_at(1).name)[0]

    @property
    def speedup(self) -> float | None:
        return self.figure(SPEEDUP.name)[0]


class RankedArrays(models.Model):
    """The counts and sums from which a board was last ranked, so that it can be ranked over some of its problems."""

    place = models.OneToOneField("leaderboard.ReleaseTrack", on_delete=models.CASCADE, related_name="arrays")
    made_at = models.DateTimeField(default=timezone.now)
    content = models.BinaryField(help_text="As leaderboard.standings.board_arrays packs it.")

    def __str__(self) -> str:
        return f"{self.place}, arrays"
