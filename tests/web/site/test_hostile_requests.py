"""Requests that nobody's browser sends: each is answered with words, none with an error of the site's."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.models import AuditEntry, Submission
from tests import factories
from tests.factories import Cast
from tests.made_once import of_module, part

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

HUGE = "9" * 40
VALUES = ["%00", HUGE, f"-{HUGE}", "'", "a" * 5000, "%FF%FE", "1e9", "٣", "-1", "*", "../../etc/passwd"]
PARAMETERS = ["track", "k", "group", "q", "org", "weights", "sort", "page", "limit", "offset", "release", "entrant",
              "state", "mine", "against"]  # fmt: skip


def _make() -> tuple[Cast, Submission]:
    cast, made = Cast.make(), factories.release(n_problems=2)
    return cast, factories.judged_submission(cast.entrant, made, factories.offer(made))


made_site = of_module(_make)
cast, stored = part(0), part(1)


def addresses(stored: Submission) -> list[str]:
    slug, evaluation = stored.release.slug, stored.evaluations.order_by("pk").first()
    problem = stored.release.problems.order_by("pk").first()
    assert evaluation and problem
    of_release = ["board", "board_csv", "board_json", "charts", "problems", "release_submissions", "release_about"]
    return [
        *(reverse(name, args=[slug]) for name in of_release),
        reverse("chart", args=[slug, "fast-p"]),
        reverse("chart", args=[slug, "differences"]),
        reverse("problem", args=[slug, problem.slug]),
        reverse("submission", args=[stored.pk]),
        reverse("submission_progress", args=[stored.pk]),
        reverse("evaluation", args=[evaluation.pk]),
        reverse("entrant", args=[stored.entrant.slug]),
        reverse("submit"),
        *(f"/api/v1/{name}" for name in ("releases", "entrants", "submissions", "tracks", "nodes")),
        f"/api/v1/releases/{slug}/board",
        f"/api/v1/releases/{slug}/problems",
        f"/api/v1/submissions/{stored.pk}/results.jsonl",
    ]


@pytest.mark.parametrize("value", VALUES)
def test_odd_values_of_parameters_are_no_errors(client: Client, cast: Cast, stored: Submission, value: str) -> None:
    client.force_login(cast.owner)
    query = "&".join(f"{name}={value}" for name in PARAMETERS if name != "mine")
    for address in addresses(stored):
        assert client.get(f"{address}?{query}").status_code < 500, address


@pytest.mark.parametrize("name", PARAMETERS)
def test_each_parameter_alone_is_read_with_care(client: Client, stored: Submission, name: str) -> None:
    for address in addresses(stored):
        for value in ("%00", HUGE, "%FF"):
            assert client.get(f"{address}?{name}={value}").status_code < 500, f"{address}?{name}={value}"


@pytest.mark.parametrize("path", ["submissions/{}/", "evaluations/{}/", "evaluations/{}/runs.json",
                                  "api/v1/submissions/{}", "api/v1/evaluations/{}"])  # fmt: skip
def test_a_number_beyond_every_row_is_not_there(client: Client, stored: Submission, path: str) -> None:
    assert client.get("/" + path.format(HUGE)).status_code == 404


def test_evaluations_named_by_impossible_numbers_cannot_be_rerun(
    client: Client, cast: Cast, stored: Submission
) -> None:
    client.force_login(cast.owner)
    for number in (int(HUGE), -1, 0):
        body = {"reason": "x", "evaluations": [number]}
        answer = client.post(f"/api/v1/submissions/{stored.pk}/rerun", body, content_type="application/json")
        assert answer.status_code == 400


def test_nul_in_what_is_typed_is_no_error(client: Client, cast: Cast, stored: Submission) -> None:
    client.force_login(cast.owner)
    typed = {"entrant": "alpha", "tracks": ["cpu-test"], "path-0": "solution.sh", "content-0": "exit 0 \0"}
    problem = stored.release.problems.order_by("pk").first()
    assert problem
    address = reverse("submit_typed", args=[stored.release.slug, problem.slug])
    for changes in ({}, {"path-0": "a\0b"}, {"note": "a\0b"}, {"entrant": "a\0"}, {"tracks": ["\0"]}):
        assert client.post(address, typed | changes).status_code in {302, 422}
    for name in ("rerun_submission", "cancel_submission", "choose_submission"):
        assert client.post(reverse(name, args=[stored.pk]), {"reason": "because\0", "verdict": "\0"}).status_code < 500
    assert not any("\0" in reason for reason in AuditEntry.objects.values_list("reason", flat=True))


@pytest.mark.parametrize("path", ["/", "/accounts/login/", "/submissions/new/", "/api/v1/entrants", "/admin/login/"])
def test_a_body_beyond_the_bound_is_refused_before_it_is_read(path: str, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 50_000
    client = Client(enforce_csrf_checks=True)
    body = b"x" * 100_001
    answer = client.post(path, body, content_type="multipart/form-data; boundary=b")
    assert answer.status_code == 413
    assert b"larger than" in answer.content
