"""Releases and their problems: immutable once published, in code, in the admin and in the database."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from problems.spec.problem import CommandProblem, parse_problem
from problems.spec.profile import Profile


class ReleaseState(models.TextChoices):
    DRAFT = "draft", "Draft"
    PUBLISHED = "published", "Published"
    FROZEN = "frozen", "Frozen"


class ReleaseQuerySet(models.QuerySet["Release"]):
    def visible_to(self, user: Any) -> "ReleaseQuerySet":
        """Drafts and private releases are an organiser's; invited users see the private ones they are named in."""
        if getattr(user, "is_staff", False):
            return self
        seen = Q(is_public=True)
        if getattr(user, "is_authenticated", False):
            seen |= Q(pk__in=Release.invited.through.objects.filter(user_id=user.pk).values("release_id"))
        return self.exclude(state=ReleaseState.DRAFT).filter(seen)


class Release(models.Model):
    """A versioned, immutable set of problems. Identity is (datapack_release, digest); revision counts the digests."""

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
    invited = models.ManyToManyField("auth.User", blank=True, related_name="invited_releases")
    primary_metric = models.CharField(max_length=40, default="pass@1")
    timing_policy = models.CharField(max_length=10, default="quick", choices=[("quick", "quick"), ("ranked", "ranked")])
    ks = models.JSONField(default=list, help_text="The k of pass@k that the board offers.")
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    hidden_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    published_at = models.DateTimeField(null=True, blank=True)
    frozen_at = models.DateTimeField(null=True, blank=True)

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["datapack_release", "digest"], name="release_identity"),
            models.UniqueConstraint(fields=["datapack_release", "revision"], name="release_revision"),
        ]

    def __str__(self) -> str:
        return self.slug

    @property
    def is_draft(self) -> bool:
        return self.state == ReleaseState.DRAFT

    @property
    def results_are_hidden(self) -> bool:
        return self.hidden_until is not None and timezone.now() < self.hidden_until

    def why_closed(self) -> str:
        """Why the release takes no submissions now; empty when it does."""
        now = timezone.now()
        if self.state == ReleaseState.FROZEN:
            return f"{self.slug} is frozen: it takes no more submissions."
        if self.opens_at and now < self.opens_at:
            return f"{self.slug} opens at {self.opens_at:%Y-%m-%d %H:%M} UTC."
        if self.closes_at and now >= self.closes_at:
            return f"{self.slug} closed at {self.closes_at:%Y-%m-%d %H:%M} UTC."
        return ""


class Problem(models.Model):
    """One task of a release. `record` is its line in the pack, byte for byte."""

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="problems")
    position = models.PositiveIntegerField()
    task_id = models.CharField(max_length=200)
    slug = models.SlugField(max_length=200)
    kind = models.CharField(max_length=20, default="command")
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
    flops = models.FloatField(null=True, blank=True)
    bytes = models.FloatField(null=True, blank=True)
    flops_dtype = models.CharField(max_length=8, null=True, blank=True)  # noqa: DJ001 - null: imported before it existed
    has_benchmark = models.BooleanField(default=False)
    has_baseline = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["release", "position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["release", "task_id"], name="problem_task"),
            models.UniqueConstraint(fields=["release", "slug"], name="problem_slug"),
            models.UniqueConstraint(fields=["release", "position"], name="problem_position"),
        ]

    def __str__(self) -> str:
        return self.task_id

    @property
    def spec(self) -> CommandProblem:
        return parse_problem(bytes(self.record), Profile(self.release.profile))
