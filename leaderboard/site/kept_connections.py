"""Spares requests the check of a database connection that has just answered another one.

Django asks a kept connection whether it lives before each request: a tenth of the time of a short call. A connection
that breaks within the seconds after its last answer fails one request, which is answered 503.
"""

import time
from typing import Any

from django.core.signals import request_finished, request_started
from django.db import connections

SPARED_SECONDS = 5.0
_ANSWERED_AT = "podium_answered_at"


def connect() -> None:
    """After Django's own receivers, which mark each connection as not checked."""
    request_finished.connect(_note, dispatch_uid="connections-noted")
    request_started.connect(_spare, dispatch_uid="connections-spared")


def _note(**_: Any) -> None:
    for one in connections.all(initialized_only=True):
        if one.connection is not None and not one.errors_occurred:
            setattr(one, _ANSWERED_AT, time.monotonic())


def _spare(**_: Any) -> None:
    for one in connections.all(initialized_only=True):
        if time.monotonic() - getattr(one, _ANSWERED_AT, -SPARED_SECONDS) < SPARED_SECONDS:
            one.health_check_done = True  # type: ignore[attr-defined]  # of Django, without a type
