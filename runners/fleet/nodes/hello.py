"""Hello: a node sends its capabilities and learns its grants."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from runners.fleet.attempts.returns import lose
from runners.fleet.errors import NodeRefused
from runners.fleet.models import Attempt, AttemptState, Node, NodeChange
from runners.fleet.queue.fit import why_not
from runners.wire.protocol import Capabilities, Grant, Hello, Stage


def take(node: Node, said: Hello) -> list[Grant]:
    """Store the node's capabilities and its obstacle. Returns the grants that they fit.

    Raises NodeRefused: 409 (another_process) if another process with the node's token is at work.
    """
    if said.boot_id is not None:
        _note_boot(node, said.boot_id, said.state_id)
    if words := changed(node.capabilities, said.capabilities):
        NodeChange.objects.create(node=node, words=words[:MAX_WORDS])
    # a process that has not taken the name yet is not the one that is heard
    is_here = said.boot_id is not None or said.state_id in (None, node.state_id)
    Node.objects.filter(pk=node.pk).update(
        capabilities=said.capabilities.model_dump(mode="json"),
        protocol_version=said.protocol_version,
        obstacle=said.obstacle,
        **({"last_seen_at": timezone.now()} if is_here else {}),
    )
    grants = node.grants.select_related("track").order_by("pk")
    return [
        Grant(track=one.track.slug, stage=Stage(one.stage))
        for one in grants
        if not why_not(said.capabilities, one.track, Stage(one.stage))
    ]


MAX_WORDS = 500


def changed(before: dict[str, Any], now: Capabilities) -> str:
    """Which driver, toolkit, sandbox or image differs from the last hello's; "" for none, and at the first hello."""
    if not before:
        return ""
    old, new = _software(Capabilities.model_validate(before)), _software(now)
    names = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    return "; ".join(f"{name} {old.get(name) or 'none'} → {new.get(name) or 'none'}" for name in names)


def _software(found: Capabilities) -> dict[str, str]:
    """Software that a verdict or a time may depend on, by name."""
    drivers = ", ".join(sorted({gpu.driver for gpu in found.gpus if gpu.driver}))
    return {**found.toolkits, "driver": drivers, "sandbox": found.sandbox, "image": found.image}


def check_boot(node: Node, boot_id: UUID | None) -> None:
    """Raises NodeRefused if another start of the node has taken its place. Nodes before version 3 name none."""
    if boot_id is not None and node.boot_id is not None and boot_id != node.boot_id:
        raise NodeRefused(409, "another_process", ANOTHER)


ANOTHER = (
    "Another process with this node's token is at work. Stop it, or enrol this machine as a node of its own: "
    "`manage.py add_node`, or `podium node --join`."
)


def _note_boot(node: Node, boot_id: UUID, state_id: UUID | None) -> None:
    """End the attempts of a node's earlier life. Refuses a second process while the first one is heard.

    A start with the state folder of the last one is a restart and takes over at once. Nodes before version 3 tell no
    folder and take over, too.
    """
    if node.boot_id == boot_id:
        return
    if state_id is not None and node.state_id not in (None, state_id) and _is_heard(node):
        raise NodeRefused(409, "another_process", ANOTHER)
    # one UPDATE, so that only one of two simultaneous first hellos returns leases, and no newer ones
    renewed = Node.objects.filter(pk=node.pk, boot_id=node.boot_id).update(boot_id=boot_id, state_id=state_id)
    if not renewed:
        raise NodeRefused(409, "another_process", ANOTHER)
    if node.boot_id is not None:
        now = timezone.now()
        for attempt in Attempt.objects.filter(node=node, state=AttemptState.LEASED, leased_at__lt=now):
            lose(attempt, AttemptState.EXPIRED, f"node {node} was started anew while it worked on it")


def _is_heard(node: Node) -> bool:
    """Whether the process that holds the node's name has called within two heartbeats."""
    heard = timedelta(seconds=2 * settings.HEARTBEAT_SECONDS)
    return node.last_seen_at is not None and timezone.now() - node.last_seen_at < heard
