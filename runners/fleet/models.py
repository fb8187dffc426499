"""Tables of the fleet: nodes and their grants, jobs and their attempts."""

import uuid
from datetime import timedelta
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from runners.wire.protocol import PREPARING, Stage

ONLINE_FOR = timedelta(seconds=90)
LAST_PRIORITY = -1000
"""The priority of jobs that nodes gave back, or lost unbegun, too often. All other work comes first."""
QUEUE_ORDER = ("-priority", "fair_tag", "id")
"""The order of a queue: by priority, then fair share between submissions, then age."""


class Service(models.TextChoices):
    """Whether a node gets work, and if not, why. Every value but `in_service` has a `disabled_reason`."""

    IN_SERVICE = "in_service", "in service"
    DRAINING = "draining", "draining"
    MAINTENANCE = "maintenance", "maintenance"
    DISABLED = "disabled", "disabled"
    RETIRED = "retired", "retired"
    REVOKED = "revoked", "revoked"


class JoinToken(models.Model):
    """A token by which machines enrol themselves as nodes of some tracks. Stored as a digest, and shown once."""

    name = models.SlugField(max_length=60, unique=True, help_text="Results of its nodes show it.")
    token_digest = models.CharField(max_length=64, unique=True)
    tracks = models.ManyToManyField("leaderboard.Track", related_name="+")
    stages = models.JSONField(default=list)
    most_nodes = models.PositiveIntegerField(help_text="Most nodes of it in service at once.")
    judged_again = models.FloatField(
        default=0.02, help_text="Share of its nodes' evaluations that another node judges again: 0.02 for 2 %."
    )
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        return self.revoked_at is None and timezone.now() < self.expires_at


class Node(models.Model):
    """A machine in the fleet. Its token is stored as a digest. Its capabilities are those of its last hello."""

    slug = models.SlugField(max_length=100, unique=True)
    title = models.CharField(max_length=200, blank=True)
    token_digest = models.CharField(max_length=64, unique=True)
    capabilities = models.JSONField(default=dict, blank=True)
    protocol_version = models.PositiveIntegerField(null=True, blank=True)
    boot_id = models.UUIDField(null=True, blank=True)
    state_id = models.UUIDField(null=True, blank=True, help_text="Of the state folder of its last start.")
    joined_by = models.ForeignKey(JoinToken, null=True, blank=True, on_delete=models.PROTECT, related_name="nodes")
    service = models.CharField(max_length=12, choices=Service.choices, default=Service.IN_SERVICE)
    disabled_reason = models.CharField(
        max_length=500, blank=True, help_text="Public. A node with a reason gets no work."
    )
    back_at = models.DateTimeField(null=True, blank=True, help_text="Of maintenance: when it is expected to end.")
    obstacle = models.CharField(
        max_length=400, blank=True, help_text="The node's own reason for taking no work now, from its last hello."
    )
    peaks = models.JSONField(
        default=dict, blank=True, help_text="GPU UUID → ceilings that the node measured, how, when."
    )
    last_drift = models.FloatField(
        null=True, blank=True, help_text="Of its last golden program, the part furthest off: 0.01 for 1 % slower."
    )
    last_seen_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["slug"]

    def __str__(self) -> str:
        return self.slug

    def get_absolute_url(self) -> str:
        return reverse("node", args=[self.slug])

    @property
    def out_of_service(self) -> str:
        """The reason why it gets no work, in a word; "" if it gets work."""
        if not self.disabled_reason:
            return ""
        return Service.DISABLED.label if self.service == Service.IN_SERVICE else Service(self.service).label

    @property
    def state(self) -> str:
        """Its state in a word, as its page says."""
        if self.disabled_reason:
            return self.out_of_service
        if not self.is_online:
            return "offline"
        return "paused" if self.obstacle else "online"

    @property
    def is_online(self) -> bool:
        return self.last_seen_at is not None and timezone.now() - self.last_seen_at < ONLINE_FOR


def online(node: str = "") -> Q:
    """Rows whose node is online, as `Node.is_online` says it; `node` is the path to the node, as "node__"."""
    return Q(**{f"{node}last_seen_at__gt": timezone.now() - ONLINE_FOR})


