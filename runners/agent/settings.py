"""Reads a node's settings from environment variables: two required and some optional ones."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runners.agent.ground.errors import MissingSetting
from runners.agent.job.toolchain import cores
from runners.wire.log_lines import FORMATS, LINE, VARIABLE

NEEDED = {
    "PODIUM_SITE_URL": "the site's address, such as https://podium.example.org",
    "PODIUM_NODE_TOKEN": "the node's own token: an organiser makes one with `manage.py add_node`",
}
BROKER = {
    "PODIUM_BROKER_URL": "the broker: filesystem://, redis://… or amqp://…; this site tells its nodes none",
}

TRUE, FALSE = {"1", "true", "yes", "on"}, {"", "0", "false", "no", "off"}


@dataclass(frozen=True)
class NodeSettings:
    """Settings from the environment. `<NAME>_FILE` may name a file with the value, for secrets."""

    site_url: str
    token: str
    broker_url: str
    var_dir: Path
    sandbox: str | None
    slots: int
    celery_events: bool
    log_format: str = LINE

    @classmethod
    def read(cls, environ: Mapping[str, str] = os.environ, *, joins: bool = False) -> "NodeSettings":
        """Raises MissingSetting, which names and explains every missing variable. A node that joins needs no token."""
        values = {name: _text(environ, name) for name in (*NEEDED, *BROKER)}
        needed = {name: words for name, words in NEEDED.items() if not (joins and name == "PODIUM_NODE_TOKEN")}
        if any(not values[name] for name in needed):
            raise _missing(needed, values)
        return cls(
            site_url=values["PODIUM_SITE_URL"].rstrip("/"),
            token=values["PODIUM_NODE_TOKEN"],
            broker_url=values["PODIUM_BROKER_URL"],
            var_dir=Path(_text(environ, "PODIUM_VAR_DIR") or "var").resolve(),
            sandbox=_text(environ, "PODIUM_SANDBOX") or None,
            slots=_slots(_text(environ, "PODIUM_NODE_SLOTS")),
            log_format=_log_format(_text(environ, VARIABLE) or LINE),
            celery_events=_boolean("PODIUM_CELERY_EVENTS", _text(environ, "PODIUM_CELERY_EVENTS")),
        )

    def broker(self, told: str) -> str:
        """The broker's address: the node's own setting, else the one that the site told. Raises MissingSetting."""
        if found := self.broker_url or told:
            return found
        raise _missing(BROKER, {})


def _missing(needed: Mapping[str, str], values: Mapping[str, str]) -> MissingSetting:
    lines = [f"  {name}: {meaning}" for name, meaning in needed.items() if not values.get(name)]
    return MissingSetting("A node needs these variables, set as NAME or as NAME_FILE:\n" + "\n".join(lines))


def _text(environ: Mapping[str, str], name: str) -> str:
    file = environ.get(f"{name}_FILE")
    if not file:
        return environ.get(name, "").strip()
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise MissingSetting(f"{name}_FILE names {file}, which cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise MissingSetting(f"{name}_FILE names {file}, which is not UTF-8 text.") from error


def _slots(text: str) -> int:
    if not text:
        return cores()
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= 256:
        raise MissingSetting(f"PODIUM_NODE_SLOTS is {text!r}; use a whole number from 1 to 256")
    return int(text)


def _log_format(text: str) -> str:
    if text not in FORMATS:
        raise MissingSetting(f"{VARIABLE} is {text!r}; use {' or '.join(FORMATS)}")
    return text


def _boolean(name: str, text: str) -> bool:
    if text.lower() not in TRUE | FALSE:
        raise MissingSetting(f"{name} is {text!r}; use 1 or 0")
    return text.lower() in TRUE
