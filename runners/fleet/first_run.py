"""The fleet's steps of a fresh site's panel: a node that has reported its hardware, and a track for it."""

from django.urls import reverse

from leaderboard.admin import first_run
from leaderboard.admin.first_run import FirstStep
from leaderboard.models import Track
from leaderboard.models.boards.track import NO_HARDWARE
from runners.fleet.models import Node

MANAGE = ".venv/bin/python manage.py"
SHOWN = 3


def _node() -> FirstStep:
    nodes, page = list(Node.objects.order_by("slug")[:SHOWN]), reverse("admin:fleet_node_changelist")
    if not nodes:
        state = "none: a node builds, tests and times samples"
        return FirstStep("Node", False, state, f"{MANAGE} add_node this-machine", page, "Nodes")
    if seen := [node.slug for node in nodes if node.last_seen_at]:
        return FirstStep("Node", True, ", ".join(seen), "", page, "Nodes")
    state = f"{nodes[0].slug} is enrolled and was never seen: start its agent with the lines that enrolling printed"
    return FirstStep("Node", False, state, ".venv/bin/podium node", page, "Nodes")


def _track() -> FirstStep:
    tracks = Track.objects.exclude(slug=NO_HARDWARE).order_by("slug").values_list("slug", flat=True)
    named, page = list(tracks[:SHOWN]), reverse("admin:leaderboard_track_changelist")
    if named:
        return FirstStep("Track", True, ", ".join(named), "", page, "Tracks")
    seen = Node.objects.exclude(last_seen_at=None).order_by("slug").values_list("slug", flat=True).first()
    command = f"{MANAGE} add_track --from-node {seen}" if seen else ""
    state = "none: a track is what results are compared within, such as a model of GPU with its toolkit"
    return FirstStep(
        "Track", False, state if seen else f"{state}; the node's hardware makes it", command, page, "Tracks"
    )


def register() -> None:
    """Put both steps before the release's."""
    for make in (_node, _track):
        first_run.register(make)
