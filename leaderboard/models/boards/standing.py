"""Aggregates: one row per (submission, track, problem), the ranked row of each entrant, and a board's arrays."""

from typing import ClassVar

from django.db import models
from django.urls import reverse
from django.utils import timezone


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
    pass_at_1 = models.FloatField(null=True)
    pass_at_1_low = models.FloatField(null=True)
    pass_at_1_high = models.FloatField(null=True)
    pass_at_k = models.JSONField(default=dict, help_text="k → [value, low, high]; value null where n < k.")
    n_solved = models.PositiveIntegerField(default=0)
    n_problems = models.PositiveIntegerField(default=0)
    n_skipped = models.PositiveIntegerField(default=0)
    n_timed_problems = models.PositiveIntegerField(default=0)
    speedup = models.FloatField(null=True)
    speedup_low = models.FloatField(null=True)
    speedup_high = models.FloatField(null=True)
    correct_speedup = models.FloatField(null=True)
    n_correct_problems = models.PositiveIntegerField(
        default=0, help_text="Problems with a passing sample whose time ranks: those of the correct-only mean."
    )
    held_out_speedup = models.FloatField(null=True, help_text="Of passes, over held-out cases alone.")
    public_speedup = models.FloatField(null=True, help_text="Of the same passes, over their other cases.")
    n_held_out_problems = models.PositiveIntegerField(default=0)
    fast_p = models.JSONField(default=list, help_text="Share of samples passed faster than each threshold.")
    coding = models.FloatField(null=True, help_text="pass@1 over coding problems, where questions or weights exist.")
    coding_low = models.FloatField(null=True)
    coding_high = models.FloatField(null=True)
    weighted = models.FloatField(null=True, help_text="The same by the weights that the release gives to groups.")
    weighted_low = models.FloatField(null=True)
    weighted_high = models.FloatField(null=True)
    questions = models.FloatField(null=True, help_text="pass@1 over questions.")
    questions_low = models.FloatField(null=True)
    questions_high = models.FloatField(null=True)
    gflops = models.FloatField(null=True, help_text="Geometric mean over the problems that the rules take.")
    n_gflops_problems = models.PositiveIntegerField(default=0)
    n_gflops_own = models.PositiveIntegerField(
        default=0, help_text="Those on which its own GFLOPS count. On the others the baseline's do."
    )
    roofline = models.FloatField(null=True, help_text="Mean share of the roofline over problems that declare work.")
    roofline_low = models.FloatField(null=True)
    roofline_high = models.FloatField(null=True)
    n_roofline_problems = models.PositiveIntegerField(default=0)
    sol_score = models.FloatField(null=True, help_text="Mean score over problems whose work has a bound.")
    sol_score_low = models.FloatField(null=True)
    sol_score_high = models.FloatField(null=True)
    n_sol_score_problems = models.PositiveIntegerField(default=0)
    n_sol_score_left_out = models.PositiveIntegerField(
        default=0, help_text="Problems left out because their baseline is already at the bound."
    )
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


class RankedArrays(models.Model):
    """The counts and sums from which a board was last ranked, so that it can be ranked over some of its problems."""

    place = models.OneToOneField("leaderboard.ReleaseTrack", on_delete=models.CASCADE, related_name="arrays")
    made_at = models.DateTimeField(default=timezone.now)
    content = models.BinaryField(help_text="As leaderboard.standings.board_arrays packs it.")

    def __str__(self) -> str:
        return f"{self.place}, arrays"
