"""Trials by the API: send one, read what came of it; nobody else may, and no held-out file is shown."""

from typing import Any

import pytest

from leaderboard.actions.intake.try_solution import end_trial
from leaderboard.models import Trial
from problems.models import Release
from runners.wire.protocol import (
    Audience,
    CaseField,
    CaseReport,
    LogText,
    Provenance,
    Report,
    StepReport,
    Verdict,
)
from tests import factories, function_site
from tests.api import calls

pytestmark = pytest.mark.django_db
SECRETS = (b"held-out words", b"reference words")
CASE = CaseReport(
    name="small",
    verdict=Verdict.PASSED,
    fields=[
        CaseField(name="difference", value=0.25, audience=Audience.TEAM),
        CaseField(name="seed", value=7, audience=Audience.ORGANISER),
    ],
)


@pytest.fixture
def release(cast: Any) -> Release:
    made = factories.release(1, "trials-1")
    factories.offer(made)
    return made


def send(made: Release, user: Any, **changes: Any) -> Any:
    files = [{"path": "solution.sh", "content": "exit 0"}]
    order = {"release": made.slug, "task_id": "Shell/0", "track": "cpu-test", "files": files}
    return calls.post("trials", order | changes, user)


def ended(pk: int, verdict: Verdict = Verdict.TEST_FAILED) -> None:
    step = StepReport(name="build", exit_code=1, log=LogText(text="compiler words"))
    report = Report(verdict=verdict, reason="exit 1", steps=[step], cases=[CASE], provenance=Provenance())
    end_trial(Trial.objects.get(pk=pk), report)


def test_a_trial_is_queued_and_then_tells_what_came_of_it(release: Release, cast: Any) -> None:
    sent = send(release, cast.owner)
    assert sent.status_code == 201
    told = sent.json()
    assert (told["state"], told["verdict"], told["track"], told["ran_tests"]) == ("queued", "", "cpu-test", False)
    ended(told["id"])
    done = calls.get(f"trials/{told['id']}", cast.owner).json()
    assert (done["state"], done["verdict"], done["reason"]) == ("done", "test_failed", "exit 1")
    assert [(step["name"], step["exit_code"], step["log"]) for step in done["steps"]] == [
        ("build", 1, "compiler words")
    ]
    assert done["cases"] == [{"name": "small", "verdict": "passed", "facts": {"difference": 0.25}}]


def test_an_organiser_sees_every_trial_and_every_field(release: Release, cast: Any) -> None:
    pk = send(release, cast.owner).json()["id"]
    ended(pk)
    told = calls.get(f"trials/{pk}", cast.organiser).json()
    assert told["cases"][0]["facts"] == {"difference": 0.25, "seed": 7}


def test_a_trial_is_shown_to_nobody_else(release: Release, cast: Any) -> None:
    pk = send(release, cast.owner).json()["id"]
    for user in (None, cast.stranger, cast.teammate):
        answer = calls.get(f"trials/{pk}", user)
        assert answer.status_code == 404
        assert b"Shell/0" not in answer.content


def test_no_answer_holds_a_held_out_file(release: Release, cast: Any) -> None:
    sent = send(release, cast.owner)
    ended(sent.json()["id"])
    for answer in (sent, calls.get(f"trials/{sent.json()['id']}", cast.owner)):
        assert not [secret for secret in SECRETS if secret in answer.content]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"release": "no-such"}, 404),
        ({"task_id": "Shell/9"}, 404),
        ({"track": "no-such"}, 404),
        ({"files": []}, 400),
        ({"files": [{"path": "test/t.sh", "content": "x"}]}, 400),
    ],
)
def test_a_bad_order_is_refused_with_words(release: Release, cast: Any, changes: dict[str, Any], status: int) -> None:
    answer = send(release, cast.owner, **changes)
    assert answer.status_code == status, answer.content
    assert answer.json()
    assert not Trial.objects.exists()


def test_a_private_release_is_not_there_for_strangers(cast: Any) -> None:
    made = factories.release(1, "private-2", is_public=False)
    factories.offer(made)
    assert send(made, cast.stranger).status_code == 404
    assert not Trial.objects.exists()


def test_without_an_account_nothing_is_tried(release: Release) -> None:
    assert send(release, None).status_code == 401
    assert not Trial.objects.exists()


def test_too_large_an_order_is_refused_before_it_is_read(release: Release, cast: Any) -> None:
    files = [{"path": "solution.sh", "content": "x" * (40 << 20)}]
    assert send(release, cast.owner, files=files).status_code == 413


@pytest.mark.parametrize(
    ("sizes", "status", "words"),
    [
        ({"rows": 7}, 201, ""),
        ({}, 201, ""),
        ({"rows": 513}, 400, "rows is 513; choose 1 to 512"),
        ({"depth": 1}, 400, "'depth' is not a size of this problem. Its sizes are: rows, cols."),
        ({"rows": "many"}, 400, ""),
    ],
)
def test_a_trial_of_a_function_may_choose_its_sizes(cast: Any, sizes: dict[str, Any], status: int, words: str) -> None:
    made = function_site.mixed_release()
    factories.offer(made)
    files = [{"path": "solution.cpp", "content": function_site.CPP}]
    answer = send(made, cast.owner, task_id="row-softmax", files=files, sizes=sizes)
    assert answer.status_code == status
    assert words in answer.content.decode()
    if status == 201:
        assert answer.json()["sizes"] == Trial.objects.get().sizes == sizes


def test_a_trial_of_a_command_problem_has_no_sizes(release: Release, cast: Any) -> None:
    answer = send(release, cast.owner, sizes={"n": 3})
    assert answer.status_code == 400
    assert "Its sizes are fixed." in answer.content.decode()
