"""Signing in with an OpenID provider: a real one in miniature answers on loopback; GitHub's differs by address only."""

from typing import Any

import pytest
import requests
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse

from leaderboard.actions.accounts.invite import invite
from leaderboard.models import AuditEntry, Invitation
from tests.factories import PASSWORD, Cast
from tests.markup import markup
from tests.web.accounts.openid_provider import Provider, configure

pytestmark = pytest.mark.django_db
LOGIN = "/accounts/oidc/openid/login/?process=login"


def go(client: Any, address: str = LOGIN) -> Any:
    """As a browser: on to the provider, which sends it back."""
    page = client.post(address)
    assert page.status_code == 200, "a page that leads on, which the policy for forms allows"
    onward = page.context["address"]
    assert f'content="0;url={onward}"'.replace("&", "&amp;") in markup(page)
    back = requests.get(onward, allow_redirects=False, timeout=5).headers["Location"]
    return client.get(back[back.index("/accounts/") :])


def test_nothing_is_offered_where_nothing_is_configured(client: Any, cast: Cast) -> None:
    page = markup(client.get(reverse("account_login")))
    assert "account elsewhere" not in page
    assert client.post(LOGIN).status_code == 404
    client.force_login(cast.owner)
    assert "Accounts elsewhere" not in markup(client.get(reverse("sign_in_methods")))


def test_a_newcomer_signs_up_and_in_again(client: Any, provider: Provider) -> None:
    assert "Sign in with Example Lab" in markup(client.get(reverse("account_login")))
    assert go(client).url == reverse("account")
    user = User.objects.get(username="newcomer")
    assert (user.email, user.has_usable_password()) == ("new@lab.example", False)
    assert AuditEntry.objects.get(action="sign_up").detail == {"provider": "openid"}
    client.logout()
    assert go(client).url == reverse("account")
    assert User.objects.filter(username__startswith="newcomer").count() == 1


def test_a_closed_site_takes_nobody_from_elsewhere(client: Any, provider: Provider, settings: Any) -> None:
    settings.SIGNUP = "closed"
    assert "closed" in markup(go(client)).lower()
    assert not User.objects.exists()


def test_an_invitation_is_needed_where_one_is(client: Any, cast: Cast, provider: Provider, settings: Any) -> None:
    settings.SIGNUP = "invitation"
    assert go(client).url == reverse("socialaccount_signup")
    form = {"username": "newcomer", "email": "new@lab.example"}
    assert client.post(reverse("socialaccount_signup"), form).context["form"].errors["invitation"]
    assert not User.objects.filter(username="newcomer").exists()
    row, secret = invite(cast.organiser, days=1)
    done = client.post(reverse("socialaccount_signup"), form | {"invitation": secret})
    assert done.url == reverse("account")
    assert Invitation.objects.get(pk=row.pk).used_by == User.objects.get(username="newcomer")


def test_an_address_that_is_taken_opens_no_account(client: Any, cast: Cast, provider: Provider) -> None:
    provider.person |= {"email": "owner@example.org", "email_verified": True}
    EmailAddress.objects.create(user=cast.owner, email="owner@example.org", verified=True, primary=True)
    assert go(client).url == reverse("socialaccount_signup")
    assert not SocialAccount.objects.exists()


@pytest.mark.parametrize(("here", "there", "opened"), [(True, True, True), (False, True, False), (True, False, False)])
def test_a_trusted_provider_opens_an_account_if_both_have_verified_the_address(
    here: bool, there: bool, opened: bool, client: Any, cast: Cast, provider: Provider, settings: Any, monkeypatch: Any
) -> None:
    configure(settings, monkeypatch, provider.url, PODIUM_OIDC_TRUSTS_EMAIL="1")
    provider.person |= {"email": "owner@example.org", "email_verified": there}
    EmailAddress.objects.create(user=cast.owner, email="owner@example.org", verified=here, primary=True)
    answer = go(client)
    assert (answer.url == reverse("account")) == opened
    assert SocialAccount.objects.filter(user=cast.owner).exists() == opened
    assert User.objects.get(pk=cast.owner.pk).check_password(PASSWORD)


def test_an_account_is_linked_by_who_is_signed_in(client: Any, cast: Cast, provider: Provider) -> None:
    client.post(reverse("account_login"), {"login": "owner", "password": PASSWORD})
    connect = LOGIN.replace("=login", "=connect")
    asked = go(client, connect)
    assert asked.url.startswith(reverse("account_reauthenticate"))
    client.post(asked.url, {"password": PASSWORD})
    assert SocialAccount.objects.get().user == cast.owner
    assert AuditEntry.objects.filter(action="link_provider", actor=cast.owner).exists()
    assert "Example Lab" in markup(client.get(reverse("sign_in_methods")))
    assert client.get(reverse("socialaccount_connections")).status_code == 200


def test_an_answer_that_was_not_asked_for_signs_nobody_in(client: Any, provider: Provider) -> None:
    answer = client.get("/accounts/oidc/openid/login/callback/?code=code-0&state=forged")
    assert answer.status_code in (200, 401)
    assert "not signed in" in markup(answer)
    assert not User.objects.exists()


def test_what_is_half_configured_names_its_variable(settings: Any, monkeypatch: Any) -> None:
    for url, named in (("http://far.example", "PODIUM_OIDC_URL"), ("", "PODIUM_OIDC_URL")):
        with pytest.raises(ImproperlyConfigured, match=named):
            configure(settings, monkeypatch, url)
    with pytest.raises(ImproperlyConfigured, match="PODIUM_GITHUB_SECRET"):
        configure(settings, monkeypatch, "https://id.example", PODIUM_GITHUB_CLIENT_ID="x")


def test_github_is_offered_where_it_is_configured(client: Any, settings: Any, monkeypatch: Any) -> None:
    more = {"PODIUM_GITHUB_CLIENT_ID": "x", "PODIUM_GITHUB_SECRET": "y"}
    configure(settings, monkeypatch, "https://id.example", **more)
    assert "Sign in with GitHub" in markup(client.get(reverse("account_login")))
    page = client.post("/accounts/github/login/?process=login")
    assert page.context["address"].startswith("https://github.com/login/oauth/authorize?client_id=x")
