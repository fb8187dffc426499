"""The site and API token of the command line, from the environment or from the file of `podium login`."""

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from runners.agent.ground.atomic import write_atomically

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


class NotConfigured(Exception):
    """There is no site or no usable file. The message says how to fix it."""


@dataclass(frozen=True)
class Site:
    """A site and the user's token. The token may be empty: public data needs none."""

    url: str
    token: str = ""

    @property
    def sends_token_in_clear(self) -> bool:
        parts = urlsplit(self.url)
        return parts.scheme == "http" and parts.hostname not in LOCAL_HOSTS


def config_path() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "podium" / "config.toml"


def load() -> Site:
    """PODIUM_SITE_URL and PODIUM_TOKEN override the file. Raises NotConfigured if neither names a site."""
    stored = _stored()
    url = os.environ.get("PODIUM_SITE_URL") or stored.get("site_url", "")
    if not url:
        raise NotConfigured("No site is set. Run `podium login https://your-site`, or set PODIUM_SITE_URL.")
    # A stored token is sent to the stored site only.
    same_site = url.rstrip("/") == stored.get("site_url", "")
    return Site(normal_url(url), os.environ.get("PODIUM_TOKEN") or (stored.get("token", "") if same_site else ""))


def _stored() -> dict[str, str]:
    path = config_path()
    if not path.exists():
        return {}
    try:
        return {key: str(value) for key, value in tomllib.loads(path.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError) as error:
        raise NotConfigured(f"{path} cannot be read ({error}). Mend it, or run `podium login` again.") from error


def normal_url(url: str) -> str:
    """The URL without a final slash. Raises NotConfigured unless it is http(s) with a host and without credentials."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.password:
        raise NotConfigured(f"{url!r} is not a site's address. Give it as https://host, without a user or password.")
    return url.rstrip("/")


def save(site: Site) -> Path:
    """Write the file, at no time readable by other users. Returns its path."""
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # a JSON string is a TOML basic string
    write_atomically(path, f"site_url = {json.dumps(site.url)}\ntoken = {json.dumps(site.token)}\n".encode())
    return path
