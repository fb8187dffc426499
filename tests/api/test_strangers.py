"""A stranger at every endpoint: what is private stays unseen, what changes things is refused."""

import re
from typing import Any

import pytest
from django.test import Client

from leaderboard.api import urls as leaderboard_urls
from leaderboard.models import Evaluation, Submission, Trial
from runners.fleet.api import urls as fleet_urls
from tests import factories
from tests.api import calls
from tests.made_once import of_module, part

pytestmark = pytest.mark.django_db

READING = {
    "me": 401, "releases": 200, "releases/<release>": 404, "releases/<release>/problems": 404,
    "releases/<release>/problems/<problem>": 404, "releases/<release>/board": 404,
    "releases/<release>/compare": 404, "releases/<release>/starter-kit.zip": 404,
    "samples.jsonl": 401, "tracks": 200, "nodes": 200,
    "entrants": 200, "entrants/<system>": 404, "submissions": 200, "submissions/check": 405, "submissions/<id>": 404,
    "submissions/<id>/progress": 404, "submissions/<id>/cancel": 405, "submissions/<id>/rerun": 405,
    "submissions/<id>/choose": 405,
    "submissions/<id>/results.jsonl": 404, "evaluations/<id>": 404, "evaluations/<id>/solution.tar.gz": 404,
    "trials": 405, "trials/<id>": 404,
}  # fmt: skip
"""Status of a GET by somebody without an account, on a private release and its submission."""
CHANGING = (
    "entrants",
    "submissions",
    "submissions/check",
    "trials",
    "submissions/<id>/cancel",
    "submissions/<id>/choose",
    "submissions/<id>/rerun",
)
SECRETS = (b"Private words", b"Release private-1", b"alpha-private", b"solution words", b"reference")


def _private() -> tuple[factories.Cast, dict[str, str]]:
    cast = factories.Cast.make()
    made = factories.release(1, "private-1", is_public=False, description="Private words")
    made.invited.add(cast.owner)
    factories.EntrantFactory(slug="hidden-system", name="alpha-private", kind="system")
    track = factories.offer(made)
    stored: Submission = factories.judged_submission(cast.entrant, made, track)
    trial = Trial.objects.create(user=cast.owner, problem=made.problems.get(), track=track, solution_bytes=1)
    evaluation = Evaluation.objects.filter(submission=stored)[0].pk
    return cast, {
        "<release>": made.slug, "<problem>": "shell-0", "<system>": "hidden-system", "<id>": str(stored.pk),
        "evaluations/<id>": f"evaluations/{evaluation}", "trials/<id>": f"trials/{trial.pk}",
    }  # fmt: skip


made_site = of_module(_private)
cast, private = part(0), part(1)


def address(path: str, names: dict[str, str]) -> str:
    for name in sorted(names, key=len, reverse=True):
        path = path.replace(name, names[name])
    return path


def test_no_endpoint_is_forgotten_here() -> None:
    shape = {re.sub(r"<[^>]*>", "<>", path) for path in READING}
    routes = [*leaderboard_urls.ROUTES, *fleet_urls.ROUTES]
    assert {re.sub(r"<[^>]*>", "<>", path) for path, _ in routes} == shape


@pytest.mark.parametrize("path", READING)
def test_a_stranger_without_account_sees_nothing_private(private: dict[str, str], path: str) -> None:
    answer = calls.get(address(path, private))
    assert answer.status_code == READING[path]
    assert not [secret for secret in SECRETS if secret in answer.content]


@pytest.mark.parametrize("path", [path for path in READING if READING[path] == 404])
def test_a_stranger_with_an_account_sees_nothing_private_either(private: dict[str, str], cast: Any, path: str) -> None:
    assert calls.get(address(path, private), cast.stranger).status_code == 404


@pytest.mark.parametrize("path", [path for path in READING if READING[path] == 404 and "<system>" not in path])
def test_whoever_is_invited_sees_it(private: dict[str, str], cast: Any, path: str) -> None:
    status = 400 if path.endswith("/compare") else 200  # a comparison names entrants; the release is found all the same
    assert calls.get(address(path, private), cast.owner).status_code == status


@pytest.mark.parametrize("path", CHANGING)
def test_nothing_changes_without_an_account(private: dict[str, str], path: str) -> None:
    before = Submission.objects.values_list("state", flat=True)[0]
    answer = Client().post(f"/api/v1/{address(path, private)}", {"reason": "x"}, content_type="application/json")
    assert answer.status_code == 401
    assert Submission.objects.values_list("state", flat=True)[0] == before


@pytest.mark.parametrize("path", ["submissions/<id>/cancel", "submissions/<id>/choose", "submissions/<id>/rerun"])
def test_a_stranger_cannot_touch_what_he_cannot_see(private: dict[str, str], cast: Any, path: str) -> None:
    assert calls.post(address(path, private), {"reason": "x"}, cast.stranger).status_code == 404
