"""Bodies that no client sends: every endpoint refuses them with words, none with an error of the site's."""

from typing import Any

import pytest
from django.test import Client

from leaderboard.models import Submission
from tests import factories
from tests.api import calls
from tests.made_once import of_module, part

pytestmark = pytest.mark.django_db
CHANGING = ("entrants", "submissions", "trials", *(f"submissions/<id>/{act}" for act in ("cancel", "choose", "rerun")))
TYPED = '{"release":"test-1","entrant":"alpha","tracks":["cpu-test"],"track":"cpu-test","task_id":"Shell/0",%s}'
BODIES = {
    "open lists": "[" * 100_000,
    "open objects": '{"a":' * 100_000,
    "lists": "[" * 100_000 + "]" * 100_000,
    "lists that decode": "[" * 900 + "]" * 900,
    "an inner list": TYPED % ('"files":' + "[" * 900 + "]" * 900),
    "an inner object": TYPED % ('"files":[{"path":"a","content":' + '{"a":' * 900 + "1" + "}" * 900 + "}]"),
    "a list as a name": '{"reason":' + "[" * 500 + "]" * 500 + ',"name":' + "[" * 500 + "]" * 500 + "}",
    "a number": "9" * 100_000,
    "an infinite number": TYPED % '"files":[],"n":1e999',
    "half a character": TYPED % '"note":"\\ud800","files":[{"path":"\\ud800","content":"\\ud800"}]',
    "NUL": TYPED % '"note":"\\u0000","files":[{"path":"a\\u0000","content":"\\u0000"}]',
}


def _make() -> tuple[factories.Cast, Submission]:
    cast, made = factories.Cast.make(), factories.release(1)
    return cast, factories.judged_submission(cast.entrant, made, factories.offer(made), n_samples=1)


made_site = of_module(_make)
cast, stored = part(0), part(1)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("path", CHANGING)
def test_no_body_is_an_error_of_the_site(cast: Any, stored: Submission, path: str, body: str) -> None:
    headers = {"Authorization": f"Bearer {factories.token(cast.owner)}"}
    address = f"/api/v1/{path.replace('<id>', str(stored.pk))}"
    answer = Client().post(address, body, content_type="application/json", headers=headers)
    assert answer.status_code < 500, answer.content[:300]
    if "[" * 101 in body or '{"a":' * 101 in body:
        assert answer.status_code == 400
        assert "100 levels" in answer.json()["message"]


def test_bodies_as_forms_are_still_read(cast: Any, stored: Submission) -> None:
    headers = {"Authorization": f"Bearer {factories.token(cast.owner)}"}
    answer = Client().post(f"/api/v1/submissions/{stored.pk}/rerun", {"reason": "again"}, headers=headers)
    assert answer.json() == {"evaluations": 1}
    assert calls.get(f"submissions/{stored.pk}").json()["state"] == "done"
