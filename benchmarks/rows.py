"""Rows that several benchmarks start from. Import only inside `temporary_site`."""

import io
from typing import Any

from django.contrib.auth.models import User

from leaderboard.actions.curation.tracks import offer
from leaderboard.models import Entrant, Track
from problems.actions import releases
from problems.formats.compute_eval.packs import read_problem_pack
from problems.models import Release
from runners.fleet.nodes.enrol import add_node


def published_release(pack: bytes, organiser: User, track: Track) -> Release:
    """The pack as a public, published release that is offered on the track."""
    release = releases.import_release(read_problem_pack(io.BytesIO(pack))).release
    release.is_public = True
    release.save(update_fields=["is_public"])
    offer(organiser, release, track)
    releases.publish(release)
    return release


def cpu_track(**fields: Any) -> Track:
    return Track.objects.create(**({"slug": "cpu-bench", "title": "Benchmark", "device": "cpu"} | fields))


def organiser() -> User:
    return User.objects.create_user("organiser", is_staff=True)


def entrant(owner: User, name: str = "Measured") -> Entrant:
    return Entrant.objects.create(slug=name.lower(), name=name, owner=owner)


def node_token(track: Track) -> str:
    """The secret of a new node that may serve the track."""
    return add_node(None, "bench", [track])[1]
