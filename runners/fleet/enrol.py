"""Enrols nodes: tokens, which are shown once, grants, disabling with a reason, and tracks from a node's hardware."""

import re
import secrets
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.models import Track
from leaderboard.models.audit import record
from runners.fleet.claim import digest_of
from runners.fleet.health import fill_tracks
from runners.fleet.match import toolkit_of, version_of
from runners.fleet.models import Node, NodeGrant
from runners.wire.protocol import Capabilities, GpuCapability, Stage

PREFIX = "pdn_"
GPU_STAGES = (Stage.BUILD, Stage.RUN, Stage.BOTH)
"""Stages of a GPU track. Its jobs are split so that other nodes may build for it; `both` serves unsplit jobs."""
_MARKS = re.compile(r"\((?:R|TM|C)\)|@.*$|\b(?:CPU|Processor|\d+-Core)\b", re.IGNORECASE)


def _check(user: Any) -> None:
    if user is not None and not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser enrols nodes.")


@transaction.atomic
def add_node(
    user: Any, slug: str, tracks: Iterable[Track], stages: Sequence[Stage] = (Stage.BOTH,), title: str = ""
) -> tuple[Node, str]:
    """Make a node and its token, which cannot be read again. `user` None is the site's own shell."""
    _check(user)
    if slugify(slug) != slug:
        raise Refused("bad_slug", f"{slug!r} is not a slug; use lower-case letters, digits and hyphens, as in 'gpu-1'.")
    if Node.objects.filter(slug=slug).exists():
        raise Conflict("node_exists", f"Node {slug!r} exists already. Choose another name, or renew its token.")
    secret = PREFIX + secrets.token_urlsafe(32)
    node = Node.objects.create(slug=slug, title=title, token_digest=digest_of(secret))
    record(user, "add", node)
    for track in tracks:
        grant(user, node, track, stages)
    return node, secret


def grant(user: Any, node: Node, track: Track, stages: Iterable[Stage]) -> None:
    """Let the node serve these stages of the track, in addition to its other grants."""
    _check(user)
    for stage in stages:
        _, created = NodeGrant.objects.get_or_create(node=node, track=track, stage=stage)
        if created:
            record(user, "grant", node, track=track.slug, stage=stage.value)


def renew_token(user: Any, node: Node) -> str:
    """Make a new token. The old one stops working at once."""
    _check(user)
    secret = PREFIX + secrets.token_urlsafe(32)
    Node.objects.filter(pk=node.pk).update(token_digest=digest_of(secret))
    record(user, "renew token", node)
    return secret


def disable(user: Any, node: Node, reason: str) -> None:
    """Give the node no more work. It may finish its present work. The reason is public."""
    _check(user)
    if not reason.strip():
        raise Refused("reason_needed", "Give a reason. It is shown on the node's page.")
    Node.objects.filter(pk=node.pk).update(disabled_reason=reason.strip()[:500])
    record(user, "disable", node, reason)


def enable(user: Any, node: Node, reason: str = "") -> None:
    _check(user)
    Node.objects.filter(pk=node.pk).update(disabled_reason="")
    record(user, "enable", node, reason)


@transaction.atomic
def tracks_of(user: Any, node: Node) -> list[Track]:
    """Make and grant the tracks of the node's hardware: one per GPU model, else one for its CPU."""
    _check(user)
    found = Capabilities.model_validate(node.capabilities)
    if not found.gpus and not found.cpu_model:
        raise Refused("nothing_known", f"{node.slug} has not reported its hardware yet. Start its agent first.")
    gpus = {gpu.name: gpu for gpu in found.gpus}
    tracks = [_gpu_track(user, gpu, found) for gpu in gpus.values()] or [_cpu_track(user, found)]
    for track in tracks:
        grant(user, node, track, GPU_STAGES if track.device == "gpu" else [Stage.BOTH])
    fill_tracks(node)
    return tracks


def _gpu_track(user: Any, gpu: GpuCapability, found: Capabilities) -> Track:
    toolkit = toolkit_of(found)
    if not toolkit:
        raise Refused(
            "no_toolkit", f"The node has {gpu.name} but no nvcc. Install the CUDA toolkit and start it again."
        )
    return _track(
        user,
        f"{slugify(gpu.name)}-cuda{toolkit}",
        title=f"{gpu.name}, CUDA {toolkit}",
        device="gpu",
        hardware_name=gpu.name,
        compute_capability=gpu.compute_capability,
        toolkit=toolkit,
        splits_jobs=True,
    )


def _cpu_track(user: Any, found: Capabilities) -> Track:
    compiler = version_of(found.toolkits.get("g++", ""))
    suffix, words = (f"-gcc{compiler}", f", g++ {compiler}") if compiler else ("", "")
    model = " ".join(_MARKS.sub(" ", found.cpu_model).split())
    slug = f"cpu-{slugify(model)}{suffix}"
    return _track(user, slug, title=f"{model}{words}"[:200], device="cpu", hardware_name=found.cpu_model[:200])


def _track(user: Any, slug: str, **fields: Any) -> Track:
    track, created = Track.objects.get_or_create(slug=slug[:100], defaults=fields)
    if created:
        record(user, "add", track)
    return track
