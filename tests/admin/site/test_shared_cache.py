"""The throttles count in one cache, which every process of the site shares."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache, caches
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection

from leaderboard import settings as site_settings
from leaderboard.api.submissions import SubmitThrottle
from tests import factories
from tests.api import calls

ROOT = Path(__file__).resolve().parents[3]


def elsewhere(code: str) -> str:
    """The output of another process of the site, on the same database."""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": _address()}
    command = [sys.executable, "-c", f"import django; django.setup()\n{code}"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


def _address() -> str:
    found = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{found['NAME']}"
    host = f"{found['HOST'] or 'localhost'}:{found['PORT'] or 5432}"
    return f"postgresql://{found['USER']}:{found['PASSWORD']}@{host}/{found['NAME']}"


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_requests_to_different_processes_are_counted_together(monkeypatch: Any) -> None:
    cast = factories.Cast.make()
    made = factories.release(1)
    track = factories.offer(made)
    monkeypatch.setattr(SubmitThrottle, "THROTTLE_RATES", {"submit": "2/min"})
    cache.clear()
    assert calls.upload(cast.owner, made, track).status_code == 201
    key = f"throttle_submit_{cast.owner.pk}"
    code = f"from django.core.cache import cache; h = cache.get({key!r}); cache.set({key!r}, h + h, 60); print(len(h))"
    assert elsewhere(code) == "1", "another process sees the request"
    answer = calls.upload(cast.owner, made, track)
    assert (answer.status_code, answer.json()["code"]) == (429, "throttled"), "and this one sees its"
    cache.clear()


@pytest.mark.django_db
def test_the_cache_keeps_no_more_than_its_bound(monkeypatch: Any) -> None:
    monkeypatch.setattr(caches["default"], "_max_entries", 50)
    for n in range(200):
        cache.set(f"key-{n}", n, 60)
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM podium_cache")
        assert cursor.fetchone()[0] <= 51


@pytest.mark.django_db
def test_migrating_makes_its_table(django_db_blocker: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE podium_cache")
    call_command("migrate", verbosity=0)
    cache.set("key", 1)
    assert cache.get("key") == 1


def test_redis_may_hold_it_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_settings, "CACHE_URL", "redis://host/1")
    assert site_settings._cache()["BACKEND"].endswith("RedisCache")
    monkeypatch.setattr(site_settings, "CACHE_URL", "memcached://host")
    with pytest.raises(ImproperlyConfigured, match="PODIUM_CACHE_URL"):
        site_settings._cache()
