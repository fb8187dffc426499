"""Signing in against those who guess, behind a proxy or not; and passwords that are forgotten."""

from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from tests import factories
from tests.factories import Cast
from tests.markup import markup

pytestmark = pytest.mark.django_db

LIMIT = 10


@pytest.fixture(autouse=True)
def guarded(settings: Any) -> None:
    settings.AXES_ENABLED = True
    cache.clear()


def guess(password: str = "wrong", **headers: str) -> int:
    return Client().post("/accounts/login/", {"login": "owner", "password": password}, **headers).status_code


def test_who_guesses_is_locked_out_and_the_owner_elsewhere_is_not(cast: Cast) -> None:
    statuses = [guess(REMOTE_ADDR="192.0.2.1") for _ in range(LIMIT + 1)]
    assert statuses[-1] == 429
    assert guess(REMOTE_ADDR="192.0.2.2") == 200


def test_other_letters_of_a_name_are_the_same_name(cast: Cast) -> None:
    names = ["owner", "Owner", "OWNER", "oWner"] * 3
    tries = [{"login": name, "password": "wrong"} for name in names[: LIMIT + 1]]
    statuses = [Client().post("/accounts/login/", one, REMOTE_ADDR="192.0.2.1").status_code for one in tries]
    assert statuses[-1] == 429


def test_without_a_proxy_a_forged_header_hides_nobody(cast: Cast) -> None:
    statuses = [guess(REMOTE_ADDR="192.0.2.1", HTTP_X_FORWARDED_FOR=f"198.51.100.{n}") for n in range(LIMIT + 1)]
    assert statuses[-1] == 429


def test_behind_a_proxy_visitors_are_told_apart_by_what_the_proxy_saw(cast: Cast, settings: Any) -> None:
    settings.BEHIND_PROXY = True
    forged = [
        guess(REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR=f"198.51.100.{n}, 192.0.2.1") for n in range(LIMIT + 1)
    ]
    assert forged[-1] == 429
    assert guess(REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR="192.0.2.2") == 200


def test_nobody_is_sent_to_another_site_after_signing_in(client: Client, cast: Cast) -> None:
    said = {"login": "owner", "password": factories.PASSWORD, "next": "https://evil.example/"}
    answer = client.post(f"{reverse('account_login')}?next=https://evil.example/", said)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/")


def test_a_session_from_before_signing_in_is_worth_nothing_after(client: Client, cast: Cast) -> None:
    session = client.session
    session["planted"] = "yes"
    session.save()
    planted = session.session_key
    client.post(reverse("account_login"), {"login": "owner", "password": factories.PASSWORD})
    assert client.session.session_key != planted


def test_a_site_without_mail_says_whom_to_ask(client: Client, cast: Cast) -> None:
    page = markup(client.get(reverse("account_reset_password")))
    assert "Ask an organiser" in page
    assert "<form" not in page.partition("<main")[2].partition("</main>")[0]
    assert mail.outbox == []
