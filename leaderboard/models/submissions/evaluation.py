"""Evaluations, their append-only results, and the results' measurements and flags."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.fields.json import KeyTransform
from django.urls import reverse
from django.utils import timezone

from problems.spec.ranking import is_provisional
from runners.wire.protocol import Clock, FlagScope, Purpose, Role, Verdict, Witness

SHARED_KEY_CHARACTERS = 200


class EvaluationState(models.TextChoices):
    QUEUED = "queued", "Queued"
    LEASED = "leased", "Running"
    DONE = "done", "Done"
    CANCELLED = "cancelled", "Cancelled"


OPEN_STATES = frozenset({EvaluationState.QUEUED, EvaluationState.LEASED})


class EvaluationQuerySet(models.QuerySet["Evaluation"]):
    def live(self) -> "EvaluationQuerySet":
        """The evaluations that count. Boards, scores, progress and pages read only these."""
        return self.filter(purpose=Purpose.LIVE)

    def made_by(self, node: str) -> "EvaluationQuerySet":
        """Evaluations whose current result this site's node of this slug made."""
        made = Result.objects.filter(provenance__node=node, origin=ResultOrigin.FLEET)
        return self.filter(current_result__in=made.values("pk"))


class Evaluation(models.Model):
    """Unique by sample, track, judge version and purpose. Submission and problem repeat the sample's, for queries."""

    sample = models.ForeignKey("leaderboard.Sample", on_delete=models.PROTECT, related_name="evaluations")
    track = models.ForeignKey("leaderboard.Track", on_delete=models.PROTECT, related_name="evaluations")
    judge_version = models.CharField(max_length=20)
    purpose = models.CharField(max_length=10, choices=[(p.value, p.value) for p in Purpose], default=Purpose.LIVE)
    submission = models.ForeignKey("leaderboard.Submission", on_delete=models.PROTECT, related_name="evaluations")
    problem = models.ForeignKey("problems.Problem", on_delete=models.PROTECT, related_name="evaluations")
    state = models.CharField(max_length=10, choices=EvaluationState.choices, default=EvaluationState.QUEUED)
    current_result = models.OneToOneField(
        "leaderboard.Result", null=True, blank=True, on_delete=models.PROTECT, related_name="current_of"
    )
    second_result = models.ForeignKey(
        "leaderboard.Result", null=True, blank=True, on_delete=models.PROTECT, related_name="second_of", db_index=False,
        help_text="Of a round: its times count in place of the current result's, whose verdict stays.",
    )  # fmt: skip
    queued_at = models.DateTimeField(default=timezone.now)
    done_at = models.DateTimeField(null=True, blank=True)

    objects = EvaluationQuerySet.as_manager()
    is_sealed = False
    """Set on one that is shown to a user who is not told its outcome yet."""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["sample", "track", "judge_version", "purpose"], name="evaluation_identity"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["submission", "track", "state"], name="evaluation_progress"),  # submission page
            models.Index(fields=["problem", "track", "state"], name="evaluation_of_problem"),  # per-problem ranking
            models.Index(
                fields=["problem"], condition=Q(state="queued"), name="evaluation_queued"
            ),  # settling questions, every second
            models.Index(
                fields=["queued_at"], condition=Q(state__in=["queued", "leased"]), name="evaluation_open"
            ),  # the admin's dashboard: what is stuck
            models.Index(
                fields=["second_result"], condition=Q(second_result__isnull=False), name="evaluation_second"
            ),  # whether a flag's result counts
        ]

    def __str__(self) -> str:
        return f"evaluation {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("evaluation", args=[self.pk])

    @property
    def is_open(self) -> bool:
        """Whether it is queued or running."""
        return self.state in OPEN_STATES


class ResultOrigin(models.TextChoices):
    FLEET = "fleet", "Fleet"
    SITE = "site", "Site"
    IMPORTED = "imported", "Imported"