class NodeChange(models.Model):
    """A change of a node's driver, toolkit or sandbox, seen at its hello. References are verified again after one."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="changes")
    words = models.CharField(max_length=500)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"{self.node}: {self.words}"


class NodeGrant(models.Model):
    """Permission of a node to serve one stage of a track."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="grants")
    track = models.ForeignKey("leaderboard.Track", on_delete=models.CASCADE, related_name="grants")
    stage = models.CharField(max_length=5, choices=[(s.value, s.value) for s in Stage])

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["node", "track", "stage"], name="grant_one")]

    def __str__(self) -> str:
        return f"{self.node}: {self.track} {self.stage}"


class GoldenRun(models.Model):
    """One part of one run of the golden program on a node's GPU: six times, from which the median is taken."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="golden_runs")
    gpu_uuid = models.CharField(max_length=110)
    name = models.CharField(max_length=10, choices=[("compute", "Compute"), ("copy", "Copy")])
    median_ms = models.FloatField()
    low_ms = models.FloatField()
    high_ms = models.FloatField()
    drift = models.FloatField(null=True, blank=True, help_text="Against the last 20 medians; 0.01 for 1 % slower.")
    ran_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["node", "gpu_uuid", "name", "ran_at"], name="golden_run_once"),
        ]

    def __str__(self) -> str:
        return f"golden {self.name} of {self.gpu_uuid} at {self.ran_at:%Y-%m-%d %H:%M}"


class JobState(models.TextChoices):
    QUEUED = "queued", "Queued"
    LEASED = "leased", "Leased"
    DONE = "done", "Done"
    CANCELLED = "cancelled", "Cancelled"


class Job(models.Model):
    """One stage of the work on an evaluation, a trial or a PMPP run. These rows are the queue.

    `fair_tag` is a start-time fair-queueing tag. A submission's n-th job gets the queue's present virtual time plus n,
    so that submissions of any size take turns in index order.
    """

    evaluation = models.ForeignKey(
        "leaderboard.Evaluation", null=True, blank=True, on_delete=models.CASCADE, related_name="jobs"
    )
    trial = models.ForeignKey("leaderboard.Trial", null=True, blank=True, on_delete=models.CASCADE, related_name="jobs")
    pmpp_run = models.ForeignKey(
        "leaderboard.PmppRun", null=True, blank=True, on_delete=models.CASCADE, related_name="jobs"
    )
    track = models.ForeignKey("leaderboard.Track", on_delete=models.PROTECT, related_name="jobs")
    stage = models.CharField(max_length=5, choices=[(s.value, s.value) for s in Stage])
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.QUEUED)
    priority = models.SmallIntegerField(default=0)
    fair_tag = models.BigIntegerField(default=0)
    n_attempts = models.PositiveSmallIntegerField(
        default=0, help_text="Attempts that were lost, and the one under way; those given back do not count."
    )
    n_given_back = models.PositiveSmallIntegerField(default=0, help_text="Attempts that nodes gave back in order.")
    n_unbegun = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Attempts that were lost before their work had begun."
    )
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    artefact = models.JSONField(null=True, blank=True, help_text="ArtefactRef of the build, for a run job.")
    only_on = models.ForeignKey(
        Node,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The one node that may run it.",
    )
    apart_from = models.ForeignKey(
        Node,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The node whose result it judges again. That node may not run it, nor one of the same join token.",
    )
    elsewhere = models.BooleanField(
        default=False, help_text="Whether nodes that were busy when they measured the sample may not run it."
    )
    cancel_requested = models.BooleanField(default=False)
    queued_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["track", "stage", *QUEUE_ORDER],
                condition=Q(state="queued"),
                name="job_queue",
            ),  # the claim
            models.Index(fields=["lease_expires_at"], condition=Q(state="leased"), name="job_leases"),  # the sweep
            models.Index(
                fields=["track"], condition=Q(state="queued", elsewhere=True), name="job_elsewhere"
            ),  # the sweep: whether a node is left for them
            models.Index(
                fields=["priority"], condition=Q(state="queued", priority__lte=-1000), name="job_placed_last"
            ),  # the dashboard
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["evaluation", "stage"], condition=Q(state__in=["queued", "leased"]), name="job_one_open"
            ),
            models.UniqueConstraint(
                fields=["trial", "stage"], condition=Q(state__in=["queued", "leased"]), name="job_one_open_trial"
            ),
            models.UniqueConstraint(
                fields=["pmpp_run", "stage"], condition=Q(state__in=["queued", "leased"]), name="job_one_open_pmpp_run"
            ),
            models.CheckConstraint(
                condition=Q(evaluation=None, trial__isnull=False, pmpp_run=None)
                | Q(evaluation__isnull=False, trial=None, pmpp_run=None)
                | Q(evaluation=None, trial=None, pmpp_run__isnull=False),
                name="job_of_one",
            ),
        ]

    def __str__(self) -> str:
        return f"job {self.pk} ({self.stage})"


class AttemptState(models.TextChoices):
    LEASED = "leased", "Leased"
    REPORTED = "reported", "Reported"
    EXPIRED = "expired", "Lease expired"
    FAULTED = "faulted", "Fault"
    GIVEN_BACK = "given_back", "Given back"
    CANCELLED = "cancelled", "Cancelled"


LOST = Q(state=AttemptState.FAULTED) | Q(state=AttemptState.EXPIRED, began_at__isnull=False)
"""Attempts that ended without a report of their sample, and that count: their work had begun."""
UNBEGUN = Q(state=AttemptState.EXPIRED, began_at=None)
"""Attempts that were lost before their work had begun. They are bounded apart."""
OPEN_TO_REPORTS = (AttemptState.LEASED, AttemptState.EXPIRED)
"""States in which a report is accepted. An expired attempt may report while no other attempt has taken the job."""


class Attempt(models.Model):
    """One try at a job by one node."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="attempts")
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    token_digest = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=AttemptState.choices, default=AttemptState.LEASED)
    work_stage = models.CharField(max_length=20, default=PREPARING)
    log_tail = models.TextField(blank=True)
    cases = models.JSONField(default=list, help_text="CaseReport rows of the cases finished so far.")
    uploads = models.JSONField(default=dict, help_text="sha256 → bytes of the blobs that it brought.")
    report_digest = models.CharField(max_length=64, blank=True)
    fault = models.TextField(blank=True)
    leased_at = models.DateTimeField(default=timezone.now)
    began_at = models.DateTimeField(null=True, blank=True, help_text="When the node fetched the solution.")
    heartbeat_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    to_score = models.BooleanField(
        default=False, db_default=False, help_text="Whether scores do not yet hold its result."
    )

    class Meta:
        ordering: ClassVar = ["-leased_at"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["job"], condition=Q(state="leased"), name="attempt_one_lease"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["node", "state"], name="attempts_of_node"),  # the node's page, its leases at boot
            models.Index(
                fields=["node", "ended_at"],
                condition=Q(state__in=["expired", "faulted", "given_back"]),
                name="faults_of_node",
            ),  # the chart of a node's faults
            models.Index(fields=["ended_at"], condition=Q(to_score=True), name="attempts_to_score"),  # score.py
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} at {self.job} by {self.node}"


