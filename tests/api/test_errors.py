"""Every refusal has one shape, whoever makes it."""

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from tests import factories
from tests.api import calls

pytestmark = pytest.mark.django_db


def check_shape(answer: Any, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.content
    said: dict[str, Any] = answer.json()
    assert {"code", "message"} <= said.keys() <= {"code", "message", "pointer", "line", "details"}
    assert said["message"]
    return said


@pytest.mark.parametrize("path", ["nowhere", "releases/none", "submissions/1", "evaluations/1", "entrants/none"])
def test_what_is_not_here_is_a_404_in_words(db: Any, path: str) -> None:
    said = check_shape(calls.get(path), 404)
    assert said["code"] == "not_found"
    assert "may see" in said["message"]


def test_a_wrong_method_is_refused_in_the_same_shape(cast: Any) -> None:
    check_shape(calls.post("releases", {}, cast.owner), 405)


def test_broken_json_is_refused_in_the_same_shape(cast: Any) -> None:
    answer = Client().post(
        "/api/v1/entrants", "{", content_type="application/json",
        headers={"Authorization": f"Bearer {factories.token(cast.owner)}"},
    )  # fmt: skip
    assert check_shape(answer, 400)["code"] == "parse_error"


def test_a_missing_field_is_named(cast: Any) -> None:
    said = check_shape(calls.post("entrants", {}, cast.owner), 400)
    assert said["message"].startswith("name: ")
    assert said["pointer"] == "/name"
    assert "name" in said["details"]


TYPED = {"release": "test-1", "entrant": "alpha", "tracks": ["cpu-test"], "task_id": "Shell/0"}
FILE = {"path": "run.sh", "content": "exit 0"}


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        ({**TYPED, "files": [FILE, {"path": "b"}]}, 400, "/files/1/content"),
        ({**TYPED, "files": [FILE, "b"]}, 400, "/files/1"),
        ({**TYPED, "files": []}, 400, "/files"),
        ({**TYPED, "files": [FILE], "tracks": ["cpu-test", {}]}, 400, "/tracks/1"),
        ({**TYPED, "files": [FILE], "tracks": ["cpu-test", "none"]}, 404, "/tracks/1"),
        ({**TYPED, "files": [FILE], "release": "none"}, 404, "/release"),
        ({**TYPED, "files": [FILE], "entrant": "none"}, 404, "/entrant"),
        ([], 400, None),
    ],
)
def test_a_bad_body_is_refused_at_one_place(cast: Any, body: Any, status: int, pointer: str | None) -> None:
    factories.offer(factories.release())
    said = check_shape(calls.post("submissions", body, cast.owner), status)
    assert said.get("pointer") == pointer


def test_broken_json_names_its_place_once(cast: Any) -> None:
    headers = {"Authorization": f"Bearer {factories.token(cast.owner)}"}
    bodies = {'{"name": }': "at character 10.", '{"name":\n "a",}': "at line 2, character 6."}
    for text, place in bodies.items():
        answer = Client().post("/api/v1/entrants", text, content_type="application/json", headers=headers)
        assert check_shape(answer, 400)["message"].endswith(place)
        assert "char " not in answer.json()["message"]


def test_an_upload_over_the_bound_is_refused_before_it_is_read(cast: Any, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 1000
    made = factories.release()
    track = factories.offer(made)
    answer = calls.upload(cast.owner, made, track, note="x" * 70_000)
    said = check_shape(answer, 413)
    assert said["code"] == "too_large"
    assert "MiB" in said["message"]


def test_typed_code_over_the_bound_is_refused(cast: Any, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    check_shape(calls.post("submissions", {"note": "x" * 70_000}, cast.owner), 413)


def test_too_many_submissions_are_throttled_with_words(cast: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from leaderboard.api.submissions import SubmitThrottle

    monkeypatch.setattr(SubmitThrottle, "THROTTLE_RATES", {"submit": "1/min"})
    cache.clear()
    calls.post("submissions", {}, cast.owner)
    answer = calls.post("submissions", {}, cast.owner)
    assert check_shape(answer, 429)["code"] == "throttled"
    assert int(answer.headers["Retry-After"]) > 0
    assert calls.get("submissions", cast.owner).status_code == 200
    cache.clear()
