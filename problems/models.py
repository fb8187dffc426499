"""Releases and their problems: immutable once published, in code, in the admin and in the database."""

from collections.abc import Callable
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from problems.spec.case import Case, is_held_out
from problems.spec.kinds import Kind
from problems.spec.profile import Profile
from problems.spec.ranking import (
    MAX_NOTE,
    TimingPolicy,
    checked_case_weights,
    checked_ks,
    checked_metric,
    checked_weights,
    offered_ks,
)
from problems.spec.record import ProblemRecord, TimedWork
from problems.spec.records import parse_record
from scoring.metrics import NAMED
from scoring.rules import NEWEST

KINDS = [(kind.value, kind.value.replace("_", " ")) for kind in Kind]


class ReleaseState(models.TextChoices):
    DRAFT = "draft", "Draft"
    PUBLISHED = "published", "Published"
    FROZEN = "frozen", "Frozen"


class QuestionPolicy(models.TextChoices):
    """When a release tells what rests on its questions."""

    PRACTICE = "practice", "Practice: verdicts at once"
    SEALED = "sealed", "Sealed: nothing before they are revealed, and an entrant's first reply counts"


def _valid(check: Callable[[Any], Any], value: Any) -> None:
    try:
        check(value)
    except ValueError as error:
        raise ValidationError("%(why)s.", params={"why": error}) from error


def valid_metric(value: Any) -> None:
    _valid(checked_metric, value)


def valid_ks(value: Any) -> None:
    _valid(checked_ks, value)


def valid_weights(value: Any) -> None:
    _valid(checked_weights, value)


def valid_case_weights(value: Any) -> None:
    _valid(checked_case_weights, value)


DEFAULT_MAX_SAMPLES = 20
MAX_CARD = 20_000
RANKING_FIELDS = ("primary_metric", "timing_policy", "ks", "weights", "weights_note", "case_weights")
"""How a release ranks: fixed by publication, but for a correction with a public reason."""
PROMISES = ("one_command", "separate_harness")
"""Promises of a release on every one of its problems, fixed by publication."""


class ReleaseQuerySet(models.QuerySet["Release"]):
    def visible_to(self, user: Any) -> "ReleaseQuerySet":
        """Releases whose board the user may see. Drafts are the organisers' alone."""
        if getattr(user, "is_staff", False):
            return self
        return self._published(Q(is_public=True) | Q(results_are_public=True) | _invites(user))

    def open_to(self, user: Any) -> "ReleaseQuerySet":
        """Releases to which the user may submit: public ones, and private ones that the user is invited to."""
        if getattr(user, "is_staff", False):
            return self
        return self._published(Q(is_public=True) | _invites(user))

    def readable_by(self, user: Any) -> "ReleaseQuerySet":
        """Releases whose statements and visible files the user may read."""
        if getattr(user, "is_staff", False):
            return self
        return self._published(Q(is_public=True) | Q(invited_may_read=True) & _invites(user))

    def _published(self, condition: Q) -> "ReleaseQuerySet":
        return self.exclude(state=ReleaseState.DRAFT).filter(condition)


def _invites(user: Any) -> Q:
    if not getattr(user, "is_authenticated", False):
        return Q(pk__in=[])
    return Q(pk__in=Release.invited.through.objects.filter(user_id=user.pk).values("release_id"))


def results_are_open(release: str = "") -> Q:
    """Rows of releases whose results are not hidden now; `release` is the path to the release, as "release__"."""
    until = f"{release}hidden_until"
    return Q(**{until: None}) | Q(**{f"{until}__lte": timezone.now()})


