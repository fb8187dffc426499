"""System checks of the configuration, with stable ids."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Tags, Warning, register

_BROKERS = ("filesystem://", "redis://", "rediss://", "amqp://", "amqps://", "memory://")


@register()
def check_broker(**_: Any) -> list[CheckMessage]:
    if settings.BROKER_URL.startswith(_BROKERS):
        return []
    return [
        Error(
            f"PODIUM_BROKER_URL has a scheme Podium does not know: {settings.BROKER_URL.split(':')[0]!r}.",
            hint="Use filesystem://, redis://… or amqp://….",
            id="podium.E001",
        )
    ]


@register()
def check_submit_rate(**_: Any) -> list[CheckMessage]:
    rate = settings.SUBMIT_RATE
    if re.fullmatch(r"[1-9][0-9]*/(s|sec|second|m|min|minute|h|hour|d|day)", rate):
        return []
    return [Error(f"PODIUM_SUBMIT_RATE is {rate!r}.", hint="Use a number and a period, as 120/min.", id="podium.E002")]


@register(Tags.security, deploy=True)
def check_secret(**_: Any) -> list[CheckMessage]:
    if not settings.SECRET_KEY_IS_GENERATED:
        return []
    return [
        Warning(
            "PODIUM_SECRET_KEY is not set: a key generated under var/ is in use.",
            hint="Set PODIUM_SECRET_KEY or PODIUM_SECRET_KEY_FILE so that every process and host shares one key.",
            id="podium.W001",
        )
    ]


@register(Tags.security, deploy=True)
def check_https(**_: Any) -> list[CheckMessage]:
    if settings.HTTPS:
        return []
    return [
        Warning(
            "PODIUM_SITE_URL is not https://: node and API tokens would cross the network in clear.",
            hint="Serve the site through TLS and set PODIUM_SITE_URL=https://…",
            id="podium.W002",
        )
    ]


_NODES_PACKAGE = "docker"
_LOOK_SECONDS = 60


@register(Tags.security, deploy=True)
def check_nodes_rights(**_: Any) -> list[CheckMessage]:
    """The rights that a node's sandbox lacks here. Silent where no node's packages are, as in a site's container."""
    if find_spec(_NODES_PACKAGE) is None or os.environ.get("PODIUM_SANDBOX") in ("docker", "unconfined"):
        return []
    # the site does not import the node's side
    command = [sys.executable, "-P", "-m", "podium.cli", "rights", "--json"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=_LOOK_SECONDS, check=False)
    if said.returncode not in (0, 1):
        return [Warning(f"`podium rights` failed: {said.stderr.strip()[-300:]}", id="podium.W003")]
    is_node = os.environ.get("PODIUM_SANDBOX") == "bubblewrap"
    return [_withheld(json.loads(line), is_node) for line in said.stdout.splitlines()]


def _withheld(lack: dict[str, Any], is_node: bool) -> CheckMessage:
    """A warning where a node is to run, else a remark: the site alone needs none of it."""
    kind = Warning if is_node and lack["is_needed"] else Info
    return kind(
        f"A node here lacks a right: {lack['words']}",
        hint="docs/deploy.md lists the rights of a node's container.",
        id="podium.W003" if kind is Warning else "podium.I001",
    )
