"""System checks of the configuration, with stable ids."""

import re
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

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