class Release(models.Model):
    """A versioned, immutable set of problems with their weights. A pack with other ones is the next revision."""

    slug = models.SlugField(max_length=100, unique=True)
    datapack_release = models.CharField(max_length=100, help_text="The release's name inside its packs.")
    revision = models.PositiveIntegerField(default=1)
    digest = models.CharField(max_length=64, help_text="sha256 of problems.jsonl.")
    profile = models.CharField(max_length=20, choices=[(p.value, p.value) for p in Profile])
    previous = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="later")
    pack_metadata = models.TextField(help_text="metadata.json as it came, for export.")

    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    state = models.CharField(max_length=10, choices=ReleaseState.choices, default=ReleaseState.DRAFT)
    is_public = models.BooleanField(
        default=False, verbose_name="public", help_text="Whether strangers may read statements and visible files."
    )
    results_are_public = models.BooleanField(
        default=False,
        verbose_name="results public",
        help_text="Whether strangers may see the board, entrants and charts of a private release. They see its"
        " problems' names, never their statements and files.",
    )
    licence = models.CharField(
        max_length=200, blank=True, help_text="Of its problems: an SPDX identifier such as Apache-2.0, or other words."
    )
    invited_may_read = models.BooleanField(
        default=True,
        verbose_name="licence lets invited users read",
        help_text="Whether the licence lets the users invited to a private release read its statements and visible"
        " files. If not, they submit without reading them.",
    )
    shows_first_failure = models.BooleanField(
        default=True,
        verbose_name="authors read the first failure",
        help_text="Whether a team may read which test or case of a sample failed first, and what it said. The first"
        " message of a test may quote held-out values. If not, a team reads verdicts and build logs only.",
    )
    transcripts_are_public = models.BooleanField(
        default=False,
        db_default=False,
        verbose_name="transcripts public",
        help_text="Whether everybody who may read a sample's solution may also read how it was generated: prompts,"
        " replies and calls of tools. If not, its team and organisers read them.",
    )
    authors = models.CharField(
        max_length=400,
        blank=True,
        default="",
        db_default="",
        help_text="Authors for citations, as BibTeX separates names: Ada Lovelace and Grace Hopper. Left empty,"
        " citations name the site.",
    )
    dataset_card = models.TextField(
        blank=True,
        max_length=MAX_CARD,
        help_text="Markdown: where the problems come from, what they cover, known faults.",
    )
    invited = models.ManyToManyField("auth.User", blank=True, related_name="invited_releases")
    primary_metric = models.CharField(
        max_length=40,
        default="pass@1",
        validators=[valid_metric],
        help_text=f"What ranks follow: pass@k for some k, {', '.join(metric.name for metric in NAMED)}.",
    )
    timing_policy = models.CharField(
        max_length=10, default=TimingPolicy.RANKED.value, choices=[(one.value, one.value) for one in TimingPolicy]
    )
    ks = models.JSONField(
        default=list, validators=[valid_ks], help_text="The k of pass@k that the board offers, as [1, 10]."
    )
    weights = models.JSONField(
        default=dict,
        blank=True,
        validators=[valid_weights],
        help_text='Weight of each group of coding problems, for the metric weighted: {"group": 2.5}.',
    )
    weights_note = models.TextField(
        blank=True, max_length=MAX_NOTE, help_text="Where the weights come from; shown on its pages."
    )
    case_weights = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        validators=[valid_case_weights],
        help_text='Weights of cases by their traffic, for the metric traffic_speedup: {"task": {"case": 3}}. Cases left'
        " out weigh the mean of their task's.",
    )
    max_samples = models.PositiveIntegerField(
        default=DEFAULT_MAX_SAMPLES,
        validators=[MinValueValidator(1)],
        verbose_name="samples a problem",
        help_text="The most samples of one problem that a submission may have; at least the largest k of its pass@k.",
    )
    one_command = models.BooleanField(
        default=False,
        verbose_name="test and benchmark are one command",
        help_text="Promise: every timed problem is timed by its own test command, so that a solution cannot tell a"
        " timed run from a test. Publishing checks it.",
    )
    separate_harness = models.BooleanField(
        default=False,
        verbose_name="harnesses run in processes of their own",
        help_text="Promise: every problem says `harness: separate`, which verifying tests with a solution that ends its"
        " process at once. Publishing checks it.",
    )
    question_policy = models.CharField(
        max_length=10,
        blank=True,
        choices=QuestionPolicy.choices,
        verbose_name="questions",
        help_text="Whether verdicts on questions are told at once, or nothing that rests on them before `reveals at`."
        " Publication fixes it; left empty, sealed where questions rank and practice where they do not.",
    )
    question_samples = models.PositiveIntegerField(
        default=1,
        validators=[MinValueValidator(1)],
        verbose_name="replies to a sealed question",
        help_text="The most samples of one sealed question that a submission may have.",
    )
    rules = models.PositiveSmallIntegerField(
        default=NEWEST,
        verbose_name="version of the rules",
        help_text="How its scores, intervals and ranks are computed.",
    )
    correction = models.TextField(
        blank=True, help_text="Why its ranking was corrected after publication; shown on its pages."
    )
    unverified_reason = models.TextField(
        blank=True, help_text="Why it was published before every problem was verified; shown on its pages."
    )
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    hidden_until = models.DateTimeField(null=True, blank=True)
    reveals_at = models.DateTimeField(
        null=True, blank=True, help_text="When what rests on sealed questions is shown. Later replies never rank."
    )
    created_at = models.DateTimeField(default=timezone.now)
    published_at = models.DateTimeField(null=True, blank=True)
    frozen_at = models.DateTimeField(null=True, blank=True)

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["datapack_release", "revision"], name="release_revision"),
            models.CheckConstraint(
                condition=Q(primary_metric__in=[metric.name for metric in NAMED])
                | Q(primary_metric__startswith="pass@"),
                name="release_primary_metric",
                violation_error_message="The primary metric is not one that Podium knows.",
            ),
            models.CheckConstraint(
                condition=Q(timing_policy__in=[one.value for one in TimingPolicy]), name="release_timing_policy"
            ),
            models.CheckConstraint(
                condition=Q(opens_at=None) | Q(closes_at=None) | Q(closes_at__gt=F("opens_at")),
                name="release_opens_before_it_closes",
                violation_error_message="A release must close after it opens.",
            ),
        ]

    def __str__(self) -> str:
        return self.slug

    def get_absolute_url(self) -> str:
        return reverse("board", args=[self.slug])

    @property
    def is_draft(self) -> bool:
        return self.state == ReleaseState.DRAFT

    @property
    def offered_ks(self) -> list[int]:
        """The k of pass@k that its boards offer; a bad entry of `ks` is left out."""
        return offered_ks(self.ks, self.primary_metric)

    @property
    def results_are_hidden(self) -> bool:
        """Whether only an entrant's own team and organisers see its results; see results_are_open."""
        return self.hidden_until is not None and timezone.now() < self.hidden_until

    @property
    def has_sealed_questions(self) -> bool:
        """Whether it seals questions, or has sealed them until it revealed them."""
        return self.question_policy == QuestionPolicy.SEALED

    @property
    def questions_are_sealed(self) -> bool:
        """Whether nothing that rests on its questions is told now."""
        return self.has_sealed_questions and (self.reveals_at is None or timezone.now() < self.reveals_at)

    @property
    def is_open_to_all(self) -> bool:
        """Whether strangers see its board and read its statements: what `visible_to` and `readable_by` ask of rows."""
        return self.is_public and not self.is_draft

    @property
    def has_closed(self) -> bool:
        """Whether it takes no submissions any more. A frozen release never will again."""
        return self.state == ReleaseState.FROZEN or (self.closes_at is not None and timezone.now() >= self.closes_at)

    def why_closed(self) -> str:
        """Returns the reason why the release takes no submissions now; empty when it does."""
        now = timezone.now()
        if self.state == ReleaseState.FROZEN:
            since = f"was frozen at {self.frozen_at:%Y-%m-%d %H:%M} UTC" if self.frozen_at else "is frozen"
            return f"{self.slug} {since}: it takes no more submissions."
        if self.opens_at and now < self.opens_at:
            return f"{self.slug} opens at {self.opens_at:%Y-%m-%d %H:%M} UTC."
        if self.closes_at and now >= self.closes_at:
            return f"{self.slug} closed at {self.closes_at:%Y-%m-%d %H:%M} UTC."
        return ""


