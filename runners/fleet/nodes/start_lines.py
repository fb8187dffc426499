"""The lines that start an enrolled node's agent, to be copied to its machine."""

import shlex
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings

PASSWORD = "PASSWORD"  # noqa: S105 - stands where the node's own goes


def start_lines(slug: str, secret: str) -> list[str]:
    """Shell commands with the node's token. They hold no password of the site's own."""
    values = {
        "PODIUM_SITE_URL": settings.SITE_URL,
        "PODIUM_NODE_TOKEN": secret,
        "PODIUM_BROKER_URL": broker_of(slug),
    }
    return [*(f"export {name}={shlex.quote(value)}" for name, value in values.items()), "podium node"]


def notes() -> list[str]:
    """The values that the lines leave to the reader; empty if they are complete."""
    if settings.BROKER_URL.startswith("filesystem:"):
        return ["The broker is a folder: the node runs on this machine, as a user who may write there."]
    if PASSWORD in broker_of("node"):
        return [f"Put the password of the node's own account on the broker in place of {PASSWORD}."]
    return []


def broker_of(slug: str) -> str:
    """The address of the site's broker for this node: with an account of its own where the site has one."""
    url = urlsplit(settings.BROKER_URL)
    if url.scheme == "filesystem":
        return f"filesystem://{url.path or settings.BROKER_FOLDER}"
    place = url.netloc.rpartition("@")[2]
    account = f"{slug}:{PASSWORD}@" if "@" in url.netloc else ""
    return urlunsplit((url.scheme, f"{account}{place}", url.path, "", ""))
