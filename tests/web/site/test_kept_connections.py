"""A connection that has just answered is not asked whether it lives; one that has been idle is."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from django.db import connection

from leaderboard.site import kept_connections

pytestmark = pytest.mark.django_db


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(kept_connections, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(connection, "podium_answered_at", 0.0, raising=False)
    connection.ensure_connection()
    return now


def next_request() -> bool:
    """Whether its connection needs no check, as Django left it before."""
    connection.health_check_done = False  # type: ignore[attr-defined]
    kept_connections._spare()
    return bool(connection.health_check_done)  # type: ignore[attr-defined]


def test_the_check_is_spared_for_seconds_after_an_answer(clock: list[float]) -> None:
    assert not next_request()
    kept_connections._note()
    clock[0] += kept_connections.SPARED_SECONDS - 0.1
    assert next_request()
    clock[0] += 0.2
    assert not next_request()


def test_an_answer_that_failed_spares_nothing(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "errors_occurred", True)
    kept_connections._note()
    assert not next_request()


@pytest.mark.parametrize(("signal", "receiver"), [("request_started", "_spare"), ("request_finished", "_note")])
def test_it_comes_after_django_s_own_receivers(signal: str, receiver: str) -> None:
    """In a process of its own: the test client takes Django's receiver out and puts it back behind ours."""
    code = (
        f"import django; django.setup(); from django.core.signals import {signal} as signal;"
        "print(*(getattr(one, '__name__', '') for one in signal._live_receivers(sender=None)[0]))"
    )
    names = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert names.index("close_old_connections") < names.index(receiver)
