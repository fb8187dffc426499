"""Tracks, within which results are comparable, and the state of releases and problems on them."""

import hashlib
import json
from typing import ClassVar

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone

from leaderboard.models.boards.peaks import why_bad_peaks
from problems.spec.hardware import Hardware
from runners.wire.protocol import TrackSpec


def valid_peaks(value: object) -> None:
    if reason := why_bad_peaks(value):
        raise ValidationError(reason)


NO_HARDWARE = "no-hardware"
"""Slug of the built-in track of releases whose problems are all settled by the site."""
DEVICES = [("cpu", "CPU"), ("gpu", "GPU"), ("none", "No hardware")]


class Track(models.Model):
    slug = models.SlugField(max_length=100, unique=True)
    title = models.CharField(max_length=200)
    device = models.CharField(max_length=4, choices=DEVICES)
    hardware_name = models.CharField(max_length=200, blank=True, help_text="GPU or CPU model a node must have.")
    compute_capability = models.CharField(max_length=10, blank=True, help_text="As 9.0; empty on a CPU track.")
    toolkit = models.CharField(max_length=20, blank=True, help_text="CUDA toolkit as 13.0; empty on a CPU track.")
    image = models.CharField(max_length=200, blank=True, help_text="Image digest for Docker nodes.")
    image_policy = models.CharField(max_length=60, default="default")
    splits_jobs = models.BooleanField(
        default=False, help_text="Build and run as two jobs, so that builders may feed GPUs."
    )
    peaks = models.JSONField(
        default=dict,
        blank=True,
        validators=[valid_peaks],
        help_text='Measured ceilings: {"gbps": 4000, "gflops": {"fp32": 50000}}.',
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["slug"]

    def __str__(self) -> str:
        return self.slug

    @property
    def device_word(self) -> str:
        """The device of its times, in a sentence: the GPU or the processor."""
        return "GPU" if self.device == "gpu" else "processor"

    @property
    def hardware(self) -> Hardware:
        return Hardware(
            device="gpu" if self.device == "gpu" else "cpu",
            gpu_name=self.hardware_name if self.device == "gpu" else "",
            compute_capability=_version(self.compute_capability) if self.compute_capability else None,
            toolkit=_version(self.toolkit) if self.toolkit else (0, 0),
        )

    @property
    def spec(self) -> TrackSpec:
        return TrackSpec(
            slug=self.slug,
            device="gpu" if self.device == "gpu" else "cpu",
            hardware_name=self.hardware_name,
            toolkit=self.toolkit,
            compute_capability=self.compute_capability,
            image=self.image,
            image_policy=self.image_policy,
        )


def _version(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor or 0)


class ReleaseTrack(models.Model):
    """A release offered on a track. Its ranking is stale if `touched_at` is later than `ranked_at`.

    `ranking_error` is the reason why its last ranking failed. Ranking is tried again after the next change.
    """

    release = models.ForeignKey("problems.Release", on_delete=models.PROTECT, related_name="on_tracks")
    track = models.ForeignKey(Track, on_delete=models.PROTECT, related_name="on_releases")
    touched_at = models.DateTimeField(null=True, blank=True)
    ranked_at = models.DateTimeField(null=True, blank=True)
    ranking_error = models.TextField(blank=True)
    ranking_failed_at = models.DateTimeField(
        null=True, blank=True, help_text="The touched_at that could not be ranked."
    )
    shared_ln_sd = models.FloatField(
        default=0.0,
        help_text="Standard deviation of the noise in ln time that a node and day put into all times; 0 if not known.",
    )
    on_front_page = models.BooleanField(
        default=False, help_text="Whether an organiser chose its board for the front page: one board at most."
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["release", "track"], name="release_track"),
            models.UniqueConstraint(
                fields=["on_front_page"], condition=models.Q(on_front_page=True), name="one_board_on_front_page"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.release} on {self.track}"

    @property
    def is_stale(self) -> bool:
        """Whether there are results that its ranking does not count yet."""
        return self.touched_at is not None and (self.ranked_at is None or self.touched_at > self.ranked_at)


class ProblemTrack(models.Model):
    """A problem on a track: the reason if it is skipped there, the baseline of its speedups, and how it was solved."""

    problem = models.ForeignKey("problems.Problem", on_delete=models.CASCADE, related_name="on_tracks")
    track = models.ForeignKey(Track, on_delete=models.PROTECT, related_name="on_problems")
    skip_reason = models.CharField(max_length=300, blank=True)
    has_rankable_baseline = models.BooleanField(default=False)
    baseline_median_ms = models.FloatField(null=True, blank=True)
    baseline_cases_ms = models.JSONField(default=dict, blank=True, help_text="The same by case: case → median.")
    timed_cases = models.JSONField(
        null=True, blank=True, help_text="The cases that are timed for everybody, sorted; null until they are fixed."
    )
    n_entrants = models.PositiveIntegerField(
        default=0, help_text="Of counted submissions, at the last ranking: entrants with samples that were not skipped."
    )
    n_solved = models.PositiveIntegerField(default=0, help_text="Those of them with a passing sample.")
    n_samples = models.PositiveIntegerField(default=0, help_text="Their samples.")
    n_passed = models.PositiveIntegerField(default=0, help_text="Their passing samples.")
    best_speedup = models.FloatField(null=True, blank=True, help_text="The largest of their samples' speedups.")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["problem", "track"], name="problem_track")]

    def __str__(self) -> str:
        return f"{self.problem} on {self.track}"

    @property
    def names_of_timed_cases(self) -> list[str]:
        """The fixed cases, else those that the noted baseline has a time for."""
        return list(self.baseline_cases_ms) if self.timed_cases is None else self.timed_cases

    @property
    def digest(self) -> str:
        """A digest of the timed cases: with the problem's grading they are all that a time depends on. Empty until
        they are fixed."""
        if self.timed_cases is None:
            return ""
        return hashlib.sha256(json.dumps(sorted(self.timed_cases)).encode()).hexdigest()
