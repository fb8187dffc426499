"""PMPP's routes: the shapes that its client reads, who sees which log, and what is refused."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from leaderboard.models import DailyUse, Evaluation, PmppRun, PmppToken, Submission, Track
from problems.models import Release
from runners.fleet.worker.sweep import sweep
from runners.wire.protocol import FlagReport, FlagScope, LogText, StepReport, Verdict
from tests.fleet.site import Site, WireNode
from tests.pmpp_routes.callers import Caller, NodeWorks, report, token_for

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
Graded = Callable[..., NodeWorks]


def test_health_says_what_its_clients_look_for(caller: Caller) -> None:
    assert caller.get("health").json() == {
        "status": "healthy", "service": "podium", "tasks_root": "test-1", "gpu_available": False,
    }  # fmt: skip


def test_tasks_are_the_last_parts_of_the_ids(caller: Caller) -> None:
    rows = [{"name": name, "path": name, "has_makefile": True} for name in ("ch02-add", "ch03-mul")]
    assert caller.get("tasks").json() == {"tasks": rows, "count": 2}


def test_a_pass_is_a_success_with_an_entry_for_build_and_test(caller: Caller, graded: Graded) -> None:
    graded()
    said = caller.evaluate().json()
    assert said.pop("execution_time_ms") >= 0
    entry = {"target": "test_student", "success": True, "exit_code": 0}
    assert said == {
        "success": True,
        "error": None,
        "results": [
            entry | {"output": "$ make -s test_student", "execution_time_ms": 12.0},
            entry | {"output": "$ ./test_student", "execution_time_ms": 3.0},
        ],
    }


@pytest.mark.parametrize("name", ["ch02-add", "eval-tasks/ch02-add", "pmpp/ch02-add", "pmpp-ch02-add"])
def test_a_task_is_found_by_each_of_its_names(name: str, caller: Caller, graded: Graded) -> None:
    graded()
    assert caller.evaluate(task_dir=name).json()["success"] is True


def test_the_node_tests_with_the_held_out_tests_and_times_nothing(
    caller: Caller, node: WireNode, waits: Callable[..., NodeWorks]
) -> None:
    taken: list[dict[str, Any]] = []

    def work() -> None:
        taken.append(node.take())
        node.report(taken[0], report())

    waits(work)
    caller.evaluate("exit 0 # sent words")
    work_sent = taken[0]
    assert (work_sent["rules"]["purpose"], work_sent["rules"]["sides"]) == ("grade", "none")
    assert (work_sent["evaluation"], work_sent["rules"]["withheld"]) == (None, [])


def test_it_is_no_submission_and_counts_nowhere(caller: Caller, graded: Graded) -> None:
    graded()
    caller.evaluate()
    assert not Submission.objects.exists() and not Evaluation.objects.exists()
    assert DailyUse.objects.get().n_evaluations == 1


def test_others_read_the_first_failure_and_organisers_all(site: Site, graded: Graded) -> None:
    graded(Verdict.TEST_FAILED, "The test ended with exit 1.")
    said = Caller(token_for(site)[1]).evaluate().json()
    assert said["success"] is False
    assert said["error"] == "Test failed: The test ended with exit 1."
    assert said["results"][1]["output"] == "$ ./test_student\nTest failed: The test ended with exit 1."
    assert [one["success"] for one in said["results"]] == [True, False]
    assert "words" not in str(said)
    site.entrant.owner = site.organiser
    site.entrant.save()
    told = Caller(token_for(site, site.organiser)[1]).evaluate().json()
    assert "built words" in told["results"][0]["output"]
    assert "held-out test words" in told["results"][1]["output"]


def test_of_a_failed_build_others_read_the_first_error(caller: Caller, graded: Graded) -> None:
    log = LogText(text="In file test/t.h:\nsolution.sh:3: error: no such name\nheld-out line")
    graded(Verdict.BUILD_FAILED, "exit 1", steps=[StepReport(name="build", exit_code=1, log=log)])
    said = caller.evaluate().json()
    assert [one["success"] for one in said["results"]] == [False]
    assert "error: no such name" in said["results"][0]["output"]
    assert "held-out line" not in str(said)


@pytest.mark.parametrize(
    ("ending", "exit_code"),
    [({"timed_out": True}, 124), ({"signal": 11}, 139), ({"exit_code": 3}, 3), ({}, 1)],
)
def test_an_ending_becomes_an_exit_code(ending: dict[str, Any], exit_code: int, caller: Caller, graded: Graded) -> None:
    graded(Verdict.TEST_FAILED, "x", steps=[StepReport(name="test", **ending)])
    assert caller.evaluate().json()["results"][0]["exit_code"] == exit_code


def test_a_pass_that_a_person_must_look_at_is_no_success(caller: Caller, graded: Graded) -> None:
    graded(flags=[FlagReport(code="context_changed", scope=FlagScope.VERDICT)])
    said = caller.evaluate().json()
    assert (said["success"], said["results"][1]["success"]) == (False, False)
    assert "context_changed" in said["error"]


def test_a_failure_of_the_platform_is_not_graded_and_is_tried_again(
    caller: Caller, graded: Graded, node: WireNode
) -> None:
    graded(Verdict.PLATFORM_ERROR, "the disk is full")
    said = caller.evaluate().json()
    assert (said["success"], said["results"]) == (False, [])
    assert "Not graded" in said["error"] and "disk" not in said["error"]
    graded()
    assert caller.evaluate().json()["success"] is True
    assert sorted(PmppRun.objects.values_list("state", flat=True)) == ["done", "not_graded"]


def test_the_answer_comes_before_the_callers_limit(caller: Caller, waits: Callable[..., NodeWorks]) -> None:
    waiting = waits(lambda: None)
    said = caller.evaluate(timeout_sec=7).json()
    assert 5.0 < waiting.seconds[0] <= 6.3
    assert (said["success"], said["results"]) == (False, [])
    assert "Not graded: the run did not end within 7 s" in said["error"]
    run = PmppRun.objects.get()
    assert (run.state, run.n_calls, run.n_unanswered) == ("queued", 1, 1)


def test_a_busy_database_does_not_keep_a_caller_from_its_answer(
    caller: Caller, waits: Callable[..., NodeWorks], monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(_: int) -> None:
        raise OperationalError("database is locked")

    waits(lambda: None)
    monkeypatch.setattr("leaderboard.pmpp.views.note_unanswered", busy)
    assert "Not graded" in caller.evaluate().json()["error"]


def test_identical_code_joins_the_run(caller: Caller, waits: Callable[..., NodeWorks], node: WireNode) -> None:
    waits(lambda: None)
    caller.evaluate()
    waits(lambda: node.report(node.take(), report()))
    assert caller.evaluate().json()["success"] is True
    waits(lambda: pytest.fail("it has its verdict"))
    assert caller.evaluate().json()["success"] is True
    run = PmppRun.objects.get()
    assert (run.n_calls, run.n_unanswered, DailyUse.objects.get().n_evaluations) == (3, 1, 1)


def test_another_token_has_a_run_of_its_own(site: Site, caller: Caller, waits: Callable[..., NodeWorks]) -> None:
    waits(lambda: None)
    caller.evaluate()
    Caller(token_for(site)[1]).evaluate()
    assert PmppRun.objects.count() == 2


def test_one_token_takes_turns_with_submissions(
    site: Site, caller: Caller, waits: Callable[..., NodeWorks], node: WireNode
) -> None:
    site.submit({"pmpp/ch02-add": [f"exit {n}" for n in range(4)]})
    waits(lambda: None)
    for n in range(4):
        caller.evaluate(f"exit {n}")
    kinds = [node.take()["evaluation"] is None for _ in range(8)]
    assert sum(kinds[:4]) == 2  # not four runs first, nor four samples


def test_check_task_runs_the_reference_and_tells_others_no_more_than_its_verdict(
    caller: Caller, node: WireNode, waits: Callable[..., NodeWorks]
) -> None:
    taken: list[bytes] = []

    def work() -> None:
        work_sent = node.take()
        taken.append(b"".join(node.blob(work_sent, work_sent["solution"]["sha256"]).streaming_content))
        node.report(work_sent, report(Verdict.TEST_FAILED, "reference words"))

    waits(work)
    said = caller.post("check-task", {"task_dir": "ch02-add"}).json()
    assert b"reference words" in taken[0]
    assert (said["success"], said["error"], said["results"][0]["target"]) == (False, "Test failed", "test_reference")
    assert "words" not in str(said)


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, str(answer.json()["detail"])


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"task_dir": "ch99"}, 400, "GET tasks lists them"),
        ({"task_dir": "../.."}, 400, "no coding task of this release"),
        ({"task_dir": ""}, 400, "no coding task"),
        ({"student_targets": []}, 400, "there are 0"),
        ({"student_targets": ["a", "b"]}, 400, "there are 2"),
        ({"student_targets": ["a; rm"]}, 400, "Invalid target name"),
        ({"student_file": "../x.cu"}, 400, "without folders"),
        ({"student_file": "Makefile"}, 400, "use 'solution.sh'"),
        ({"code": "x" * 500_001}, 413, "500,001 bytes (max 500,000)"),
        ({"timeout_sec": 0}, 422, "greater than or equal to 1"),
        ({"timeout_sec": 10**6}, 422, "less than or equal to 3600"),
        ({"code": None}, 422, "valid string"),
    ],
)
def test_what_cannot_be_graded_is_refused_with_words(
    changes: dict[str, Any], status: int, words: str, caller: Caller
) -> None:
    answered, said = refusal(caller.evaluate(**changes))
    assert answered == status
    assert words in said
    assert not PmppRun.objects.exists()


@pytest.mark.parametrize("body", ["", "[]", "{", '{"task_dir": "\\ud800"}', "[" * 100_000])
def test_a_body_that_is_no_request_is_refused(body: str, caller: Caller) -> None:
    assert caller.post("evaluate", body).status_code == 422


def test_a_large_body_is_refused_by_its_length(caller: Caller, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    assert refusal(caller.evaluate("x" * 100))[0] == 413


def test_as_many_callers_wait_as_may_and_then_503(caller: Caller, waits: Callable[..., NodeWorks]) -> None:
    waiting = waits(lambda: None)
    with waiting.place(), waiting.place():
        answer = caller.evaluate()
        assert (answer.status_code, answer["Retry-After"]) == (503, "5")
        assert caller.get("health").status_code == 200
    assert caller.evaluate().status_code == 200


def test_a_token_has_so_many_open_runs(caller: Caller, waits: Callable[..., NodeWorks], settings: Any) -> None:
    settings.PMPP_OPEN_RUNS = 1
    waits(lambda: None)
    assert caller.evaluate("exit 1").status_code == 200
    answer = caller.evaluate("exit 2")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert caller.evaluate("exit 1").status_code == 200


def test_a_token_has_so_many_runs_a_day(site: Site, graded: Graded) -> None:
    graded()
    caller = Caller(token_for(site, daily_runs=1)[1])
    caller.evaluate("exit 1")
    assert refusal(caller.evaluate("exit 2")) == (
        429, "This token has had its 1 runs of today. Try again tomorrow (UTC).",
    )  # fmt: skip
    assert caller.evaluate("exit 1").status_code == 200
    assert DailyUse.objects.get().n_evaluations == 1


def test_the_accounts_quota_holds_too(caller: Caller, settings: Any) -> None:
    settings.DAILY_EVALUATIONS = 0
    assert refusal(caller.evaluate())[0] == 429
    assert not PmppRun.objects.exists()


def private(site: Site) -> None:
    Release.objects.update(is_public=False)


def closed(site: Site) -> None:
    Release.objects.update(closes_at=timezone.now())


def left_the_team(site: Site) -> None:
    site.entrant.owner = site.organiser
    site.entrant.save()


def elsewhere(site: Site) -> None:
    other = Track.objects.create(slug="other", title="Other", device="cpu")
    PmppToken.objects.update(track=other)


@pytest.mark.parametrize(("change", "status"), [(private, 400), (closed, 409), (left_the_team, 403), (elsewhere, 400)])
def test_a_token_gives_no_more_than_its_maker_has_now(
    change: Callable[[Site], None], status: int, site: Site, caller: Caller
) -> None:
    change(site)
    assert caller.evaluate().status_code == status
    assert not PmppRun.objects.exists()


def test_a_private_releases_tasks_are_not_told(site: Site, caller: Caller) -> None:
    private(site)
    assert caller.get("tasks").json()["count"] == 0


def test_old_runs_are_forgotten(caller: Caller, graded: Graded) -> None:
    graded()
    caller.evaluate("exit 1")
    caller.evaluate("exit 2")
    PmppRun.objects.filter(pk=PmppRun.objects.earliest("pk").pk).update(created_at=timezone.now() - timedelta(days=8))
    sweep()
    assert PmppRun.objects.count() == 1