class Result(models.Model):
    """One outcome of an evaluation, never changed or deleted. The evaluation names its current result."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.PROTECT, related_name="results")
    origin = models.CharField(max_length=10, choices=ResultOrigin.choices)
    attempt = models.UUIDField(null=True, blank=True, unique=True)  # null when imported or the site's own
    report_digest = models.CharField(max_length=64, blank=True)
    reused_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="reused_as")
    verdict = models.CharField(max_length=30, choices=[(v.value, v.value.replace("_", " ")) for v in Verdict])
    reason = models.TextField(blank=True)
    witness = models.CharField(max_length=12, choices=[(w.value, w.value) for w in Witness], default="unavailable")
    speedup = models.FloatField(null=True, blank=True)
    steps = models.JSONField(default=list, help_text="StepReport rows: exits, costs and logs.")
    provenance = models.JSONField(default=dict)
    profile = models.JSONField(null=True, blank=True, help_text="A profiler's own report: its blob's sha256 and size.")
    listing = models.JSONField(null=True, blank=True, help_text="SASS and PTX as text: their blob's sha256 and size.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["verdict", "-id"], name="results_of_verdict"),  # the admin's lists, by a rare verdict
            models.Index(KeyTransform("node", "provenance"), name="results_of_node"),  # rejudging, voiding
            models.Index(fields=["created_at"], name="results_of_day"),  # which nodes served times: reference runs
        ]

    def __str__(self) -> str:
        return f"{self.verdict} ({self.evaluation})"

    def get_absolute_url(self) -> str:
        return reverse("evaluation", args=[self.evaluation_id])

    def is_provisional_under(self, promised: str) -> bool:
        """Whether its times, if it has some, do not rank where this timing policy is promised."""
        return is_provisional(str(self.provenance.get("timing_policy", "")), promised)

    @property
    def passed(self) -> bool:
        return self.verdict == Verdict.PASSED


class ResultCase(models.Model):
    """The result of one case of a problem. Each field has its own audience."""

    result = models.ForeignKey(Result, on_delete=models.PROTECT, related_name="cases")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    verdict = models.CharField(max_length=30, choices=[(v.value, v.value.replace("_", " ")) for v in Verdict])
    fields = models.JSONField(default=list, help_text="CaseField rows: name, value, audience.")

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["result", "position"], name="result_case_position"),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.verdict}"


class Measurement(models.Model):
    """The timing of one benchmark case. A candidate's row names the baseline row that it was compared with."""

    result = models.ForeignKey(Result, null=True, blank=True, on_delete=models.PROTECT, related_name="measurements")
    problem = models.ForeignKey("problems.Problem", on_delete=models.PROTECT, related_name="measurements")
    track = models.ForeignKey("leaderboard.Track", on_delete=models.PROTECT, related_name="measurements")
    role = models.CharField(max_length=10, choices=[(r.value, r.value) for r in Role])
    case = models.CharField(max_length=200, blank=True)
    baseline_name = models.CharField(max_length=40, blank=True, help_text="Of a baseline: reference, compiled, expert.")
    is_primary = models.BooleanField(default=True, help_text="Of a baseline: whether speedups are over this one.")
    baseline = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="candidates")
    shared_key = models.CharField(
        max_length=SHARED_KEY_CHARACTERS, blank=True, help_text="Set on a baseline shared by many results."
    )
    median_ms = models.FloatField()
    ci_low_ms = models.FloatField(null=True, blank=True)
    ci_high_ms = models.FloatField(null=True, blank=True)
    runs_ms = models.JSONField(default=list)
    calls_ms = models.JSONField(default=list, help_text="Every call of each process, where a process makes several.")
    calls = models.JSONField(null=True, blank=True, help_text="The same as a blob: its sha256 and size.")
    clock = models.CharField(max_length=12, choices=[(c.value, c.value) for c in Clock])
    work_checked = models.BooleanField(default=False)
    witness = models.CharField(max_length=12, choices=[(w.value, w.value) for w in Witness], default="unavailable")
    ranks = models.BooleanField(default=False, help_text="Whether its clock, witness and flags let it rank.")
    device = models.JSONField(null=True, blank=True, help_text="What was seen of the GPU from outside meanwhile.")
    provenance = models.JSONField(default=dict)
    measured_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["problem", "track", "shared_key"], condition=~Q(shared_key=""), name="measurement_shared_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.median_ms:.4g} ms"


class Flag(models.Model):
    """An observation about a result that an organiser should review. It stands until a decision dismisses it."""

    result = models.ForeignKey(Result, on_delete=models.PROTECT, related_name="flags")
    code = models.CharField(max_length=60)
    scope = models.CharField(max_length=10, choices=[(s.value, s.value) for s in FlagScope])
    detail = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(
                fields=["created_at"], condition=Q(code="busy_host"), name="flags_of_busy_hosts"
            ),  # what another node may measure
        ]

    def __str__(self) -> str:
        return self.code

    def get_absolute_url(self) -> str:
        return self.result.get_absolute_url()
