"""Every address of the pages, asked for by everybody: a new one without an entry here fails."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.accounts import notify
from leaderboard.actions.curation import curate
from leaderboard.actions.curation.decide import decide_flag
from leaderboard.actions.entrants import transfers
from leaderboard.actions.entrants.teams import invite_to_team
from leaderboard.models import Entrant, Flag, PmppToken, Trial, Webhook
from leaderboard.web.urls import urlpatterns
from tests import factories
from tests.made_once import copied, of_module
from tests.markup import markup
from tests.strangers import MOVED, NOT_ALLOWED, NOT_FOUND, OK, Arguments, Place


def _nothing(_: Place) -> list[Any]:
    return []


def _release(place: Place) -> list[Any]:
    return [place.release.slug]


def _frozen(place: Place) -> list[Any]:
    curate.freeze(place.cast.organiser, place.release)
    return [place.release.slug, place.evaluation.track.slug]


def _differences(_: Place) -> list[Any]:
    return ["differences"]


def _problem(place: Place) -> list[Any]:
    return [place.release.slug, place.problem.slug]


def _submission(place: Place) -> list[Any]:
    return [place.stored.pk]


def _evaluation(place: Place) -> list[Any]:
    return [place.evaluation.pk]


def _sample(place: Place) -> list[Any]:
    return [place.stored.pk, place.evaluation.sample_id]


def _trial(place: Place) -> list[Any]:
    facts = {"user": place.cast.owner, "problem": place.problem, "track": place.evaluation.track}
    outcome = {"steps": [], "listing": place.evaluation.current_result.listing}
    return [Trial.objects.create(**facts, solution_bytes=1, state="done", outcome=outcome).pk]


def _pmpp_token(place: Place) -> list[Any]:
    facts = {"user": place.cast.owner, "entrant": place.cast.entrant, "release": place.release}
    facts |= {"track": place.evaluation.track, "name": "run 7", "daily_runs": 1}
    return [PmppToken.issue(timezone.now() + timedelta(days=1), **facts)[0].pk]


def _webhook(place: Place) -> list[Any]:
    return [Webhook.objects.create(user=place.cast.owner, url="https://example.org/hook").pk]


def _ruling(place: Place) -> list[Any]:
    flag = Flag.objects.create(result=place.evaluation.current_result, code="left_early", scope="verdict")
    return [decide_flag(place.cast.organiser, flag, upheld=True, public_reason="It left early.").pk]


def _entrant(place: Place) -> list[Any]:
    return [place.cast.entrant.slug]


def _badge(place: Place) -> list[Any]:
    return [place.release.slug, place.evaluation.track.slug, place.cast.entrant.slug]


def _offered(place: Place) -> list[Any]:
    transfers.offer(place.cast.owner, place.cast.entrant, place.cast.teammate)
    return [place.cast.entrant.slug]


def _offer_to_owner(place: Place) -> list[Any]:
    return [transfers.offer(place.cast.stranger, place.cast.strangers_entrant, place.cast.owner).pk]


def _team(place: Place) -> list[Any]:
    return [place.cast.entrant.team.slug]


def _team_invitation(place: Place) -> list[Any]:
    team = place.cast.entrant.team
    return [team.slug, invite_to_team(place.cast.owner, team, "member", join_url="/")[0].pk]


def _membership(place: Place) -> list[Any]:
    team = place.cast.entrant.team
    return [team.slug, team.memberships.get(user=place.cast.teammate).pk]


# name → its arguments, the method, and the status for: nobody, a stranger, the owner of the submission, an organiser.
# The release is private and its results hidden; the owner is invited.
TABLE: dict[str, tuple[Arguments, str, int, int, int, int]] = {
    "home": (_nothing, "get", OK, OK, OK, OK),
    "livez": (_nothing, "get", OK, OK, OK, OK),
    "about": (_nothing, "get", OK, OK, OK, OK),
    "request_invitation": (_nothing, "get", NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND),
    "robots": (_nothing, "get", OK, OK, OK, OK),
    "sitemap": (_nothing, "get", OK, OK, OK, OK),
    "sitemap_section": (lambda _: ["releases"], "get", OK, OK, OK, OK),
    "site_feed": (_nothing, "get", OK, OK, OK, OK),
    "framed_board": (_release, "get", NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND),  # as a stranger, whoever asks
    "release_feed": (_release, "get", NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND),
    "changelog": (_release, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "audit": (_release, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "coverage": (_release, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "card": (_release, "get", NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND),
    "badge": (_badge, "get", NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND),
    "releases": (_nothing, "get", OK, OK, OK, OK),
    "search": (_nothing, "get", OK, OK, OK, OK),
    "entrants": (_nothing, "get", OK, OK, OK, OK),
    "board": (_release, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "runtimes": (_problem, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "board_row": (lambda p: [p.release.slug, p.cast.entrant.slug], "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "board_csv": (_release, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "board_json": (_release, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "snapshot": (_frozen, "get", NOT_FOUND, NOT_FOUND, NOT_FOUND, OK),
    "compare": (_nothing, "get", OK, OK, OK, OK),  # it names no release, so it asks for one
    "compare_chart": (_differences, "get", NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND),
    "compare_code": (_nothing, "get", NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND),  # it names no problem
    "charts": (_release, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "chart": (lambda p: [p.release.slug, "fast-p"], "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "problems": (_release, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "problem": (_problem, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "roofline": (_problem, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "sizes": (_problem, "get", NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND),
    "processes": (_problem, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "submit_typed": (_problem, "post", MOVED, NOT_FOUND, 422, 422),
    "ask_about": (_problem, "post", MOVED, NOT_FOUND, 422, 422),
    "run_typed": (_problem, "post", MOVED, NOT_FOUND, 422, 422),
    "save_draft": (_problem, "post", MOVED, NOT_FOUND, MOVED, MOVED),
    "trial": (_trial, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "trial_machine_code": (_trial, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "trial_listing": (_trial, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "starter_kit": (_release, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "release_submissions": (_release, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "release_about": (_release, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "release_flags": (_release, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "decisions": (_release, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "decisions_csv": (_release, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "decisions_json": (_release, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "appeal_decision": (_ruling, "post", MOVED, NOT_FOUND, MOVED, MOVED),
    "entrant": (_entrant, "get", OK, OK, OK, OK),
    "entrant_chart": (
        lambda p: [p.cast.entrant.slug, "history"], "get", OK, OK, OK, OK,
    ),  # of boards that are hidden it has nothing
    "submit": (_nothing, "get", MOVED, OK, OK, OK),
    "submission": (_submission, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "submission_samples": (_submission, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "cancel_submission": (_submission, "post", MOVED, NOT_FOUND, MOVED, MOVED),
    "choose_submission": (_submission, "post", MOVED, NOT_FOUND, MOVED, MOVED),
    "rerun_submission": (_submission, "post", MOVED, NOT_FOUND, MOVED, MOVED),
    "rollouts": (_submission, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "rollout_text": (lambda p: [*_sample(p), "record"], "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "note_rollout": (_sample, "post", MOVED, NOT_FOUND, NOT_FOUND, MOVED),
    "submission_failures": (_submission, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "release_failures": (_release, "get", NOT_FOUND, NOT_FOUND, NOT_FOUND, OK),
    "download_submission": (_submission, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "evaluation": (_evaluation, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "evaluation_runs": (_evaluation, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "evaluation_log": (lambda p: [p.evaluation.pk, "build"], "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "evaluation_solution": (_evaluation, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "evaluation_profile": (_evaluation, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "evaluation_machine_code": (_evaluation, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "evaluation_listing": (_evaluation, "get", NOT_FOUND, NOT_FOUND, OK, OK),
    "rerun_evaluation": (_evaluation, "post", MOVED, NOT_FOUND, MOVED, MOVED),
    "account": (_nothing, "get", MOVED, OK, OK, OK),
    "new_token": (_nothing, "post", MOVED, 422, 422, 422),
    "revoke_token": (lambda p: [p.token.pk], "post", MOVED, NOT_FOUND, MOVED, NOT_FOUND),
    "own_submissions": (_nothing, "get", MOVED, OK, OK, OK),
    "own_samples": (_nothing, "get", MOVED, OK, OK, OK),
    "notifications": (_nothing, "get", MOVED, OK, OK, OK),
    "switch_mail": (_nothing, "post", MOVED, MOVED, MOVED, MOVED),
    "new_feed": (_nothing, "post", MOVED, 201, 201, 201),
    "revoke_feed": (_nothing, "post", MOVED, MOVED, MOVED, MOVED),
    "personal_feed": (lambda p: [notify.new_feed(p.cast.owner)], "get", OK, OK, OK, OK),
    "new_webhook": (_nothing, "post", MOVED, 422, 422, 422),
    "switch_webhook": (_webhook, "post", MOVED, NOT_FOUND, MOVED, NOT_FOUND),
    "test_webhook": (_webhook, "post", MOVED, NOT_FOUND, MOVED, NOT_FOUND),
    "new_webhook_secret": (_webhook, "post", MOVED, NOT_FOUND, 201, NOT_FOUND),
    "delete_webhook": (_webhook, "post", MOVED, NOT_FOUND, MOVED, NOT_FOUND),
    "pmpp_tokens": (_nothing, "get", MOVED, OK, OK, OK),
    "new_pmpp_token": (_nothing, "post", MOVED, 422, 422, 422),
    "pmpp_runs": (_pmpp_token, "get", MOVED, NOT_FOUND, OK, OK),
    "revoke_pmpp_token": (_pmpp_token, "post", MOVED, NOT_FOUND, MOVED, MOVED),
    "new_entrant": (_nothing, "get", MOVED, OK, OK, OK),
    "edit_entrant": (_entrant, "get", MOVED, NOT_FOUND, OK, NOT_FOUND),
    "demo_sign_in": (lambda _: ["MQ", "x"], "get", NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND),  # this is no demo
    "tokens": (_nothing, "get", MOVED, OK, OK, OK),
    "offer_entrant": (_entrant, "post", MOVED, NOT_FOUND, 422, NOT_FOUND),
    "withdraw_offer": (_offered, "post", MOVED, NOT_FOUND, MOVED, NOT_FOUND),
    "ask_verification": (_entrant, "post", MOVED, NOT_FOUND, 422, NOT_FOUND),
    "answer_offer": (_offer_to_owner, "post", MOVED, NOT_FOUND, MOVED, NOT_FOUND),
    "claim_entrant": (_entrant, "get", MOVED, OK, OK, OK),
    "teams": (_nothing, "get", MOVED, OK, OK, OK),
    "join_team": (_nothing, "get", MOVED, OK, OK, OK),
    "team": (_team, "get", MOVED, NOT_FOUND, OK, NOT_FOUND),
    "invite_to_team": (_team, "post", MOVED, NOT_FOUND, 422, NOT_FOUND),
    "withdraw_team_invitation": (_team_invitation, "post", MOVED, NOT_FOUND, MOVED, NOT_FOUND),
    "change_role": (_membership, "post", MOVED, NOT_FOUND, MOVED, NOT_FOUND),
    "remove_member": (_membership, "post", MOVED, NOT_FOUND, MOVED, NOT_FOUND),
    "dissolve_team": (_team, "post", MOVED, NOT_FOUND, MOVED, NOT_FOUND),
    "sign_in_methods": (_nothing, "get", MOVED, OK, OK, OK),
    "quota": (_nothing, "get", MOVED, OK, OK, OK),
    "account_data": (_nothing, "get", MOVED, OK, OK, OK),
    "export_account": (_nothing, "get", MOVED, MOVED, MOVED, MOVED),  # all must sign in anew: see test_account_data
    "remove_account": (_nothing, "post", MOVED, MOVED, MOVED, MOVED),
}  # fmt: skip


made_site = of_module(lambda: Place.make(factories.Cast.make()))
place = copied


@pytest.fixture
def cast(place: Place) -> factories.Cast:
    return place.cast


def test_every_address_has_an_entry() -> None:
    assert {pattern.name for pattern in urlpatterns} == TABLE.keys()


@pytest.mark.parametrize("name", TABLE)
def test_each_gets_what_is_theirs(name: str, client: Any, place: Place) -> None:
    arguments, method, nobody, stranger, owner, organiser = TABLE[name]
    path = reverse(name, args=arguments(place))
    assert place.statuses(client, method, path) == (nobody, stranger, owner, organiser)


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row[1] == "post"])
def test_what_changes_the_world_is_never_a_get(name: str, client: Any, place: Place) -> None:
    client.force_login(place.cast.owner)
    expected = MOVED if name == "remove_account" else NOT_ALLOWED  # its GET is the question
    assert client.get(reverse(name, args=TABLE[name][0](place))).status_code == expected


def test_what_changes_the_world_needs_the_forms_key(place: Place) -> None:
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(place.cast.owner)
    answer = client.post(reverse("cancel_submission", args=[place.stored.pk]))
    assert answer.status_code == 403
    assert b"open it again" in answer.content


def test_a_hidden_private_place_leaves_no_trace_for_a_stranger(client: Any, place: Place) -> None:
    pages = ["home", "releases", "search", "entrants", "nodes"]
    texts = [markup(client.get(reverse(name))) for name in pages]
    texts.append(markup(client.get(place.cast.entrant.get_absolute_url())))
    assert not any(place.release.slug in text or place.release.title in text for text in texts)


def test_a_system_entrant_is_nobodys_to_see(client: Any, cast: factories.Cast) -> None:
    system = Entrant.objects.create(name="reference", slug="sys-reference", kind="system", owner=cast.owner)
    client.force_login(cast.owner)
    assert client.get(system.get_absolute_url()).status_code == NOT_FOUND
    client.force_login(cast.organiser)
    assert client.get(system.get_absolute_url()).status_code == OK
