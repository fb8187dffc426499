"""A database that does not answer within its limits: 503 with words, on pages and in the API; and those limits."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from tests import factories
from tests.markup import markup
from tests.requirements import POSTGRES_URL

ROOT = Path(__file__).parents[3]
LIMITS = ("lock_timeout", "statement_timeout")


def limits_of(serves: str, **more: str) -> Any:
    """The limits of a new connection of a process of the site, or its complaint."""
    code = f"""
import django, json
django.setup()
from django.db import connection
with connection.cursor() as cursor:
    found = [cursor.execute(f"SHOW {{name}}").fetchone()[0] for name in {LIMITS!r}]
print(json.dumps(found))
"""
    given = {"DATABASE_URL": POSTGRES_URL, "DJANGO_SETTINGS_MODULE": "leaderboard.settings", "PODIUM_SERVES": serves}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **given, **more}, capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip
    return json.loads(ran.stdout) if ran.returncode == 0 else ran.stderr


@pytest.mark.needs("postgres")
def test_pages_and_worker_wait_for_bounded_times_and_commands_do_not() -> None:
    assert limits_of("site") == ["10s", "30s"]
    assert limits_of("worker") == ["10s", "10min"]
    assert limits_of("") == ["0", "0"]


@pytest.mark.needs("postgres")
def test_the_limits_are_settings_and_0_leaves_them_out() -> None:
    given = {"PODIUM_LOCK_TIMEOUT_SECONDS": "3", "PODIUM_STATEMENT_TIMEOUT_SECONDS": "0"}
    assert limits_of("site", **given) == ["3s", "0"]
    url = f"{POSTGRES_URL}?options=-c%20statement_timeout%3D7s"
    assert limits_of("site", DATABASE_URL=url, PODIUM_STATEMENT_TIMEOUT_SECONDS="0") == ["10s", "7s"]


def test_a_limit_that_is_no_number_is_refused() -> None:
    assert "PODIUM_LOCK_TIMEOUT_SECONDS is 'soon'" in limits_of("site", PODIUM_LOCK_TIMEOUT_SECONDS="soon")
    assert "PODIUM_SERVES is 'pages'" in limits_of("pages")


@pytest.mark.parametrize(
    ("module", "serves"), [("leaderboard.wsgi", "site"), ("leaderboard.pmpp.wsgi", "pmpp"), ("leaderboard", "worker")]
)
def test_each_program_says_what_it_is(module: str, serves: str, tmp_path: Path) -> None:
    code = (
        f"import {module}; from leaderboard.celery import app; from django.conf import settings; print(settings.SERVES)"
    )
    given = {name: value for name, value in os.environ.items() if not name.startswith(("PODIUM_", "DJANGO_"))}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**given, "PODIUM_VAR_DIR": str(tmp_path)}, capture_output=True,
        text=True, check=True, timeout=60,
    )  # fmt: skip
    assert ran.stdout.strip() == serves


@pytest.mark.django_db
def test_a_statement_that_takes_too_long_is_answered_503(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    release = factories.release()
    factories.offer(release)

    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("canceling statement due to statement timeout")

    for module in ("web.boards", "api"):
        monkeypatch.setattr(f"leaderboard.{module}.board.source_of", fail)
    page = client.get(f"/releases/{release.slug}/")
    assert page.status_code == 503
    assert "database is busy" in markup(page)
    answer = client.get(f"/api/v1/releases/{release.slug}/board")
    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
