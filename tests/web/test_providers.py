"""Signing in with an OpenID provider: a real one in miniature answers on loopback; GitHub's differs by address only."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse

from leaderboard import providers
from leaderboard.actions.invite import invite
from leaderboard.models import AuditEntry, Invitation
from tests.factories import PASSWORD, Cast

pytestmark = pytest.mark.django_db
LOGIN = "/accounts/oidc/openid/login/?process=login"


class Provider(ThreadingHTTPServer):
    """Confirms `person` to everybody who comes with the client's id, and hands out one code after another."""

    person: dict[str, Any]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.codes: dict[str, str] = {}
        self.person = {"sub": "42", "preferred_username": "newcomer", "email": "new@lab.example"}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        address, query = urlsplit(self.path), parse_qs(urlsplit(self.path).query)
        if address.path == "/.well-known/openid-configuration":
            names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "userinfo_endpoint": "userinfo"}
            said = {name: f"{self.server.url}/{path}" for name, path in names.items()}
            self._say(said | {"issuer": self.server.url, "jwks_uri": f"{self.server.url}/keys"})
        elif address.path == "/authorize":
            assert query["client_id"] == ["podium"]
            code = f"code-{len(self.server.codes)}"
            self.server.codes[code] = query["code_challenge"][0]
            self.send_response(302)
            back = urlencode({"code": code, "state": query["state"][0]})
            self.send_header("Location", f"{query['redirect_uri'][0]}?{back}")
            self.end_headers()
        elif self.headers["Authorization"] == "Bearer let-me-in":
            self._say(self.server.person)
        else:
            self.send_error(401)

    def do_POST(self) -> None:
        sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        known = self.server.codes.pop(sent["code"][0], None)
        if known and sent["client_secret"] == ["between us"] and sent["code_verifier"]:
            self._say({"access_token": "let-me-in", "token_type": "bearer"})
        else:
            self.send_error(401)

    def _say(self, what: dict[str, Any]) -> None:
        body = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def configure(settings: Any, monkeypatch: Any, url: str, **more: str) -> None:
    values = {"PODIUM_OIDC_CLIENT_ID": "podium", "PODIUM_OIDC_SECRET": "between us", "PODIUM_OIDC_URL": url,
              "PODIUM_OIDC_NAME": "Example Lab"}  # fmt: skip
    for name, value in (values | more).items():
        monkeypatch.setenv(name, value)
    settings.SOCIALACCOUNT_PROVIDERS = providers.from_environment()


@pytest.fixture
def provider(settings: Any, monkeypatch: Any) -> Iterator[Provider]:
    server = Provider()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    configure(settings, monkeypatch, server.url)
    yield server
    server.shutdown()
    server.server_close()


def go(client: Any, address: str = LOGIN) -> Any:
    """As a browser: on to the provider, which sends it back."""
    page = client.post(address)
    assert page.status_code == 200, "a page that leads on, which the policy for forms allows"
    onward = page.context["address"]
    assert f'content="0;url={onward}"'.replace("&", "&amp;") in page.content.decode()
    back = requests.get(onward, allow_redirects=False, timeout=5).headers["Location"]
    return client.get(back[back.index("/accounts/") :])


def test_nothing_is_offered_where_nothing_is_configured(client: Any, cast: Cast) -> None:
    page = client.get(reverse("account_login")).content.decode()
    assert "account elsewhere" not in page
    assert client.post(LOGIN).status_code == 404
    client.force_login(cast.owner)
    assert "Accounts elsewhere" not in client.get(reverse("sign_in_methods")).content.decode()


def test_a_newcomer_signs_up_and_in_again(client: Any, provider: Provider) -> None:
    assert "Sign in with Example Lab" in client.get(reverse("account_login")).content.decode()
    assert go(client).url == reverse("account")
    user = User.objects.get(username="newcomer")
    assert (user.email, user.has_usable_password()) == ("new@lab.example", False)
    assert AuditEntry.objects.get(action="sign_up").detail == {"provider": "openid"}
    client.logout()
    assert go(client).url == reverse("account")
    assert User.objects.filter(username__startswith="newcomer").count() == 1


def test_a_closed_site_takes_nobody_from_elsewhere(client: Any, provider: Provider, settings: Any) -> None:
    settings.SIGNUP = "closed"
    assert "closed" in go(client).content.decode().lower()
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
    assert "Example Lab" in client.get(reverse("sign_in_methods")).content.decode()
    assert client.get(reverse("socialaccount_connections")).status_code == 200


def test_an_answer_that_was_not_asked_for_signs_nobody_in(client: Any, provider: Provider) -> None:
    answer = client.get("/accounts/oidc/openid/login/callback/?code=code-0&state=forged")
    assert answer.status_code in (200, 401)
    assert "not signed in" in answer.content.decode()
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
    assert "Sign in with GitHub" in client.get(reverse("account_login")).content.decode()
    page = client.post("/accounts/github/login/?process=login")
    assert page.context["address"].startswith("https://github.com/login/oauth/authorize?client_id=x")
