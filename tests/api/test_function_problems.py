"""Function problems by the API: what a client reads of one, and how it submits and tries a solution."""

from typing import Any

import pytest
from django.test import Client

from leaderboard.models import Sample, Track
from problems.models import Release
from tests import factories, function_site
from tests.factories import Cast

PROBLEM = "/api/v1/releases/mixed-1/problems/row-softmax"


@pytest.fixture
def shop(cast: Cast) -> dict[str, Any]:
    made = function_site.mixed_release()
    return {"release": made.slug, "entrant": "alpha", "tracks": [factories.offer(made).slug], "task_id": "row-softmax"}


def post(cast: Cast, path: str, body: dict[str, Any]) -> Any:
    headers = {"Authorization": f"Bearer {factories.token(cast.owner)}"}
    return Client().post(f"/api/v1/{path}", body, content_type="application/json", headers=headers)


def files(content: str, path: str = "solution.cpp") -> dict[str, Any]:
    return {"files": [{"path": path, "content": content}]}


def test_a_client_reads_signatures_cases_and_starter_code(shop: dict[str, Any], client: Any) -> None:
    told = client.get(PROBLEM).json()
    assert (told["kind"], told["languages"], told["device"]) == ("function", ["cpp", "python"], "cpu")
    assert told["signatures"]["python"] == "def solution(x, y, rows, cols)"
    assert told["manifest"]["accuracy"]["rtol"] == 1e-5
    assert [case["shapes"]["x"] for case in told["manifest"]["cases"]] == [[3, 5], [512, 4096]]
    assert {name: file["path"] for name, (file,) in told["starters"].items()} == {
        "cpp": "solution.cpp",
        "python": "solution.py",
    }
    assert [case["name"] for case in told["cases"]] == [function_site.SMALL, function_site.LARGE]
    assert told["held_out_paths"] == ["def.py"]
    assert "definition words" not in str(told)


def test_a_solution_is_submitted(shop: dict[str, Any], cast: Cast) -> None:
    answer = post(cast, "submissions", shop | files(function_site.PYTHON, "solution.py"))
    assert answer.status_code == 201
    assert Sample.objects.get().invalid_reason == ""


def test_a_wrong_signature_makes_an_invalid_sample_with_the_rules_words(shop: dict[str, Any], cast: Cast) -> None:
    answer = post(cast, "submissions", shop | files(function_site.WRONG_SIGNATURE))
    assert answer.status_code == 201
    (notice,) = answer.json()["notices"]
    assert notice.startswith("row-softmax sample 1 is invalid: solution.cpp line 1: `solution` takes 2 parameters")
    assert Sample.objects.get().evaluations.get().current_result.verdict == "invalid"


def test_a_trial_of_a_wrong_signature_is_refused(shop: dict[str, Any], cast: Cast) -> None:
    body = {**shop, **files(function_site.WRONG_SIGNATURE), "track": shop["tracks"][0]}
    refusal = post(cast, "trials", body).json()
    assert refusal["code"] == "invalid_solution"
    assert "`solution` takes 2 parameters" in refusal["message"]


def test_a_results_cases_come_with_what_their_reader_may_see(shop: dict[str, Any], cast: Cast, client: Any) -> None:
    made, track = Release.objects.get(), Track.objects.get()
    stored = function_site.judged(cast.entrant, made, track, function_site.wrong_report())
    path = f"/api/v1/evaluations/{stored.evaluations.get(problem__task_id='row-softmax').pk}"
    facts = [case["facts"] for case in client.get(path).json()["result"]["cases"]]
    assert facts == [{"n_calls": 32}, {"n_calls": 1}]
    client.force_login(cast.teammate)
    told = client.get(path).json()["result"]["cases"][1]["facts"]
    assert (told["n_wrong"], told["largest_difference"]) == (2, "0.25")
    assert "prepare_ms" not in told
