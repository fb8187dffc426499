"""The accounts elsewhere with which people may sign in: GitHub, and one OpenID provider, where they are configured."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from leaderboard.site import env

_LOOPBACK = ("http://localhost", "http://127.0.0.1")


def from_environment() -> dict[str, Any]:
    """allauth's SOCIALACCOUNT_PROVIDERS. Raises ImproperlyConfigured, which names the variable but not its value."""
    return {"github": {"APPS": _github()}, "openid_connect": {"APPS": _openid(), "OAUTH_PKCE_ENABLED": True}}


def _github() -> list[dict[str, Any]]:
    client_id, secret = _client("PODIUM_GITHUB")
    return [{"client_id": client_id, "secret": secret, "settings": _linking("PODIUM_GITHUB")}] if client_id else []


def _openid() -> list[dict[str, Any]]:
    client_id, secret = _client("PODIUM_OIDC")
    if not client_id:
        return []
    url = env.text("PODIUM_OIDC_URL")
    if not url.startswith(("https://", *_LOOPBACK)):
        raise ImproperlyConfigured("PODIUM_OIDC_URL must start with https://: secrets are sent there.")
    name = env.text("PODIUM_OIDC_NAME", "OpenID")
    facts = {"server_url": url.rstrip("/")} | _linking("PODIUM_OIDC")
    return [{"provider_id": "openid", "name": name, "client_id": client_id, "secret": secret, "settings": facts}]


def _client(prefix: str) -> tuple[str, str]:
    client_id, secret = env.text(f"{prefix}_CLIENT_ID", ""), env.text(f"{prefix}_SECRET", "")
    if bool(client_id) != bool(secret):
        raise ImproperlyConfigured(f"Set both {prefix}_CLIENT_ID and {prefix}_SECRET, or neither.")
    return client_id, secret


def _linking(prefix: str) -> dict[str, bool]:
    """Whether an address that the provider has verified opens the account here that has it verified too."""
    return {"email_authentication": env.boolean(f"{prefix}_TRUSTS_EMAIL", False)}
