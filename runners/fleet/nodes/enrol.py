"""Enrols nodes: tokens, which are shown once, grants, and tracks from a node's hardware."""

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.models import Track
from leaderboard.models.audit import record
from runners.fleet.attempts.claim import digest_of
from runners.fleet.models import Node, NodeGrant
from runners.fleet.nodes.health import fill_tracks
from runners.fleet.queue.fit import toolkit_of, version_of
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


@dataclass(frozen=True)
class TrackDraft:
    """A track that a node's hardware could serve, as its row's values."""

    slug: str
    fields: Mapping[str, Any]

    @property
    def title(self) -> str:
        return str(self.fields["title"])


def track_drafts(node: Node) -> list[TrackDraft]:
    """A track for each GPU model of the node's last hello, then one for its CPU.

    Raises Refused if the node has not reported its hardware, or has a GPU and no toolkit.
    """
    found = Capabilities.model_validate(node.capabilities)
    if not found.gpus and not found.cpu_model:
        raise Refused("nothing_known", f"{node.slug} has not reported its hardware yet. Start its agent first.")
    gpus = {gpu.name: gpu for gpu in found.gpus}
    return [*(_gpu_draft(gpu, found) for gpu in gpus.values()), *([_cpu_draft(found)] if found.cpu_model else [])]


def tracks_of(user: Any, node: Node) -> list[Track]:
    """Make and grant the tracks of the node's hardware: one per GPU model, else one for its CPU."""
    _check(user)
    drafts = track_drafts(node)
    gpus = [one for one in drafts if one.fields["device"] == "gpu"]
    return make_tracks(user, node, gpus or drafts)


@transaction.atomic
def make_tracks(user: Any, node: Node, drafts: Iterable[TrackDraft]) -> list[Track]:
    """Make those of the tracks that do not exist, and grant all of them to the node."""
    _check(user)
    tracks = [_track(user, one) for one in drafts]
    for track in tracks:
        grant(user, node, track, GPU_STAGES if track.device == "gpu" else [Stage.BOTH])
    fill_tracks(node)
    return tracks


def _gpu_draft(gpu: GpuCapability, found: Capabilities) -> TrackDraft:
    toolkit = toolkit_of(found)
    if not toolkit:
        raise Refused(
            "no_toolkit", f"The node has {gpu.name} but no nvcc. Install the CUDA toolkit and start it again."
        )
    fields = {
        "title": f"{gpu.name}, CUDA {toolkit}",
        "device": "gpu",
        "hardware_name": gpu.name,
        "compute_capability": gpu.compute_capability,
        "toolkit": toolkit,
        "splits_jobs": True,
    }
    return TrackDraft(f"{slugify(gpu.name)}-cuda{toolkit}"[:100], fields)


def _cpu_draft(found: Capabilities) -> TrackDraft:
    compiler = version_of(found.toolkits.get("g++", ""))
    suffix, words = (f"-gcc{compiler}", f", g++ {compiler}") if compiler else ("", "")
    model = " ".join(_MARKS.sub(" ", found.cpu_model).split())
    fields = {"title": f"{model}{words}"[:200], "device": "cpu", "hardware_name": found.cpu_model[:200]}
    return TrackDraft(f"cpu-{slugify(model)}{suffix}"[:100], fields)


def _track(user: Any, draft: TrackDraft) -> Track:
    track, created = Track.objects.get_or_create(slug=draft.slug, defaults=dict(draft.fields))
    if created:
        record(user, "add", track)
    return track
