"""Signing up: open, by invitation, by invitations mailed to a domain, or closed."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse
from django.utils import timezone

from leaderboard import settings as site_settings
from leaderboard.actions.accounts.invite import invite
from leaderboard.errors import NotAllowed
from leaderboard.models import AuditEntry, Invitation
from tests.factories import PASSWORD, Cast
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def sign_up(client: Any, **changes: str) -> Any:
    fields = {"username": "newcomer", "email": "", "password1": PASSWORD, "password2": PASSWORD}
    return client.post(reverse("account_signup"), fields | changes)


def is_here() -> bool:
    return User.objects.filter(username="newcomer").exists()


@pytest.fixture
def by_invitation(settings: Any) -> None:
    settings.SIGNUP = "invitation"


@pytest.fixture
def by_domain(settings: Any) -> None:
    settings.SIGNUP, settings.SIGNUP_DOMAINS = "domain", ["example.org", "example.com"]
    settings.MAIL = {"backend": "django.core.mail.backends.locmem.EmailBackend"}


def test_an_open_site_asks_for_no_invitation(client: Any) -> None:
    assert "invitation" not in markup(client.get(reverse("account_signup"))).lower()
    assert sign_up(client).url == reverse("account")
    assert is_here()


def test_a_closed_site_takes_nobody(client: Any, cast: Cast, settings: Any) -> None:
    settings.SIGNUP = "closed"
    _, secret = invite(cast.organiser, days=1)
    assert "closed" in markup(client.get(reverse("account_signup"))).lower()
    sign_up(client)
    sign_up(client, invitation=secret)
    assert not is_here()


@pytest.mark.usefixtures("by_invitation")
class TestByInvitation:
    @pytest.mark.parametrize("invitation", ["", "pdi_" + "x" * 32, "' OR 1=1", "x" * 500, "\0"])
    def test_without_a_valid_one_nobody_signs_up(self, client: Any, invitation: str) -> None:
        answer = sign_up(client, invitation=invitation)
        assert answer.status_code == 200
        assert answer.context["form"].errors["invitation"]
        assert not is_here()

    def test_each_is_used_once(self, client: Any, cast: Cast) -> None:
        row, secret = invite(cast.organiser, days=1, note="the new lab")
        assert sign_up(client, invitation=f" {secret} ").url == reverse("account")
        row.refresh_from_db()
        assert row.used_by is not None
        assert row.used_by.username == "newcomer"
        client.logout()
        answer = sign_up(client, username="second", invitation=secret)
        assert "was used" in markup(answer)
        assert not User.objects.filter(username="second").exists()

    def test_an_expired_or_withdrawn_one_is_refused(self, client: Any, cast: Cast) -> None:
        row, secret = invite(cast.organiser, days=1)
        Invitation.objects.filter(pk=row.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
        assert "has expired" in markup(sign_up(client, invitation=secret))
        assert not is_here()

    def test_a_sign_up_that_fails_does_not_use_it_up(self, client: Any, cast: Cast) -> None:
        row, secret = invite(cast.organiser, days=1)
        assert sign_up(client, invitation=secret, password2="other").status_code == 200
        assert sign_up(client, invitation=secret, username="owner").status_code == 200
        row.refresh_from_db()
        assert row.used_at is None
        sign_up(client, invitation=secret)
        assert is_here()

    def test_of_two_sign_ups_at_once_one_gets_it(self, client: Any, cast: Cast, monkeypatch: Any) -> None:
        row, secret = invite(cast.organiser, days=1)
        find = Invitation.find

        def find_and_be_late(found: str) -> Invitation | None:
            late = find(found)
            row.claim()
            return late

        monkeypatch.setattr(Invitation, "find", find_and_be_late)
        assert sign_up(client, invitation=secret).url == reverse("account_signup")
        assert not is_here()

    def test_one_made_for_an_address_is_for_no_other(self, client: Any, cast: Cast) -> None:
        _, secret = invite(cast.organiser, days=1, email="New@example.org")
        assert "that the invitation was made for" in markup(sign_up(client, invitation=secret))
        assert not is_here()
        sign_up(client, invitation=secret, email="new@example.org")
        assert is_here()

    def test_no_mail_is_offered(self, client: Any) -> None:
        assert client.get(reverse("request_invitation")).status_code == 404
        assert client.post(reverse("request_invitation"), {"email": "a@example.org"}).status_code == 404


def test_the_admin_shows_an_invitation_once_and_stores_its_digest(client: Any, cast: Cast) -> None:
    client.force_login(cast.organiser)
    address = reverse("admin:leaderboard_invitation_list_act", args=["invite"])
    page = markup(client.post(address, {"note": "the new lab", "email": "", "days": "14"}))
    secret = re.search(r"pdi_[\w-]{32}", page)
    assert secret
    row = Invitation.find(secret[0])
    assert row
    stored = str(Invitation.objects.values()) + str(AuditEntry.objects.values())
    assert secret[0] not in stored
    for again in (
        reverse("admin:leaderboard_invitation_changelist"),
        f"{address[: -len('act/invite/')]}{row.pk}/change/",
    ):
        text = markup(client.get(again, follow=True))
        assert "the new lab" in text
        assert secret[0] not in text
        assert row.digest not in text
    client.post(reverse("admin:leaderboard_invitation_act", args=[row.pk, "withdraw"]))
    assert Invitation.find(secret[0]) is None


def test_only_organisers_invite(client: Any, cast: Cast) -> None:
    address = reverse("admin:leaderboard_invitation_list_act", args=["invite"])
    for user in (None, cast.stranger, cast.owner):
        client.logout()
        if user:
            client.force_login(user)
        assert client.post(address, {"note": "", "email": "", "days": "14"}).status_code == 302
        with pytest.raises(NotAllowed):
            invite(user, days=1)
    assert not Invitation.objects.exists()


@pytest.mark.usefixtures("by_domain")
class TestByDomain:
    def ask(self, client: Any, email: str) -> Any:
        return client.post(reverse("request_invitation"), {"email": email})

    def test_an_address_of_the_domain_gets_one_that_only_it_can_use(self, client: Any) -> None:
        assert reverse("request_invitation") in markup(client.get(reverse("account_signup")))
        assert "example.com" in markup(client.get(reverse("request_invitation")))
        assert self.ask(client, "New@Example.org").url == reverse("account_signup")
        (message,) = mail.outbox
        assert message.to == ["New@Example.org"]
        secret = re.search(r"pdi_\S+", message.body)
        assert secret
        assert not re.search(r"http\S*pdi_", message.body), "the secret is in no address"
        assert "that the invitation was made for" in markup(
            sign_up(client, invitation=secret[0], email="other@example.org")
        )
        sign_up(client, invitation=secret[0], email="new@example.org")
        assert is_here()

    @pytest.mark.parametrize(
        "email", ["a@example.net", "a@sub.example.org", "a@example.org.evil.net", "a@evil.net@example.org", "a", "",
                  "a@example.org\nBcc: b@evil.net"]
    )  # fmt: skip
    def test_no_other_address_does(self, client: Any, email: str) -> None:
        answer = self.ask(client, email)
        assert answer.status_code in (200, 422)
        assert not mail.outbox
        assert not Invitation.objects.exists()

    def test_an_address_is_not_flooded(self, client: Any) -> None:
        statuses = [self.ask(client, email).status_code for email in ("a@example.org", "A@example.org") * 3]
        assert statuses == [302] * 3 + [422] * 3
        assert len(mail.outbox) == 3

    def test_a_mail_server_that_is_away_is_said(self, client: Any, settings: Any) -> None:
        settings.MAIL = {"backend": "django.core.mail.backends.smtp.EmailBackend", "host": "127.0.0.1", "port": 9}
        answer = self.ask(client, "a@example.org")
        assert answer.status_code == 422
        assert "could not be sent" in markup(answer)

    def test_an_organisers_invitation_holds_too(self, client: Any, cast: Cast) -> None:
        _, secret = invite(cast.organiser, days=1)
        sign_up(client, invitation=secret)
        assert is_here()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp://u%40x:p%2Fw@mail.example.org", ("mail.example.org", 587, "u@x", "p/w", False, True)),
        ("smtps://mail.example.org:1465", ("mail.example.org", 1465, "", "", True, False)),
        ("smtp://localhost", ("localhost", 25, "", "", False, False)),
    ],
)
def test_the_address_of_the_mail_server_says_how_to_reach_it(monkeypatch: Any, url: str, expected: Any) -> None:
    monkeypatch.setattr(site_settings, "MAIL_URL", url)
    found = site_settings._mail()
    names = ("host", "port", "username", "password", "use_ssl", "use_tls")
    assert tuple(found[name] for name in names) == expected


@pytest.mark.parametrize("url", ["mail.example.org", "http://mail", "smtp://", "smtp://u:secret@host:port"])
def test_an_address_that_is_none_names_its_variable(monkeypatch: Any, url: str) -> None:
    monkeypatch.setattr(site_settings, "MAIL_URL", url)
    with pytest.raises(ImproperlyConfigured, match="PODIUM_MAIL_URL") as refusal:
        site_settings._mail()
    assert "secret" not in str(refusal.value)
