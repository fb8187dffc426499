"""In a real browser: a passkey is made and used, a provider is visited, the pages of the account are clean."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions.entrants import transfers
from leaderboard.actions.entrants.entrant_requests import ask
from leaderboard.actions.entrants.teams import invite_to_team
from tests import factories
from tests.factories import PASSWORD, Cast
from tests.requirements import requires
from tests.web.accounts.openid_provider import Provider
from tests.web.site.test_browser import LOOKS, Visit, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]


@pytest.fixture
def place(transactional_db: Any, live_server: Any, settings: Any) -> tuple[Cast, str]:
    settings.ALLOWED_HOSTS = ["*"]
    settings.SITE_URL = live_server.url
    return factories.Cast.make(), live_server.url


def with_key(visit: Visit) -> Any:
    """A key of the browser's own that says yes to everything."""
    devtools = visit.context.new_cdp_session(visit.page)
    devtools.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    options |= {"isUserVerified": True, "automaticPresenceSimulation": True}
    made = devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return devtools, made["authenticatorId"]


def confirm(visit: Visit) -> None:
    """The password again, before something that matters."""
    visit.page.fill("input[name=password]", PASSWORD)
    visit.page.get_by_role("button", name="Confirm").click()


def test_a_passkey_is_added_and_signs_in_alone(chromium: Any, place: tuple[Cast, str]) -> None:
    visit = Visit(chromium, place[1], *LOOKS["light"])
    devtools, authenticator = with_key(visit)
    visit.sign_in("owner")
    visit.open(reverse("sign_in_methods"))
    visit.page.get_by_role("link", name="Add a key").click()
    confirm(visit)
    visit.page.get_by_label("Passwordless").check()
    visit.keep_picture("add-key-light")
    visit.page.get_by_role("button", name="Add").click()
    visit.page.wait_for_url("**/accounts/2fa/recovery-codes/")
    visit.keep_picture("recovery-codes-light")
    visit.page.evaluate("() => window.onbeforeunload = null")
    visit.page.get_by_role("button", name="Sign out").click()
    visit.open(reverse("account_login"))
    visit.page.get_by_role("button", name="Sign in with a passkey").click()
    visit.page.wait_for_url("**/account/")
    visit.page.get_by_role("button", name="Sign out").click()
    devtools.send("WebAuthn.clearCredentials", {"authenticatorId": authenticator})
    visit.open(reverse("account_login"))
    visit.page.get_by_role("button", name="Sign in with a passkey").click()
    visit.page.get_by_role("alert").wait_for()
    assert "not used" in visit.page.get_by_role("alert").inner_text()
    visit.page.fill("input[name=login]", "owner")
    visit.page.fill("input[name=password]", PASSWORD)
    visit.page.click("main button[type=submit]")
    visit.page.wait_for_url("**/accounts/2fa/authenticate/")
    visit.keep_picture("second-factor-light")
    assert visit.axe_faults("light") == []
    assert visit.complaints == []
    visit.context.close()


def test_a_provider_is_visited_under_the_sites_policy(
    chromium: Any, place: tuple[Cast, str], provider: Provider
) -> None:
    visit = Visit(chromium, place[1], *LOOKS["light"])
    visit.open(reverse("account_login"))
    visit.keep_picture("sign-in-light")
    visit.page.get_by_role("button", name="Sign in with Example Lab").click()
    visit.page.wait_for_url("**/account/")
    assert visit.page.get_by_role("heading", name="newcomer").is_visible()
    assert [one for one in visit.complaints if provider.url not in one] == [], "nobody else is asked"
    visit.context.close()


def test_the_link_of_an_invitation_fills_the_field_and_keeps_it_from_the_address(
    chromium: Any, place: tuple[Cast, str]
) -> None:
    cast, base = place
    link = base + reverse("join_team")
    secret = invite_to_team(cast.owner, cast.entrant.team, "member", join_url=link)[1]
    visit = Visit(chromium, base, *LOOKS["light"])
    visit.sign_in("stranger")
    visit.open(f"{link}#{secret}")
    assert visit.page.input_value("[name=invitation]") == secret
    assert "pdt_" not in visit.page.url
    visit.page.get_by_role("button", name="Join").click()
    visit.page.get_by_role("heading", name="Alpha's team").wait_for()
    assert visit.complaints == []
    visit.context.close()


def test_the_accounts_pages_are_clean(chromium: Any, place: tuple[Cast, str], provider: Provider) -> None:
    cast, base = place
    unheld = factories.EntrantFactory(name="Imported", slug="imported", owner=cast.organiser)
    ask(cast.owner, "claim", unheld, "It is ours.")
    transfers.offer(cast.stranger, cast.strangers_entrant, cast.owner)
    invite_to_team(cast.owner, cast.entrant.team, "reader", join_url=base)
    factories.token(cast.owner)
    visit = Visit(chromium, base, *LOOKS["light"])
    visit.sign_in("owner")
    names = ["account", "teams", "join_team", "tokens", "sign_in_methods", "quota", "account_data", "new_entrant"]
    pages = {name: reverse(name) for name in names}
    pages |= {
        "team": reverse("team", args=[cast.entrant.team.slug]),
        "claim": reverse("claim_entrant", args=["imported"]),
    }
    pages |= {"edit-entrant": reverse("edit_entrant", args=["alpha"]), "linked": reverse("socialaccount_connections")}
    pages |= {"emails": reverse("account_email")}
    faults = page_faults(visit, pages)
    visit.open(reverse("mfa_activate_totp"))
    confirm(visit)
    again = {"set-up-app": reverse("mfa_activate_totp"), "add-key": reverse("mfa_add_webauthn")}
    faults += page_faults(visit, again | {"delete": reverse("remove_account")})
    visit.context.close()
    assert faults == [], "\n".join(faults)
