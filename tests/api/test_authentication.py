"""API tokens: who is let in, with which scope, and the words for those who are not."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.models import ApiToken
from tests import factories
from tests.api import calls

pytestmark = pytest.mark.django_db


def ask(authorization: str) -> Any:
    return Client().get("/api/v1/me", headers={"Authorization": authorization})


def test_a_token_says_whose_it_is(cast: Any) -> None:
    answer = calls.get("me", cast.owner)
    assert answer.status_code == 200
    assert answer.json()["username"] == "owner"
    assert answer.json()["entrants"] == ["alpha"]
    assert answer.json()["scopes"] == ["read", "submit"]


def test_nobody_is_told_to_sign_in(db: Any) -> None:
    answer = calls.get("me")
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert answer.json()["code"] == "not_authenticated"


def test_a_revoked_token_is_refused_with_words(cast: Any) -> None:
    secret = factories.token(cast.owner)
    ApiToken.objects.update(revoked_at=timezone.now())
    answer = ask(f"Bearer {secret}")
    assert answer.status_code == 401
    assert "revoked" in answer.json()["message"]


def test_an_expired_token_is_refused_with_words(cast: Any) -> None:
    secret = factories.token(cast.owner)
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    answer = ask(f"Bearer {secret}")
    assert (answer.status_code, answer.json()["code"]) == (401, "bad_token")
    assert "expired" in answer.json()["message"]


def test_the_token_of_a_disabled_account_is_refused(cast: Any) -> None:
    secret = factories.token(cast.owner)
    cast.owner.is_active = False
    cast.owner.save()
    assert ask(f"Bearer {secret}").status_code == 401


@pytest.mark.parametrize("authorization", ["Bearer pdm_wrong", "Bearer", "Bearer x y", "bearer \xff", "Bearer pdm_\0"])
def test_a_wrong_token_is_refused_even_where_nobody_may_read(db: Any, authorization: str) -> None:
    answer = Client().get("/api/v1/releases", headers={"Authorization": authorization})
    assert (answer.status_code, answer.json()["code"]) == (401, "bad_token")


def test_a_token_in_the_url_is_nobodys(cast: Any) -> None:
    secret = factories.token(cast.owner)
    answer = Client().get(f"/api/v1/me?token={secret}&access_token={secret}")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_query")
    assert secret not in answer.content.decode()


def test_a_read_token_may_not_submit(cast: Any) -> None:
    secret = factories.token(cast.owner, ["read"])
    answer = Client().post("/api/v1/entrants", {"name": "New"}, headers={"Authorization": f"Bearer {secret}"})
    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")


def test_a_submit_token_may_not_read(cast: Any) -> None:
    secret = factories.token(cast.owner, ["submit"])
    answer = ask(f"Bearer {secret}")
    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")


def test_a_session_must_bring_its_csrf_token(cast: Any) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(cast.owner)
    answer = browser.post("/api/v1/entrants", {"name": "New"}, content_type="application/json")
    assert answer.status_code == 403
    assert "CSRF" in answer.json()["message"]
