"""Brings the demo's rows into the database: release, track, node, people, entrants. Again changes nothing."""

import secrets
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify
from runners.agent.capabilities import cpu_model

from demo.entrants import DemoEntrant
from demo.seed_types import Seed
from leaderboard.actions.tracks import offer
from leaderboard.models import ApiToken, Entrant, Track
from leaderboard.models.audit import record
from leaderboard.models.token import Scope
from problems.actions import releases
from problems.formats.compute_eval.directory import read_problem_directory
from problems.models import Release
from runners.fleet.claim import digest_of
from runners.fleet.models import Node, NodeGrant
from runners.protocol import Stage

RELEASE = Path("examples/demo")
TOKEN_LIFE = timedelta(days=1)


@transaction.atomic
def seed(entrants: Sequence[DemoEntrant]) -> Seed:
    organiser = _user("demo-organiser", is_staff=True)
    participant = _user("demo", is_staff=False)
    track = _track()
    release = _release(organiser, track)
    for entrant in entrants:
        _entrant(entrant, participant)
    return Seed(
        release=release.slug,
        datapack_release=release.datapack_release,
        task_ids=dict(release.problems.values_list("slug", "task_id")),
        track=track.slug,
        api_token=_api_token(participant),
        node_token=_node_token(track),
    )


def _user(name: str, is_staff: bool) -> User:
    """An account without a password: nobody can sign in to it."""
    user, created = User.objects.get_or_create(username=name, defaults={"is_staff": is_staff})
    if created:
        user.set_unusable_password()
        user.save()
    return user


def _track() -> Track:
    model = cpu_model() or "unknown"
    slug = f"cpu-{slugify(model)}"[:100].rstrip("-")
    track, _ = Track.objects.get_or_create(
        slug=slug, defaults={"title": model, "device": "cpu", "hardware_name": model}
    )
    return track


def _release(organiser: User, track: Track) -> Release:
    release = releases.import_release(read_problem_directory(RELEASE)).release
    if release.is_draft:
        release.is_public = True
        release.save(update_fields=["is_public"])
        offer(organiser, release, track)
        releases.publish(release)
        record(organiser, "publish", release)
    offer(organiser, release, track)
    return release


def _entrant(entrant: DemoEntrant, owner: User) -> None:
    Entrant.objects.get_or_create(
        slug=entrant.slug,
        defaults={
            "name": entrant.title,
            "kind": entrant.kind,
            "organisation": entrant.organisation,
            "description": entrant.description,
            "owner": owner,
            "publishes_code": True,
        },
    )


def _api_token(user: User) -> str:
    now = timezone.now()
    ApiToken.objects.filter(user=user, name="demo", revoked_at=None).update(revoked_at=now)
    _, secret = ApiToken.issue(user, "demo", [Scope.READ, Scope.SUBMIT], now + TOKEN_LIFE)
    return secret


def _node_token(track: Track) -> str:
    secret = secrets.token_urlsafe(32)
    node, _ = Node.objects.update_or_create(
        slug="demo", defaults={"title": "This machine", "token_digest": digest_of(secret)}
    )
    for stage in (Stage.BOTH, Stage.BUILD, Stage.RUN):
        NodeGrant.objects.get_or_create(node=node, track=track, stage=stage)
    return secret