class ProblemManager(models.Manager["Problem"]):
    """Without the problems that their draft leaves out."""

    def get_queryset(self) -> models.QuerySet["Problem"]:
        return super().get_queryset().filter(is_left_out=False)


class Problem(models.Model):
    """One task of a release. `record` is its line in the pack, byte for byte.

    A problem that is left out is no part of its release: `release.problems` and `Problem.objects` do not hold it.
    """

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="problems")
    position = models.PositiveIntegerField()
    task_id = models.CharField(max_length=200)
    slug = models.SlugField(max_length=200)
    kind = models.CharField(max_length=20, choices=KINDS)
    type = models.CharField(max_length=20)
    group = models.CharField(max_length=60)
    title = models.CharField(max_length=300)
    difficulty = models.CharField(max_length=40, blank=True)
    tags = models.JSONField(default=list)
    record = models.BinaryField()
    record_md5 = models.CharField(max_length=32)
    record_sha256 = models.CharField(max_length=64, db_index=True)  # a node reads its problem by this
    grading_digest = models.CharField(max_length=64)
    build_only = models.JSONField(null=True, blank=True, help_text="Paths withheld at run time; null: not yet known.")
    cases = models.JSONField(default=list, help_text="The timed cases: name, size, flops, bytes, data types.")
    has_benchmark = models.BooleanField(default=False)
    has_baseline = models.BooleanField(default=False)
    do_not_release = models.BooleanField(
        default=False, help_text="As its record says: its statement and files are the organisers' alone."
    )
    timed_work = models.CharField(
        max_length=20, blank=True, choices=[(one.value, one.value.replace("_", " ")) for one in TimedWork]
    )
    is_left_out = models.BooleanField(default=False, help_text="Kept in its draft, and not a part of the release.")
    graded_since = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When its draft last changed what results depend on; older ones do not verify it.",
    )

    objects = ProblemManager()
    with_left_out = models.Manager["Problem"]()

    class Meta:
        ordering: ClassVar = ["release", "position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["release", "task_id"], name="problem_task"),
            models.UniqueConstraint(fields=["release", "slug"], name="problem_slug"),
            models.UniqueConstraint(fields=["release", "position"], name="problem_position"),
        ]

    def __str__(self) -> str:
        return self.task_id

    def get_absolute_url(self) -> str:
        return reverse("problem", args=[self.release.slug, self.slug])

    @property
    def timed_cases(self) -> tuple[Case, ...]:
        """The cases that are timed, with their declared work."""
        return tuple(map(Case.model_validate, self.cases))

    @property
    def public_cases(self) -> tuple[Case, ...]:
        """Those that are not held out. Rates are over them alone: a rate of a held-out case would tell its size."""
        return tuple(case for case in self.timed_cases if not is_held_out(case.name))

    @property
    def spec(self) -> ProblemRecord:
        return parse_record(bytes(self.record), Profile(self.release.profile))


class ProblemBlob(models.Model):
    """A file of a problem that does not lie in its record; its content is a blob. Nodes read it by its name."""

    problem = models.ForeignKey(Problem, on_delete=models.CASCADE, related_name="blobs")
    name = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    size_bytes = models.PositiveBigIntegerField()
    audience = models.CharField(
        max_length=10, choices=[("public", "Everybody"), ("organiser", "Organisers and nodes")], default="organiser"
    )

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["problem", "name"], name="problem_blob_name")]

    def __str__(self) -> str:
        return f"{self.problem}: {self.name}"
