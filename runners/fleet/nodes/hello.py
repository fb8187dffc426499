"""Hello: a node sends its capabilities and learns its grants."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from runners.fleet.attempts.returns import give_back, lose
from runners.fleet.models import Attempt, AttemptState, Node, NodeChange
from runners.fleet.queue.fit import why_not
from runners.wire.protocol import Capabilities, Grant, Hello, Stage


def take(node: Node, said: Hello) -> list[Grant]:
    """Store the node's capabilities and its obstacle. Returns the grants that they fit."""
    if words := changed(node.capabilities, said.capabilities):
        NodeChange.objects.create(node=node, words=words[:MAX_WORDS])
    Node.objects.filter(pk=node.pk).update(
        capabilities=said.capabilities.model_dump(mode="json"),
        protocol_version=said.protocol_version,
        obstacle=said.obstacle,
        last_seen_at=timezone.now(),
    )
    if said.boot_id is not None:
        _note_boot(node, said.boot_id)
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


def _note_boot(node: Node, boot_id: UUID) -> None:
    """End the attempts of a node's earlier life. Those whose work had begun are lost and count; the others go back."""
    if node.boot_id == boot_id:
        return
    # one UPDATE, so that only one of two simultaneous first hellos returns leases, and no newer ones
    renewed = Node.objects.filter(pk=node.pk, boot_id=node.boot_id).update(boot_id=boot_id)
    if renewed and node.boot_id is not None:
        now = timezone.now()
        for attempt in Attempt.objects.filter(node=node, state=AttemptState.LEASED, leased_at__lt=now):
            if attempt.began_at is None:
                give_back(attempt)
            else:
                lose(attempt, AttemptState.EXPIRED, f"node {node} was started anew while it worked on it")
