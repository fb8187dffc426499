"""Rejudges: shadow evaluations of chosen live ones, and what would change if their results became current.

A round is a rejudge whose results never become current: they stand beside the first ones as second measurements.
"""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from runners.wire.protocol import Verdict


class RejudgeState(models.TextChoices):
    """`running` becomes `ready` with its last result; an organiser then applies or drops it.

    A round is neither applied nor dropped: one that is `ready` has ended or is paused, and it may be resumed.
    """

    RUNNING = "running", "Running"
    READY = "ready", "Ready"
    APPLIED = "applied", "Applied"
    DROPPED = "dropped", "Dropped"


OPEN_REJUDGES = (RejudgeState.RUNNING, RejudgeState.READY)


class Rejudge(models.Model):
    """One rejudge: its scope, its state, and who started and ended it. A verification is one that the site starts."""

    release = models.ForeignKey(
        "problems.Release", null=True, blank=True, on_delete=models.PROTECT, related_name="rejudges"
    )
    track = models.ForeignKey("leaderboard.Track", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    problems = models.ManyToManyField("problems.Problem", blank=True, related_name="+")
    node = models.CharField(max_length=100, blank=True, help_text="Slug of the node whose results are judged again.")
    counted_only = models.BooleanField(default=False)
    is_verification = models.BooleanField(
        default=False,
        help_text="Of a release's references, started by the site; one that finds no failure drops itself.",
    )
    is_round = models.BooleanField(
        default=False,
        help_text="The one second measurement of a board's top, beside its first results; never applied or dropped.",
    )
    scope = models.CharField(max_length=64, help_text="sha256 over the scope: the same one is not started twice.")
    reason = models.TextField()
    state = models.CharField(max_length=10, choices=RejudgeState.choices, default=RejudgeState.RUNNING)
    n_evaluations = models.PositiveIntegerField(default=0)
    n_left_out = models.PositiveIntegerField(default=0, help_text="Evaluations that another open rejudge holds.")
    started_by = models.ForeignKey("auth.User", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    started_at = models.DateTimeField(default=timezone.now)
    ended_by = models.ForeignKey("auth.User", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    ended_at = models.DateTimeField(null=True, blank=True)
    public_reason = models.TextField(blank=True, help_text="Given when it was applied.")

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["scope"], condition=Q(state__in=["running", "ready"]), name="rejudge_one_open"
            ),
            models.UniqueConstraint(fields=["release", "track"], condition=Q(is_round=True), name="rejudge_one_round"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["release", "track", "-started_at"], name="rejudges_of_release"),  # the schedule
        ]

    def __str__(self) -> str:
        return f"{'round' if self.is_round else 'rejudge'} #{self.pk}"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_REJUDGES


class Change(models.TextChoices):
    SAME = "same", "Same"
    VERDICT = "verdict", "Other verdict"
    TIME = "time", "Other time"


class RejudgeOutcome(models.TextChoices):
    """The effect of applying a rejudge on one evaluation."""

    APPLIED = "applied", "applied"
    CHANGED = "changed", "left: its live result changed meanwhile"
    PLATFORM_ERROR = "platform_error", "left: the rejudge came to a platform error"
    CANCELLED = "cancelled", "left: its shadow evaluation was cancelled"
    VOIDED = "voided", "left: the node that judged it was revoked"
    APPEALED = "appealed", "left: a ruling on it is appealed"


class RejudgeItem(models.Model):
    """One evaluation of a rejudge: its live result at the start, its shadow evaluation and the shadow's result."""

    rejudge = models.ForeignKey(Rejudge, on_delete=models.PROTECT, related_name="items")
    live = models.ForeignKey("leaderboard.Evaluation", on_delete=models.PROTECT, related_name="rejudged")
    shadow = models.ForeignKey("leaderboard.Evaluation", on_delete=models.PROTECT, related_name="rejudge_items")
    before = models.ForeignKey("leaderboard.Result", on_delete=models.PROTECT, related_name="+")
    after = models.ForeignKey("leaderboard.Result", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    before_verdict = models.CharField(max_length=30, choices=[(v.value, v.value.replace("_", " ")) for v in Verdict])
    after_verdict = models.CharField(
        max_length=30, blank=True, choices=[(v.value, v.value.replace("_", " ")) for v in Verdict]
    )
    change = models.CharField(max_length=10, blank=True, choices=Change.choices)
    time_ratio = models.FloatField(
        null=True, blank=True, help_text="New over old time of the case that changed most: 1.05 for 5 % slower."
    )
    is_open = models.BooleanField(default=True)
    outcome = models.CharField(max_length=15, blank=True, choices=RejudgeOutcome.choices)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["rejudge", "live"], name="rejudge_item_once"),
            models.UniqueConstraint(
                fields=["shadow"], condition=Q(is_open=True), name="rejudge_item_one_open"
            ),  # two rejudges never share a shadow evaluation
        ]
        indexes: ClassVar = [
            models.Index(fields=["rejudge", "change", "id"], name="rejudge_changes"),  # a rejudge's page
        ]

    def __str__(self) -> str:
        return f"{self.live} in {self.rejudge}"


class RoundPlace(models.Model):
    """A submission of a round, with its rank and primary figure as they stood when the round was started."""

    rejudge = models.ForeignKey(Rejudge, on_delete=models.PROTECT, related_name="places")
    submission = models.ForeignKey("leaderboard.Submission", on_delete=models.PROTECT, related_name="round_places")
    rank = models.PositiveIntegerField()
    value = models.FloatField(null=True, help_text="In the release's primary metric.")
    n_imported = models.PositiveIntegerField(default=0, help_text="Passes that were imported: no node measures these.")

    class Meta:
        ordering: ClassVar = ["rank", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["rejudge", "submission"], name="round_place_once"),
        ]

    def __str__(self) -> str:
        return f"{self.submission} in {self.rejudge}"
