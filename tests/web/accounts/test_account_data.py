"""The account as one file, and its deletion: what goes, what stays, and that no table is forgotten."""

import json
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.urls import reverse

from leaderboard.accounts.kept_data import KEPT
from leaderboard.actions.accounts.delete_account import delete_account
from leaderboard.actions.entrants.teams import set_role
from leaderboard.errors import Refused
from leaderboard.models import ApiToken, AuditEntry, Entrant, Membership, Submission, Team
from tests import factories
from tests.factories import PASSWORD, Cast
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def participant(client: Any, cast: Cast) -> User:
    """The stranger, signed in by password, with a token and a judged submission."""
    made = factories.release()
    factories.judged_submission(cast.strangers_entrant, made, factories.offer(made))
    factories.token(cast.stranger)
    client.post(reverse("account_login"), {"login": "stranger", "password": PASSWORD})
    return cast.stranger


def test_every_table_that_names_an_account_is_in_the_export() -> None:
    known = {(apps.get_model(one.model), one.by) for one in KEPT}
    found = {
        (model, field.name)
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.get_fields()
        if field.is_relation and field.concrete and not field.many_to_many and field.related_model is User
    }
    assert found - known == set(), "give each a line in leaderboard/accounts/kept_data.py"


def test_the_export_asks_for_the_password_and_then_has_everything(client: Any, participant: User) -> None:
    path = reverse("export_account")
    asked = client.get(path)
    assert asked.url.startswith(reverse("account_reauthenticate"))
    answer = client.post(asked.url, {"password": PASSWORD}, follow=True)
    said = json.loads(answer.content)
    assert said["profile"]["email"] == "stranger@example.org"
    assert [one["slug"] for one in said["entrants"]] == ["strangers-model"]
    assert [one["release__slug"] for one in said["submissions"]] == ["test-1"]
    assert said["api_tokens"][0]["name"]
    assert "digest" not in said["api_tokens"][0]
    assert "no-store" in answer["Cache-Control"]
    assert AuditEntry.objects.filter(action="export_account", actor=participant).exists()


def test_nobody_gets_the_file_with_a_session_alone(client: Any, cast: Cast) -> None:
    client.force_login(cast.stranger)
    assert client.get(reverse("export_account")).status_code == 302
    assert client.post(reverse("remove_account"), {"username": "stranger"}).status_code == 302
    assert User.objects.filter(username="stranger").exists()


def test_deletion_keeps_results_and_nothing_personal(client: Any, cast: Cast, participant: User) -> None:
    idle = factories.EntrantFactory(name="Idle", owner=participant)
    asked = client.get(reverse("remove_account"))
    client.post(asked.url, {"password": PASSWORD})
    page = client.post(reverse("remove_account"), {"username": "owner"})
    assert "not your username" in markup(page)
    assert client.post(reverse("remove_account"), {"username": "stranger"}).url == reverse("home")
    participant.refresh_from_db()
    assert participant.username.startswith("deleted-")
    assert (participant.email, participant.is_active, participant.has_usable_password()) == ("", False, False)
    kept = Entrant.objects.get(slug="strangers-model")
    assert (kept.owner, kept.submissions.count()) == (participant, 1)
    assert Submission.objects.get().evaluations.filter(state="done").exists()
    assert not Entrant.objects.filter(pk=idle.pk).exists()
    assert not ApiToken.objects.filter(user=participant).exists()
    assert client.get(reverse("account")).status_code == 302
    entry = AuditEntry.objects.get(action="delete_account")
    assert (entry.actor_name, entry.detail) == ("stranger", {"entrants_deleted": 1, "entrants_kept": 1})


def test_the_name_of_a_deleted_account_is_nobody_elses(client: Any, cast: Cast) -> None:
    delete_account(cast.stranger)
    fields = {"username": "Stranger", "email": "", "password1": PASSWORD, "password2": PASSWORD}
    assert "was deleted" in markup(client.post(reverse("account_signup"), fields))


def test_the_only_owner_of_a_team_with_others_names_a_successor_first(cast: Cast) -> None:
    with pytest.raises(Refused, match="only owner of Alpha's team"):
        delete_account(cast.owner)
    assert User.objects.get(pk=cast.owner.pk).is_active
    set_role(cast.owner, Membership.objects.get(user=cast.teammate), "owner")
    delete_account(cast.owner)
    assert Entrant.objects.get(pk=cast.entrant.pk).has_manager(cast.teammate)


def test_a_team_of_one_goes_and_its_entrant_stays(cast: Cast) -> None:
    team = factories.team_of("Alone", cast.stranger)
    entrant = factories.EntrantFactory(team=team)
    made = factories.release()
    factories.submission(entrant, made, factories.offer(made))
    delete_account(cast.stranger)
    assert not Team.objects.filter(pk=team.pk).exists()
    assert Entrant.objects.get(pk=entrant.pk).owner_id == cast.stranger.pk


def test_an_organiser_is_not_deleted(cast: Cast) -> None:
    with pytest.raises(Refused, match="take away your rights"):
        delete_account(cast.organiser)
