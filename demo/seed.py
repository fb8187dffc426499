"""Brings the demo's rows into the database: people, node, track, releases, entrants. Again changes nothing."""

from datetime import timedelta

from allauth.account.utils import user_pk_to_url_str
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from demo.entrants import DemoEntrant
from demo.measured import MEASURED, as_file, seed_measured
from demo.releases import DemoRelease
from demo.seed_types import BoardName, LiveRelease, Seed
from leaderboard.actions.curation import curate
from leaderboard.actions.curation.tracks import offer
from leaderboard.actions.curation.verify import verify
from leaderboard.models import ApiToken, Entrant, Track
from leaderboard.models.accounts.token import Scope
from problems.formats.compute_eval.packs import ProblemPack
from problems.models import Release
from runners.agent.capabilities import find_out
from runners.agent.sandbox import Sandbox
from runners.fleet.models import Node
from runners.fleet.nodes.enrol import add_node, tracks_of
from runners.fleet.nodes.service import renew_token

NODE = "demo"
ORGANISER, PARTICIPANT = "demo-organiser", "demo"
TOKEN_LIFE = timedelta(days=1)


@transaction.atomic
def seed_site(sandbox: Sandbox) -> Seed:
    """People, the node with its track, and the boards that were measured elsewhere."""
    organiser, participant = _user(ORGANISER, is_organiser=True), _user(PARTICIPANT, is_organiser=False)
    _, node_token = _node(organiser, sandbox)
    imported = [seed_measured(organiser, lambda one: _entrant(one, participant), folder) for folder in MEASURED]
    return Seed(
        api_token=_api_token(participant),
        node_token=node_token,
        organiser_link=_sign_in_link(organiser),
        participant_link=_sign_in_link(participant),
        imported=[board for board in imported if board],
    )


@transaction.atomic
def seed_live(one: DemoRelease) -> LiveRelease:
    """A release that this machine grades: a draft, its checks queued, where no earlier run has published it."""
    organiser, participant = (User.objects.get(username=name) for name in (ORGANISER, PARTICIPANT))
    (track,) = tracks_of(organiser, Node.objects.get(slug=NODE))
    release = _release(organiser, track, one.pack)
    for entrant in one.entrants:
        _entrant(entrant, participant)
    return LiveRelease(
        board=BoardName(release.slug, track.slug),
        datapack_release=release.datapack_release,
        task_ids=dict(release.problems.values_list("slug", "task_id")),
        entrants=one.entrants,
    )


def _user(name: str, is_organiser: bool) -> User:
    """An account without a password: only the link that this run prints signs in to it."""
    rights = {"is_staff": is_organiser, "is_superuser": is_organiser}
    user, created = User.objects.update_or_create(username=name, defaults=rights)
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


def _release(organiser: User, track: Track, pack: ProblemPack) -> Release:
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


def _sign_in_link(user: User) -> str:
    names = {"uidb64": user_pk_to_url_str(user), "key": default_token_generator.make_token(user)}
    return reverse("demo_sign_in", kwargs=names)


def _api_token(user: User) -> str:
    now = timezone.now()
    ApiToken.objects.filter(user=user, name="demo", revoked_at=None).update(revoked_at=now)
    _, secret = ApiToken.issue(user, "demo", [Scope.READ, Scope.SUBMIT], now + TOKEN_LIFE)
    return secret
