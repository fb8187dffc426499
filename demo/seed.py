"""Brings the demo's rows into the database: releases, track, node, people, entrants. Again changes nothing."""

from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from demo.entrants import DemoEntrant
from demo.measured import MEASURED, as_file, seed_measured
from demo.releases import DemoRelease
from demo.seed_types import BoardName, LiveRelease, Seed
from leaderboard.actions import curate
from leaderboard.actions.tracks import offer
from leaderboard.actions.verify import verify
from leaderboard.models import ApiToken, Entrant, Track
from leaderboard.models.token import Scope
from problems.formats.compute_eval.packs import ProblemPack
from problems.models import Release
from runners.agent.capabilities import find_out
from runners.agent.sandbox import Sandbox
from runners.fleet.enrol import add_node, tracks_of
from runners.fleet.models import Node
from runners.fleet.service import renew_token

NODE = "demo"
ORGANISER = "demo-organiser"
TOKEN_LIFE = timedelta(days=1)


@transaction.atomic
def seed(releases: Sequence[DemoRelease], sandbox: Sandbox) -> Seed:
    organiser = _user(ORGANISER, is_staff=True)
    participant = _user("demo", is_staff=False)
    node, node_token = _node(organiser, sandbox)
    (track,) = tracks_of(organiser, node)
    live = [_live(organiser, participant, track, one) for one in releases]
    imported = [seed_measured(organiser, lambda one: _entrant(one, participant), folder) for folder in MEASURED]
    return Seed(
        live=live,
        api_token=_api_token(participant),
        node_token=node_token,
        imported=[board for board in imported if board],
    )


def _user(name: str, is_staff: bool) -> User:
    """An account without a password: nobody can sign in to it."""
    user, created = User.objects.get_or_create(username=name, defaults={"is_staff": is_staff})
    if created:
        user.set_unusable_password()
        user.save()
    return user


def _node(organiser: User, sandbox: Sandbox) -> tuple[Node, str]:
    """This machine as a node, and its token, new in every run. Its GPUs are left out: the demo is for CPUs."""
    node = Node.objects.filter(slug=NODE).first()
    if node is None:
        node, secret = add_node(organiser, NODE, [], title="This machine")
    else:
        secret = renew_token(organiser, node)
    found = find_out(sandbox).model_copy(update={"gpus": []})
    node.capabilities = found.model_dump(mode="json")
    node.save(update_fields=["capabilities"])
    return node, secret


def _live(organiser: User, participant: User, track: Track, one: DemoRelease) -> LiveRelease:
    release = _release(organiser, track, one.pack)
    for entrant in one.entrants:
        _entrant(entrant, participant)
    return LiveRelease(
        board=BoardName(release.slug, track.slug),
        datapack_release=release.datapack_release,
        task_ids=dict(release.problems.values_list("slug", "task_id")),
        entrants=one.entrants,
    )


def _release(organiser: User, track: Track, pack: ProblemPack) -> Release:
    """A draft, its checks queued, where no earlier run has published it."""
    release = curate.import_release(organiser, as_file(pack)).release
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
