"""Builds of problems' own code that one node makes and the others fetch: references and baselines, not solutions.

A node that an organiser has enrolled makes them. The site keeps the digest and the node of each, and hands out none of
a node that was taken out of service for a fault. A node that has joined by itself may fetch, and brings none.
"""

import tempfile
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum
from typing import BinaryIO

from django.utils import timezone

from leaderboard import blobs
from runners.fleet.attempts.uploads import CHUNK_BYTES, copied
from runners.fleet.errors import NodeRefused
from runners.fleet.models import Node, Service, SharedBuild

BUILDING_FOR = timedelta(minutes=5)
"""A build that was begun earlier and did not arrive is begun by another node."""
USED_GRAIN = timedelta(days=1)
_UNTRUSTED = (Service.DISABLED, Service.REVOKED)


class Advice(IntEnum):
    """The next act of a node that needs a build, as the status of the answer says it."""

    FETCH = 200
    BUILD = 201
    """Build it, then bring it."""
    WAIT = 202
    """Another node builds it."""
    BUILD_ALONE = 204
    """Build it, and keep it."""


@dataclass(frozen=True)
class Advised:
    advice: Advice
    sha256: str = ""
    """The digest of the build to fetch."""


def ask(node: Node, key: str) -> Advised:
    """Look a build up, or note that the node begins it. Of several that ask at once, one begins."""
    row = SharedBuild.objects.select_related("node").filter(key=key).first()
    if row is not None and _holds(row):
        if timezone.now() - row.at > USED_GRAIN:
            SharedBuild.objects.filter(pk=row.pk).update(at=timezone.now())
        return Advised(Advice.FETCH, row.sha256)
    if node.joined_by_id is not None:
        return Advised(Advice.BUILD_ALONE)
    return Advised(Advice.BUILD if _begin(node, key, row) else Advice.WAIT)


def take(node: Node, key: str, n_bytes: int, source: BinaryIO) -> None:
    """Store the build that the node began; of no bytes, it has failed and another node may begin.

    Raises NodeRefused: 409 (not_begun) and BlobsUnavailable.
    """
    begun = SharedBuild.objects.filter(key=key, node=node, sha256="")
    if node.joined_by_id is not None or not begun.exists():
        raise NodeRefused(409, "not_begun", "This node is not the one that builds it for all.")
    if n_bytes == 0:
        begun.delete()
        return
    with tempfile.SpooledTemporaryFile(max_size=CHUNK_BYTES) as file:
        sha256 = copied(source, file, n_bytes)
        file.seek(0)
        blobs.store().put_file(sha256, file)
    begun.update(sha256=sha256, at=timezone.now())


def _holds(row: SharedBuild) -> bool:
    """Whether the site vouches for it."""
    is_trusted = row.node.joined_by_id is None and row.node.service not in _UNTRUSTED
    return bool(row.sha256) and is_trusted and blobs.store().has(row.sha256)


def _begin(node: Node, key: str, row: SharedBuild | None) -> bool:
    """Note that the node builds it, unless another one does."""
    now = timezone.now()
    if row is None:
        SharedBuild.objects.bulk_create([SharedBuild(key=key, node=node, at=now)], ignore_conflicts=True)
        return SharedBuild.objects.filter(key=key, node=node, sha256="", at=now).exists()
    if not row.sha256 and row.node_id != node.pk and now - row.at < BUILDING_FOR:
        return False
    same = SharedBuild.objects.filter(pk=row.pk, node=row.node_id, sha256=row.sha256, at=row.at)
    return bool(same.update(node=node, sha256="", at=now))
