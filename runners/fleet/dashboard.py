"""The fleet's panels on the admin's dashboard: nodes that need a person, and tracks whose queue nobody serves."""

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet
from django.urls import reverse

from leaderboard.admin import dashboard
from leaderboard.admin.dashboard import SHOWN_LINES, Panel, PanelLine
from leaderboard.models import Rejudge, RejudgeState, Track
from runners.fleet.again.rechecks import has_takers
from runners.fleet.models import LAST_PRIORITY, Job, JobState, Node, NodeGrant, Service, online

DRIFT_LIMIT = 0.02


def ill_nodes() -> QuerySet[Node]:
    """Nodes that are disabled, have an obstacle of their own, have drifted, or serve tracks and are not online."""
    drifted = Q(last_drift__gt=DRIFT_LIMIT) | Q(last_drift__lt=-DRIFT_LIMIT)
    serves = Exists(NodeGrant.objects.filter(node=OuterRef("pk")))
    return Node.objects.exclude(service=Service.RETIRED).filter(
        ~Q(disabled_reason="") | ~Q(obstacle="") | drifted | (~online() & serves)
    )


def why_ill(node: Node) -> str:
    if node.disabled_reason:
        return f"disabled: {node.disabled_reason}"
    if not node.is_online:
        return f"not seen for {dashboard.ago(node.last_seen_at)}" if node.last_seen_at else "never seen"
    if node.obstacle:
        return f"takes no work: {node.obstacle}"
    return f"its golden program is off by {node.last_drift or 0:+.1%}"


@dashboard.register("fleet.view_node")
def _ill_nodes() -> Panel:
    rows = ill_nodes()
    return Panel(
        "Ill nodes",
        "Disabled, held up, drifted, or enrolled for a track and not online.",
        reverse("admin:fleet_node_changelist", query={"health": "ill"}),
        dashboard.bounded_count(rows),
        [
            PanelLine(node.slug, reverse("admin:fleet_node_change", args=[node.pk]), why_ill(node))
            for node in rows[:SHOWN_LINES]
        ],
        "Every node is well.",
    )


def failed_verifications() -> QuerySet[Rejudge]:
    """Verifications of published references that found one which passes no more."""
    return Rejudge.objects.filter(is_verification=True, state=RejudgeState.READY)


@dashboard.register("leaderboard.view_rejudge")
def _failed_verifications() -> Panel:
    rows = failed_verifications()
    shown = rows.select_related("release", "track").order_by("-started_at")[:SHOWN_LINES]
    return Panel(
        "References that fail again",
        "Published references that passed, and fail when they are verified again.",
        reverse("admin:leaderboard_rejudge_changelist", query={"is_verification__exact": 1, "state__exact": "ready"}),
        dashboard.bounded_count(rows),
        [
            PanelLine(
                f"{one.release} on {one.track}", reverse("admin:leaderboard_rejudge_change", args=[one.pk]), one.reason
            )
            for one in shown
        ],
        "Every reference still passes.",
    )


def served_tracks() -> QuerySet[Track]:
    """Tracks that an online node which takes work is granted."""
    fit = online("grants__node__")
    fit &= Q(grants__node__disabled_reason="", grants__node__obstacle="")
    return Track.objects.filter(fit).order_by().distinct()


@dashboard.register("leaderboard.view_track")
def _unserved_tracks() -> Panel:
    queued = Job.objects.filter(has_takers(), state=JobState.QUEUED)
    waiting = queued.exclude(track__in=served_tracks().values("pk")).order_by()
    rows = waiting.values("track", "track__slug").annotate(n=Count("pk"), oldest=Min("queued_at")).order_by("oldest")
    found = list(rows)
    return Panel(
        "Tracks without a node",
        "They have queued work, and no online node takes it.",
        reverse("admin:leaderboard_track_changelist"),
        str(len(found)),
        [
            PanelLine(
                row["track__slug"],
                reverse("admin:leaderboard_track_change", args=[row["track"]]),
                f"{row['n']} queued, the oldest for {dashboard.ago(row['oldest'])}",
            )
            for row in found[:SHOWN_LINES]
        ],
        "Every queue has a node.",
    )


@dashboard.register("fleet.view_job")
def _placed_last() -> Panel:
    rows = Job.objects.filter(state=JobState.QUEUED, priority__lte=LAST_PRIORITY).order_by("queued_at")
    return Panel(
        "Jobs placed last",
        "Nodes gave them back, or lost them before their work had begun, twenty times.",
        reverse("admin:fleet_job_changelist", query={"state__exact": "queued"}),
        dashboard.bounded_count(rows),
        [
            PanelLine(
                str(job),
                reverse("admin:fleet_job_change", args=[job.pk]),
                f"{job.n_given_back} given back, {job.n_unbegun} lost unbegun",
            )
            for job in rows[:SHOWN_LINES]
        ],
        "No job goes back again and again.",
    )
