"""The contents of results, and the parts that they keep from some readers."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from leaderboard.models import Evaluation, Submission
from problems.models import Release
from runners.wire.protocol import FlagReport, FlagScope, Verdict
from tests import factories
from tests.api import calls

pytestmark = pytest.mark.django_db
SECRETS = (b"held-out words", b"reference words", b"solution words", b"log words")


@pytest.fixture
def judged(cast: Any) -> Submission:
    made = factories.release(2)
    track = factories.offer(made)
    flag = FlagReport(code="left_early", scope=FlagScope.TIME, detail="seen")

    def verdict_of(one: Evaluation) -> Any:
        if one.problem.position == 0:
            return factories.report(Verdict.TEST_FAILED)
        return factories.report(Verdict.PASSED, flags=[flag])

    return factories.judged_submission(cast.entrant, made, track, verdict_of, n_samples=1)


def lines(submission: Submission, user: Any = None) -> list[dict[str, Any]]:
    answer = calls.get(f"submissions/{submission.pk}/results.jsonl", user)
    assert answer.status_code == 200
    return [json.loads(line) for line in answer.getvalue().splitlines()]


def test_each_evaluation_is_one_line_in_the_releases_order(judged: Submission) -> None:
    failed, passed = lines(judged)
    assert (failed["task_id"], failed["sample"], failed["passed"], failed["verdict"]) == (
        "Shell/0",
        0,
        False,
        "test_failed",
    )
    assert (passed["passed"], passed["skipped"], passed["speedup"]) == (True, False, 2.0)
    (measured,) = passed["measurements"]
    assert (measured["median_ms"], measured["baseline"]["median_ms"], len(measured["runs_ms"])) == (5.0, 10.0, 6)
    assert passed["flags"][0]["code"] == "left_early"
    assert passed["provenance"]["node"] == "node-a"


def test_results_hold_no_code_no_tests_and_no_logs(judged: Submission, cast: Any) -> None:
    for user in (None, cast.stranger, cast.owner):
        answer = calls.get(f"submissions/{judged.pk}/results.jsonl", user)
        assert not [secret for secret in SECRETS if secret in answer.getvalue()]


def test_why_a_sample_failed_is_the_teams_alone(judged: Submission, cast: Any) -> None:
    assert lines(judged)[0]["reason"] == lines(judged, cast.stranger)[0]["reason"] == ""
    assert (
        lines(judged, cast.teammate)[0]["reason"] == lines(judged, cast.organiser)[0]["reason"] == "first failure words"
    )


def test_an_evaluation_shows_logs_to_whom_it_may(judged: Submission, cast: Any) -> None:
    pk = Evaluation.objects.filter(submission=judged).order_by("pk")[0].pk

    def logs(user: Any) -> list[str | None]:
        return [step["log"] for step in calls.get(f"evaluations/{pk}", user).json()["steps"]]

    assert logs(None) == logs(cast.stranger) == []
    assert logs(cast.teammate) == ["build log words", None]
    assert logs(cast.organiser) == ["build log words", "test log words"]


def test_hidden_results_are_the_teams_until_the_day(judged: Submission, cast: Any) -> None:
    Release.objects.update(hidden_until=timezone.now() + timedelta(days=1))
    pk = Evaluation.objects.filter(submission=judged)[0].pk
    for path in (f"submissions/{judged.pk}", f"submissions/{judged.pk}/results.jsonl", f"evaluations/{pk}"):
        assert calls.get(path).status_code == calls.get(path, cast.stranger).status_code == 404
        assert calls.get(path, cast.owner).status_code == 200
    board = f"releases/{judged.release.slug}/board"
    assert calls.get(board).json()["standings"] == []
    assert len(calls.get(board, cast.owner).json()["standings"]) == 1


def test_results_cost_the_same_queries_however_many(cast: Any, django_assert_max_num_queries: Any) -> None:
    made = factories.release(5)
    stored = factories.judged_submission(cast.entrant, made, factories.offer(made), n_samples=6)
    with django_assert_max_num_queries(12):
        assert len(lines(stored)) == 30
