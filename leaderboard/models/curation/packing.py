"""An uploaded folder of problems that the site's worker makes a pack of, in a process and a sandbox of its own."""

from typing import Any, ClassVar

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


KINDS = [
    (PackingKind.FUNCTIONS.value, "Function problems"),
    (PackingKind.PMPP.value, "PMPP checkout"),
    (PackingKind.KERNELBENCH.value, "Problem set: KernelBench"),
    (PackingKind.FLASHINFER.value, "Problem set: FlashInfer Trace"),
    (PackingKind.SOL_EXECBENCH.value, "Problem set: SOL-ExecBench"),
    (PackingKind.LEETGPU.value, "Problem set: LeetGPU"),
]
DEVICES = [("gpu", "GPU"), ("cpu", "CPU")]


class Packing(models.Model):
    """One upload. Archive and pack lie in the store of uploads until the row is swept."""

    kind = models.CharField(max_length=20, choices=KINDS)
    device = models.CharField(
        max_length=3, choices=DEVICES, default="gpu", help_text="Where the tensors of a set's problems are."
    )
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
    report = models.JSONField(
        default=list, help_text="Of a set: each problem with its state, line, reason and what would help."
    )
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
    def counts(self) -> dict[str, int]:
        """The numbers of a set's problems that were read, read with a change, and refused."""
        states = [row["state"] for row in self.report]
        return {state: states.count(state) for state in ("read", "changed", "refused")}

    @property
    def shown_report(self) -> list[dict[str, Any]]:
        """The rows of problems that were changed or refused."""
        return [row for row in self.report if row["state"] != "read"]

    @property
    def is_open(self) -> bool:
        return self.state in (PackingState.QUEUED, PackingState.PACKING)
