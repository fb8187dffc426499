"""Second factors: codes from an app, recovery codes, and organisers who must have one."""

import time
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.test import Client
from django.urls import reverse

from leaderboard.models import AuditEntry
from tests import factories
from tests.api import calls
from tests.factories import PASSWORD, Cast
from tests.markup import markup

pytestmark = pytest.mark.django_db


def code_of(secret: str) -> str:
    return totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30))


def sign_in(client: Any, name: str, **query: str) -> Any:
    return client.post(reverse("account_login", query=query), {"login": name, "password": PASSWORD})


def with_app(user: Any) -> str:
    secret = totp.generate_totp_secret()
    totp.TOTP.activate(user, secret)
    RecoveryCodes.activate(user)
    return secret


def test_an_app_is_set_up_with_a_code_and_asked_for_from_then_on(
    client: Any, cast: Cast, django_capture_on_commit_callbacks: Any
) -> None:
    sign_in(client, "owner")
    asked = client.get(reverse("mfa_activate_totp"))
    page = client.post(asked.url, {"password": PASSWORD}, follow=True)
    assert "data:image/svg+xml" in markup(page)
    secret = page.context["form"].secret
    with django_capture_on_commit_callbacks(execute=True):
        done = client.post(reverse("mfa_activate_totp"), {"code": code_of(secret)}, follow=True)
    assert "recovery codes" in markup(done).lower()
    assert AuditEntry.objects.filter(action="add_second_factor", actor=cast.owner).count() == 2
    assert "since" in markup(client.get(reverse("sign_in_methods")))
    elsewhere = Client()
    assert sign_in(elsewhere, "owner").url == reverse("mfa_authenticate")
    assert elsewhere.get(reverse("account")).status_code == 302, "the password alone is not enough"


def test_recovery_codes_are_shown_once(client: Any, cast: Cast) -> None:
    sign_in(client, "owner")
    client.post(f"{reverse('account_reauthenticate')}", {"password": PASSWORD})
    with_app(cast.owner)
    codes = Authenticator.objects.get(user=cast.owner, type="recovery_codes").wrap().get_unused_codes()
    first = client.get(reverse("mfa_view_recovery_codes"))
    assert all(code in markup(first) for code in codes)
    assert "no-store" in first.headers.get("Cache-Control", "")
    again = markup(client.get(reverse("mfa_view_recovery_codes")))
    assert not any(code in again for code in codes)
    assert "Generate new codes" in again
    assert client.get(reverse("mfa_download_recovery_codes")).status_code == 403


def test_a_wrong_code_is_refused_and_a_recovery_code_works_once(cast: Cast) -> None:
    with_app(cast.owner)
    client = Client()
    sign_in(client, "owner")
    assert "Incorrect code" in markup(client.post(reverse("mfa_authenticate"), {"code": "000000"}))
    codes = Authenticator.objects.get(user=cast.owner, type="recovery_codes").wrap().get_unused_codes()
    assert client.post(reverse("mfa_authenticate"), {"code": codes[0]}).url == reverse("account")
    again = Client()
    sign_in(again, "owner")
    assert "Incorrect code" in markup(again.post(reverse("mfa_authenticate"), {"code": codes[0]}))


def test_guesses_of_codes_are_bounded(cast: Cast) -> None:
    with_app(cast.owner)
    client = Client()
    sign_in(client, "owner")
    pages = [markup(client.post(reverse("mfa_authenticate"), {"code": f"{n:06}"})) for n in range(12)]
    assert "Too many" in pages[-1]


def test_the_administrations_door_asks_for_the_second_factor_too(cast: Cast) -> None:
    secret = with_app(cast.organiser)
    client = Client()
    door = client.get("/admin/", follow=True)
    assert door.redirect_chain[-1][0] == "/accounts/login/?next=%2Fadmin%2F"
    assert client.post("/admin/login/", {"username": "organiser", "password": PASSWORD}).status_code == 302
    assert client.get("/admin/").status_code == 302, "the old form signs nobody in"
    assert sign_in(client, "organiser", next="/admin/").url.startswith(reverse("mfa_authenticate"))
    assert client.get("/admin/").status_code == 302
    answer = client.post(reverse("mfa_authenticate"), {"code": code_of(secret)})
    assert answer.url == "/admin/"
    assert client.get("/admin/").status_code == 200


def test_who_may_not_open_the_administration_is_told_so(client: Any, cast: Cast) -> None:
    client.force_login(cast.stranger)
    answer = client.get("/admin/", follow=True)
    assert answer.status_code == 403
    assert "for organisers" in markup(answer)


class TestRequired:
    @pytest.fixture(autouse=True)
    def required(self, settings: Any) -> None:
        settings.STAFF_MFA = True

    def test_an_organiser_without_one_may_only_set_one_up(self, client: Any, cast: Cast) -> None:
        client.force_login(cast.organiser)
        for path in ("/admin/", "/", reverse("account")):
            assert client.get(path).url == reverse("sign_in_methods")
        assert client.get(reverse("sign_in_methods")).status_code == 200
        assert client.get("/api/v1/me").status_code == 403
        assert calls.get("me", cast.organiser).status_code == 401, "nor do tokens of the account work"
        with_app(cast.organiser)
        assert client.get("/admin/").status_code == 200
        assert calls.get("me", cast.organiser).status_code == 200

    def test_participants_need_none(self, client: Any, cast: Cast) -> None:
        client.force_login(cast.owner)
        assert client.get(reverse("account")).status_code == 200
        assert calls.get("me", cast.owner).status_code == 200


def test_an_organiser_removes_the_factors_of_somebody_who_lost_them(client: Any, cast: Cast) -> None:
    with_app(cast.owner)
    client.force_login(cast.organiser)
    act = reverse("admin:auth_user_act", args=[cast.owner.pk, "remove_factors"])
    assert "without a second factor" in markup(client.post(act))
    assert not Authenticator.objects.filter(user=cast.owner).exists()
    assert AuditEntry.objects.get(action="remove_second_factors").actor == cast.organiser


def test_no_page_of_the_administration_shows_a_secret(client: Any, cast: Cast) -> None:
    client.force_login(cast.organiser)
    text = markup(client.get(reverse("admin:more_tables"))).lower()
    assert not [word for word in ("authenticator", "social") if word in text]
    assert factories.PASSWORD not in text


def test_an_address_is_added_and_removed_and_no_confirmation_is_promised(client: Any, cast: Cast) -> None:
    sign_in(client, "owner")
    path = reverse("account_email")
    asked = client.post(path, {"action_add": "", "email": "second@example.org"})
    client.post(asked.url, {"password": PASSWORD}, follow=True)
    page = markup(client.get(path))
    assert "second@example.org" in page
    assert "Re-send" not in page
    client.post(path, {"action_remove": "", "email": "second@example.org"})
    assert "second@example.org" not in markup(client.get(path)).partition("<fieldset")[2]
