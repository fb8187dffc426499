"""Which site the command line talks to, and with which API token: the environment first, then `podium login`'s file."""

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


class NotConfigured(Exception):
    """No site, or no usable file; the message says how to mend it."""


@dataclass(frozen=True)
class Site:
    """`token` is empty where nobody has signed in: reading public things works without."""

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
    """PODIUM_SITE_URL and PODIUM_TOKEN win over the file. Raises NotConfigured when neither names a site."""
    stored = _stored()
    url = os.environ.get("PODIUM_SITE_URL") or stored.get("site_url", "")
    if not url:
        raise NotConfigured("No site is set. Run `podium login https://your-site`, or set PODIUM_SITE_URL.")
    # A stored token belongs to the stored site alone; another site must not be shown it.
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
    """Without the slash at its end. Raises NotConfigured unless it is http(s) with a host and nothing secret in it."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.password:
        raise NotConfigured(f"{url!r} is not a site's address. Give it as https://host, without a user or password.")
    return url.rstrip("/")


def save(site: Site) -> Path:
    """Write the file so that it is never readable by others, not even for a moment."""
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_suffix(".new")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        # a JSON string is a TOML basic string
        file.write(f"site_url = {json.dumps(site.url)}\ntoken = {json.dumps(site.token)}\n")
    temporary.replace(path)
    return path
