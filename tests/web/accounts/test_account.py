"""A person's own things: signing up and in, entrants, tokens shown once."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.models import ApiToken, AuditEntry, Entrant
from tests.admin.pages import opened
from tests.factories import PASSWORD, Cast
from tests.markup import markup


def test_signing_up_leads_to_the_account(client: Any, db: Any) -> None:
    fields = {"username": "newcomer", "email": "", "password1": PASSWORD, "password2": PASSWORD}
    answer = client.post(reverse("account_signup"), fields)
    assert answer.url == reverse("account")
    assert "newcomer" in markup(client.get(answer.url))


def test_a_wrong_password_says_so(client: Any, cast: Cast) -> None:
    answer = client.post(reverse("account_login"), {"login": "owner", "password": "wrong"})
    assert "not correct" in markup(answer)


def test_a_token_is_shown_once_and_stored_as_a_digest(client: Any, cast: Cast) -> None:
    client.force_login(cast.owner)
    answer = client.post(reverse("new_token"), {"name": "build server", "scopes": ["read"], "days": "30"})
    secret = answer.context["secret"]
    assert secret in markup(answer)
    assert "no-store" in answer["Cache-Control"]
    assert secret not in markup(client.get(reverse("tokens")))
    token = ApiToken.find(secret)
    assert token is not None
    assert (token.user, token.scopes) == (cast.owner, ["read"])
    assert secret not in str(ApiToken.objects.values()) + str(AuditEntry.objects.values())


def test_a_revoked_token_is_dead(client: Any, cast: Cast) -> None:
    client.force_login(cast.owner)
    secret = client.post(reverse("new_token"), {"name": "x", "scopes": ["read"], "days": "30"}).context["secret"]
    client.post(reverse("revoke_token", args=[ApiToken.objects.get().pk]))
    assert ApiToken.find(secret) is None


@pytest.mark.parametrize("fields", [{"name": "x", "days": "30"}, {"name": "", "scopes": ["read"], "days": "30"},
                                    {"name": "x", "scopes": ["read"], "days": "99999"}])  # fmt: skip
def test_a_token_needs_a_name_a_scope_and_an_expiry(fields: dict[str, Any], client: Any, cast: Cast) -> None:
    client.force_login(cast.owner)
    assert client.post(reverse("new_token"), fields).status_code == 422
    assert not ApiToken.objects.exists()


def test_an_entrant_gets_its_address_from_its_name_and_keeps_it(client: Any, cast: Cast) -> None:
    client.force_login(cast.stranger)
    client.post(reverse("new_entrant"), {"name": "My Model 2", "kind": "model", "open_weights": "true"})
    made = Entrant.objects.get(name="My Model 2")
    assert (made.slug, made.owner) == ("my-model-2", cast.stranger)
    address, said = reverse("edit_entrant", args=[made.slug]), {"name": "My Model 2b", "kind": "model"}
    client.post(address, said | {"open_weights": "false"} | opened(client, address))
    made.refresh_from_db()
    assert (made.slug, made.name, made.open_weights) == ("my-model-2", "My Model 2b", False)


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("Alpha", "model", "already"),
        ("alpha!", "model", "is here already"),
        ("???", "model", "at least one letter"),
        ("New", "baseline", "Select a valid choice"),
        ("New", "system", "Select a valid choice"),
    ],
)
def test_an_entrant_that_cannot_be_is_refused(name: str, kind: str, words: str, client: Any, cast: Cast) -> None:
    client.force_login(cast.stranger)
    answer = client.post(reverse("new_entrant"), {"name": name, "kind": kind, "open_weights": "unknown"})
    assert answer.status_code == 422
    assert words in markup(answer)
