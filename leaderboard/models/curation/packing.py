"""An uploaded folder of problems that the site's worker makes a pack of, in a process and a sandbox of its own."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from problems.formats.packing_events import PackingKind


class PackingState(models.TextChoices):
    """`queued` becomes `packing`, which becomes `done` or `failed`; a lost one, or one tried again, is queued anew."""

    QUEUED = "queued", "Waiting"
    PACKING = "packing", "Being packed"
    DONE = "done", "Packed"
    FAILED = "failed", "Failed"


KINDS = [(PackingKind.FUNCTIONS.value, "Function problems"), (PackingKind.PMPP.value, "PMPP checkout")]


class Packing(models.Model):
    """One upload. Archive and pack lie in the store of uploads until the row is swept."""

    kind = models.CharField(max_length=10, choices=KINDS)
    name = models.CharField(max_length=200, help_text="The uploaded file's.")
    release = models.CharField(max_length=60, help_text="The pack's name where the archive has no release.yaml.")
    archive_sha256 = models.CharField(max_length=64, blank=True, help_text="Empty once the pack is made.")
    archive_bytes = models.PositiveBigIntegerField()
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="packings")
    created_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=10, choices=PackingState.choices, default=PackingState.QUEUED)
    attempt = models.PositiveSmallIntegerField(default=0, help_text="The worker that is at it holds this number.")
    n_lost = models.PositiveSmallIntegerField(default=0, help_text="Workers that ended while they packed it.")
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    n_begun = models.PositiveIntegerField(default=0)
    n_problems = models.PositiveIntegerField(default=0)
    at = models.CharField(max_length=200, blank=True, help_text="The problem that is being packed.")
    notes = models.JSONField(default=list, help_text="What authors should know of the pack.")
    code = models.CharField(max_length=40, blank=True, help_text="Of the reason why it failed.")
    faults = models.JSONField(default=list)
    pack_sha256 = models.CharField(max_length=64, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(
                fields=["id"], condition=Q(state__in=["queued", "packing"]), name="packing_open"
            ),  # the site's worker, every two seconds
        ]

    def __str__(self) -> str:
        return f"upload {self.pk} ({self.name})"

    def get_absolute_url(self) -> str:
        return reverse("admin:problems_release_packing", args=[self.pk])

    @property
    def is_open(self) -> bool:
        return self.state in (PackingState.QUEUED, PackingState.PACKING)