class Recheck(models.Model):
    """A joined node's result that another node judges again; see rechecks.py."""

    live = models.ForeignKey("leaderboard.Evaluation", on_delete=models.CASCADE, related_name="rechecks")
    shadow = models.ForeignKey("leaderboard.Evaluation", on_delete=models.CASCADE, related_name="+")
    before = models.ForeignKey("leaderboard.Result", on_delete=models.CASCADE, related_name="+")
    after = models.ForeignKey("leaderboard.Result", null=True, on_delete=models.CASCADE, related_name="+")
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="rechecks")
    agrees = models.BooleanField(null=True, help_text="Null until another node has judged it.")
    time_ratio = models.FloatField(null=True, help_text="The second time over the first.")
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"recheck of {self.live} after {self.node}"


class SharedBuild(models.Model):
    """A build of a problem's own code that one node makes for all; see shared_builds.py."""

    key = models.CharField(
        max_length=64, unique=True, help_text="Digest of files, command, tools, processor and GPUs: nodes compute it."
    )
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="+", help_text="The node that builds it.")
    sha256 = models.CharField(max_length=64, blank=True, help_text="Blob: the build. Empty until it is made.")
    at = models.DateTimeField(default=timezone.now, help_text="When it was begun, made or last used, to the day.")

    def __str__(self) -> str:
        return f"build {self.key[:12]} of {self.node}"


class TaskLock(models.Model):
    """A lock among the site's workers; see task_locks.py."""

    name = models.CharField(max_length=200, primary_key=True)
    held_until = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class Pulse(models.Model):
    """When a part of the site's worker was last alive; see pulse.py."""

    name = models.CharField(max_length=20, primary_key=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} at {self.at:%Y-%m-%d %H:%M:%S}"


class BrokerFault(models.Model):
    """A refusal of the broker to the site: of a queue, or of everything if `queue` is empty; see broker_faults.py."""

    queue = models.CharField(max_length=200, unique=True, blank=True)
    words = models.CharField(max_length=300)
    since = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.queue or 'the broker'}: {self.words}"
