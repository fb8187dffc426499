"""Permissions of addresses for PMPP's client. No log keeps a token."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as configured
from django.test import Client
from django.utils import timezone
from gunicorn.config import Config

from leaderboard.actions.intake.pmpp_runs import revoke_token
from leaderboard.gunicorn_log import RedactingLogger
from leaderboard.models import AuditEntry, PmppRun, PmppToken
from leaderboard.pmpp.urls import urlpatterns
from leaderboard.pmpp.views import UNKNOWN
from leaderboard.site.redaction import RedactingFormatter
from tests.fleet.site import Site
from tests.pmpp_routes.callers import Caller, token_for

pytestmark = pytest.mark.django_db
ROUTES = {"health": "get", "tasks": "get", "evaluate": "post", "check-task": "post"}


def test_every_route_is_in_this_table() -> None:
    assert {str(one.pattern).rpartition("/")[2] for one in urlpatterns} == ROUTES.keys()


def revoked(site: Site, token: PmppToken) -> None:
    assert revoke_token(site.owner, token) is True
    assert revoke_token(site.owner, token) is False


def expired(site: Site, token: PmppToken) -> None:
    PmppToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def disabled(site: Site, token: PmppToken) -> None:
    site.owner.is_active = False
    site.owner.save()


def unknown(site: Site, token: PmppToken) -> None:
    PmppToken.objects.all().delete()


@pytest.mark.parametrize("change", [revoked, expired, disabled, unknown])
@pytest.mark.parametrize("route", ROUTES)
def test_without_a_valid_token_each_route_answers_the_same(
    route: str, change: Callable[[Site, PmppToken], None], site: Site
) -> None:
    token, secret = token_for(site)
    change(site, token)
    http = Client(enforce_csrf_checks=True)
    http.force_login(site.organiser)  # a session gives no right here
    answer = getattr(http, ROUTES[route])(f"/compat/pmpp/{secret}/{route}")
    assert (answer.status_code, answer.json()) == (404, {"detail": UNKNOWN})


@pytest.mark.parametrize("route", ROUTES)
def test_a_token_needs_no_form_key_and_the_right_method(route: str, site: Site) -> None:
    http = Client(enforce_csrf_checks=True)
    other = "post" if ROUTES[route] == "get" else "get"
    path = f"/compat/pmpp/{token_for(site)[1]}/{route}"
    assert getattr(http, other)(path).status_code == 405
    assert getattr(http, ROUTES[route])(path).status_code in (200, 422)
    assert "no-store" in getattr(http, ROUTES[route])(path)["Cache-Control"]


def test_a_token_is_stored_as_a_digest(site: Site) -> None:
    token, secret = token_for(site)
    assert secret.startswith(token.hint)
    assert secret not in str(PmppToken.objects.values()) + str(AuditEntry.objects.values())


def console() -> logging.Formatter:
    formatter = configured.LOGGING["formatters"]["line"]
    assert formatter["class"] == "leaderboard.site.redaction.RedactingFormatter"
    return RedactingFormatter(formatter["format"], style=formatter["style"])


def lines_of(caplog: Any) -> list[str]:
    return [console().format(record) for record in caplog.records]


def test_no_line_of_the_sites_log_holds_a_token(site: Site, caplog: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = Caller(token_for(site)[1], Client(raise_request_exception=False))
    with caplog.at_level(logging.DEBUG):
        caller.get("evaluate")  # 405
        caller.get("nothing")  # 404
        caller.evaluate(task_dir="nothing")  # 400
        caller.http.get(f"/compat/pmpp/{caller.secret}/health", headers={"host": "evil.example"})
        monkeypatch.setattr("leaderboard.pmpp.views.find_problem", lambda *_: 1 / 0)
        assert caller.evaluate().json()["detail"].startswith("The site failed")
    lines = lines_of(caplog)
    assert any("[token]/nothing" in one for one in lines)
    assert any("ZeroDivisionError" in one for one in lines)
    assert not any(caller.secret in one for one in lines)


def test_the_sites_own_process_redacts_a_misrouted_call(site: Site, caplog: Any, settings: Any) -> None:
    settings.ROOT_URLCONF = "leaderboard.urls"
    caller = Caller(token_for(site)[1])
    assert caller.evaluate().status_code == 404
    assert not PmppRun.objects.exists()
    assert "[token]/evaluate" in "".join(lines_of(caplog))
    assert caller.secret not in "".join(lines_of(caplog))


def test_no_line_of_gunicorns_logs_holds_a_token(site: Site, tmp_path: Any) -> None:
    secret = token_for(site)[1]
    config = Config()
    for name in ("error", "access"):
        config.set(f"{name}log", str(tmp_path / name))
    config.set("loglevel", "debug")
    log = RedactingLogger(config)
    path = f"/compat/pmpp/{secret}/evaluate?again={secret}"
    log.access_log.info('127.0.0.1 "POST %s HTTP/1.1" 200 "%s"', path, f"https://site{path}")
    try:
        raise ValueError(path)
    except ValueError:
        log.exception("Error handling request %s", path)
    for name in ("error", "access"):
        text = (tmp_path / name).read_text()
        assert "/compat/pmpp/[token]/evaluate" in text
        assert secret not in text
