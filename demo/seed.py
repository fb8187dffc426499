"""Brings the demo's rows into the database: release, track, node, people, entrants. Again changes nothing."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from demo.entrants import DemoEntrant
from demo.seed_types import Seed
from demo.showcase import seed_showcase
from leaderboard.actions import curate
from leaderboard.actions.tracks import offer
from leaderboard.actions.verify import verify
from leaderboard.models import ApiToken, Entrant, Track
from leaderboard.models.token import Scope
from problems.models import Release
from runners.agent.capabilities import find_out
from runners.agent.sandbox import choose
from runners.fleet.enrol import add_node, renew_token, tracks_of
from runners.fleet.models import Node

RELEASE = Path("examples/demo")
NODE = "demo"
ORGANISER = "demo-organiser"
TOKEN_LIFE = timedelta(days=1)


@transaction.atomic
def seed(entrants: Sequence[DemoEntrant]) -> Seed:
    organiser = _user(ORGANISER, is_staff=True)
    participant = _user("demo", is_staff=False)
    node, node_token = _node(organiser)
    (track,) = tracks_of(organiser, node)
    release = _release(organiser, track)
    for entrant in entrants:
        _entrant(entrant, participant)
    showcase = seed_showcase(organiser, lambda one: _entrant(one, participant))
    return Seed(
        release=release.slug,
        datapack_release=release.datapack_release,
        task_ids=dict(release.problems.values_list("slug", "task_id")),
        track=track.slug,
        api_token=_api_token(participant),
        node_token=node_token,
        showcase=showcase,
    )


def _user(name: str, is_staff: bool) -> User:
    """An account without a password: nobody can sign in to it."""
    user, created = User.objects.get_or_create(username=name, defaults={"is_staff": is_staff})
    if created:
        user.set_unusable_password()
        user.save()
    return user


def _node(organiser: User) -> tuple[Node, str]:
    """This machine as a node, and its token, new in every run. Its GPUs are left out: the demo is for CPUs."""
    node = Node.objects.filter(slug=NODE).first()
    if node is None:
        node, secret = add_node(organiser, NODE, [], title="This machine")
    else:
        secret = renew_token(organiser, node)
    found = find_out(choose()).model_copy(update={"gpus": []})
    node.capabilities = found.model_dump(mode="json")
    node.save(update_fields=["capabilities"])
    return node, secret


def _release(organiser: User, track: Track) -> Release:
    """A draft, its checks queued, where no earlier run has published it."""
    release = curate.import_release(organiser, RELEASE).release
    offer(organiser, release, track)
    if release.is_draft:
        curate.make_public(organiser, release)
        verify(organiser, release, track)
    return release


def _entrant(entrant: DemoEntrant, owner: User) -> Entrant:
    made, _ = Entrant.objects.get_or_create(
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
    return made


def _api_token(user: User) -> str:
    now = timezone.now()
    ApiToken.objects.filter(user=user, name="demo", revoked_at=None).update(revoked_at=now)
    _, secret = ApiToken.issue(user, "demo", [Scope.READ, Scope.SUBMIT], now + TOKEN_LIFE)
    return secret
