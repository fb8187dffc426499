"""Submissions and their samples, and which submission counts for a standing."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from problems.models import ReleaseState

IMPORT = "import"
"""`submitted_through` of results that an organiser imported."""


class SubmissionState(models.TextChoices):
    """`accepted` becomes `done` or `cancelled`. A rerun or a cancelled evaluation does not reopen it."""

    ACCEPTED = "accepted", "In progress"
    DONE = "done", "Done"
    CANCELLED = "cancelled", "Cancelled"


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def visible_to(self, user: Any) -> "SubmissionQuerySet":
        """Public submissions of visible releases; for a team also its own; for an organiser all."""
        if getattr(user, "is_staff", False):
            return self
        from leaderboard.models.entrants.entrant import Entrant
        from problems.models import Release, results_are_open

        public = Q(entrant__in=Entrant.objects.public(), release__in=Release.objects.visible_to(user))
        public &= results_are_open("release__")
        public &= ~Q(release__state=ReleaseState.DRAFT)
        if getattr(user, "is_authenticated", False):
            public |= Q(entrant__in=Entrant.objects.readable_by(user))
        return self.filter(public)


class Submission(models.Model):
    entrant = models.ForeignKey("leaderboard.Entrant", on_delete=models.PROTECT, related_name="submissions")
    release = models.ForeignKey("problems.Release", on_delete=models.PROTECT, related_name="submissions")
    tracks = models.ManyToManyField("leaderboard.Track", related_name="submissions")
    is_full = models.BooleanField(
        help_text="All problems of the release; a partial one feeds per-problem rankings only."
    )
    name = models.CharField(max_length=200, help_text="The pack's name.")
    note = models.CharField(max_length=500, blank=True)
    licence = models.CharField(
        max_length=100, blank=True, help_text="SPDX expression under which its code may be used; empty: not stated."
    )
    digest = models.CharField(max_length=64, help_text="sha256 over (task, index, content) of every sample.")
    identity = models.CharField(max_length=64, help_text="sha256 over entrant, release, tracks and digest.")
    state = models.CharField(max_length=10, choices=SubmissionState.choices, default=SubmissionState.ACCEPTED)
    asks_to_count = models.BooleanField(
        default=False, help_text="Whether its submitter wants it to be the counted one."
    )
    n_samples_per_problem = models.PositiveIntegerField()
    submitted_by = models.ForeignKey("auth.User", null=True, on_delete=models.PROTECT, related_name="submissions")
    submitted_through = models.CharField(max_length=10, default="web")
    measured_where = models.JSONField(
        null=True, blank=True, help_text="Of imported results: GPU, driver, toolkit and days of measuring."
    )
    generation = models.JSONField(
        null=True, blank=True, help_text="Declared in the pack: model, host, parameters, usage and time."
    )
    tokens_per_sample = models.FloatField(
        null=True, blank=True, help_text="Declared tokens of prompts and replies, by the pack's samples."
    )
    usd_per_sample = models.FloatField(
        null=True, blank=True, help_text="Declared cost in US dollars, by the pack's samples."
    )
    priority = models.SmallIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    compared_at = models.DateTimeField(
        null=True, blank=True, help_text="When its code was compared with that of other entrants."
    )
    scored_mark = models.UUIDField(
        null=True, blank=True, editable=False, help_text="Another one each time that its aggregates are computed."
    )
    announced_at = models.DateTimeField(
        null=True, blank=True, help_text="When the messages that it has ended were made."
    )

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["identity"], condition=~Q(state="cancelled"), name="submission_once"
            ),  # sending the same again is harmless; a cancelled twin does not count
        ]
        indexes: ClassVar = [
            models.Index(fields=["release", "-id"], name="submissions_of_release"),  # a release's submissions tab
            models.Index(fields=["entrant", "release", "-id"], name="submissions_of_entrant"),  # an entrant's page
            models.Index(
                fields=["id"], condition=Q(compared_at=None), name="submission_uncompared"
            ),  # comparing code, every minute
            models.Index(
                fields=["id"],
                condition=Q(announced_at=None, state__in=["done", "cancelled"]),
                name="submission_unannounced",
            ),  # announcing those that have ended, every few seconds
        ]

    def __str__(self) -> str:
        return f"#{self.pk} {self.entrant} on {self.release}"

    def get_absolute_url(self) -> str:
        return reverse("submission", args=[self.pk])

    def has_open_work(self) -> bool:
        """Whether any of its live evaluations is queued or running. One query."""
        from leaderboard.models.submissions.evaluation import OPEN_STATES, Evaluation

        return Evaluation.objects.live().filter(submission=self, state__in=OPEN_STATES).exists()

    @property
    def is_imported(self) -> bool:
        """Whether its results were imported. They may have been run again on this site since."""
        return self.submitted_through == IMPORT


class Sample(models.Model):
    """One solution to one problem. If `invalid_reason` is set, it never runs."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="samples")
    problem = models.ForeignKey("problems.Problem", on_delete=models.PROTECT, related_name="samples")
    index = models.PositiveIntegerField()
    solution_sha256 = models.CharField(
        max_length=64, blank=True, help_text="Blob: the solution's record, one JSON line."
    )
    solution_bytes = models.PositiveIntegerField(default=0)
    invalid_reason = models.CharField(max_length=500, blank=True)
    language = models.CharField(
        max_length=20, blank=True, help_text="Of a function: cuda, cpp, triton or python; empty where it is not known."
    )

    first_sent = models.ForeignKey(
        Submission, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_index=False,
        help_text="Of a reply to a sealed question that counts in place of the one that was sent: with which submission"
        " it came.",
    )  # fmt: skip

    class Meta:
        ordering: ClassVar = ["problem", "index"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["submission", "problem", "index"], name="sample_place"),
        ]

    def __str__(self) -> str:
        return f"{self.problem} sample {self.index + 1}"


class ChosenQuerySet(models.QuerySet["Chosen"]):
    def live(self) -> "ChosenQuerySet":
        """Choices of full submissions that were neither cancelled nor retracted."""
        kept = self.filter(submission__is_full=True).exclude(submission__state=SubmissionState.CANCELLED)
        return kept.exclude(submission__decisions__kind="submission_retracted")

    def on(self, release_id: int, track_id: int) -> "ChosenQuerySet":
        return self.filter(submission__release=release_id, track=track_id)


class Chosen(models.Model):
    """Somebody chose the submission to count on a track: by asking for it when sending, or later. Never changed."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="choosings")
    track = models.ForeignKey("leaderboard.Track", on_delete=models.PROTECT, related_name="choosings")
    chosen_by = models.ForeignKey("auth.User", null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    objects = ChosenQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.submission} on {self.track}"


class Counted(models.Model):
    """The full submission from which an entrant's standing on a track is computed: the one last chosen."""

    entrant = models.ForeignKey("leaderboard.Entrant", on_delete=models.PROTECT, related_name="counted")
    release = models.ForeignKey("problems.Release", on_delete=models.PROTECT, related_name="counted")
    track = models.ForeignKey("leaderboard.Track", on_delete=models.PROTECT, related_name="counted")
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="counted_on")
    since = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["entrant", "release", "track"], name="counted_one"),
        ]

    def __str__(self) -> str:
        return f"{self.submission} on {self.track}"
