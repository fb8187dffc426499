"""Trials: a solution is tried before it is submitted, shown to its user, and forgotten."""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from django.utils import timezone

from leaderboard.actions.intake.try_solution import MAX_OPEN_TRIALS, forget_old_trials, try_solution
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import ProblemTrack, Result, Track, Trial
from problems.formats.submission import single_solution
from problems.models import Release
from runners.fleet.models import Attempt, Job
from runners.fleet.worker.sweep import sweep
from runners.wire.protocol import ArtefactRef, LogText, Provenance, Report, Stage, StepReport, Verdict
from tests.fleet.site import Site, WireNode, add_node, passed
from tests.packs import problem

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

SHOWN = {
    "build_only": ["test/t.sh"],
    "visible_tests": ["test/open.sh"],
    "visible_test_command": "sh test/open.sh",
}
TESTS = [{"path": "test/t.sh", "content": "held-out words"}, {"path": "test/open.sh", "content": "sh solution.sh"}]
OUTCOME = Report(
    verdict=Verdict.TEST_FAILED,
    reason="exit 1",
    steps=[
        StepReport(name="build", exit_code=0, log=LogText(text="built words")),
        StepReport(name="test", exit_code=1, log=LogText(text="tested words")),
    ],
    provenance=Provenance(),
)


@pytest.fixture
def site() -> Site:
    return Site.make([problem("a/1", test_files=TESTS, podium=SHOWN), problem("a/2")])


@pytest.fixture
def node(site: Site) -> WireNode:
    return WireNode()


def attempt_trial(site: Site, user: User | None = None, task_id: str = "a/1", script: str = "exit 0") -> Trial:
    draft = single_solution(task_id, {"solution.sh": script}, catalogue_of(site.release)).samples[0]
    tried = site.release.problems.select_related("release").get(task_id=task_id)
    return try_solution(user or site.owner, tried, site.track, draft)


def test_a_trial_is_run_and_leaves_an_outcome_but_no_result(site: Site, node: WireNode) -> None:
    trial = attempt_trial(site, script="exit 1 # tried words")
    work = node.take()
    assert (work["rules"]["purpose"], work["evaluation"], work["rules"]["sides"]) == ("sample", None, "none")
    assert b"tried words" in b"".join(node.blob(work, work["solution"]["sha256"]).streaming_content)
    trial.refresh_from_db()
    assert trial.state == "leased"
    assert node.report(work, OUTCOME).json() == {"result": None, "duplicate": False}
    trial.refresh_from_db()
    assert (trial.state, trial.outcome["verdict"], trial.outcome["reason"]) == ("done", "test_failed", "exit 1")
    assert [step["log"]["text"] for step in trial.outcome["steps"]] == ["built words", "tested words"]
    assert not Result.objects.exists()


def test_the_same_report_of_a_trial_twice_is_harmless(site: Site, node: WireNode) -> None:
    attempt_trial(site)
    work = node.take()
    node.report(work, OUTCOME)
    assert node.report(work, OUTCOME).json() == {"result": None, "duplicate": True}


def test_the_run_of_a_trial_is_given_no_held_out_file(site: Site, node: WireNode) -> None:
    attempt_trial(site)
    assert node.take()["rules"]["withheld"] == ["test/t.sh"]
    attempt_trial(site, task_id="a/2")
    assert node.take()["rules"]["withheld"] == [
        "test/t.sh"
    ]  # though its pack withholds nothing from a submission's run


def test_a_trial_goes_before_submissions(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]}, priority=10)
    attempt_trial(site)
    assert node.take()["rules"]["purpose"] == "sample"


def built(builder: WireNode, work: dict[str, Any]) -> Report:
    content = b"artefact of the build"
    sha256 = hashlib.sha256(content).hexdigest()
    assert builder.blob(work, sha256, content).status_code in {200, 201}
    blob = {"sha256": sha256, "size_bytes": len(content)}
    return passed(artefact=ArtefactRef(key="0" * 64, blob=blob, node="builder"))


@pytest.fixture
def splitting(site: Site) -> tuple[WireNode, WireNode]:
    """A builder and a runner."""
    Track.objects.update(splits_jobs=True)
    site.track.refresh_from_db()
    add_node("builder", site.track, "builder", Stage.BUILD)
    add_node("runner", site.track, "runner", Stage.RUN)
    return WireNode("builder", stage=Stage.BUILD), WireNode("runner", stage=Stage.RUN)


def test_where_jobs_are_split_a_trial_with_visible_tests_is_built_and_then_run(
    site: Site, splitting: tuple[WireNode, WireNode]
) -> None:
    builder, runner = splitting
    trial = attempt_trial(site)
    work = builder.take()
    builder.report(work, built(builder, work))
    trial.refresh_from_db()
    assert trial.state == "queued"
    run = runner.take()
    assert (run["rules"]["purpose"], run["rules"]["stage"], run["artefact"]["node"]) == ("sample", "run", "builder")
    runner.report(run, OUTCOME)
    trial.refresh_from_db()
    assert (trial.state, trial.outcome["verdict"]) == ("done", "test_failed")


def test_where_jobs_are_split_a_trial_without_visible_tests_ends_with_its_build(
    site: Site, splitting: tuple[WireNode, WireNode]
) -> None:
    builder, runner = splitting
    trial = attempt_trial(site, task_id="a/2")
    work = builder.take()
    builder.report(work, built(builder, work))
    trial.refresh_from_db()
    assert (trial.state, trial.outcome["verdict"]) == ("done", "passed")
    assert runner.claim().status_code == 204


def test_a_trial_given_back_is_queued_again(site: Site, node: WireNode) -> None:
    trial = attempt_trial(site)
    node.release(node.take())
    trial.refresh_from_db()
    assert trial.state == "queued"
    assert node.take()["rules"]["purpose"] == "sample"


def test_after_the_last_lost_attempt_the_trial_ends_as_a_platform_error(site: Site, node: WireNode) -> None:
    trial = attempt_trial(site)
    for _ in range(settings.MAX_ATTEMPTS + 1):
        for work in node.take_up_to(1):
            node.begin(work)
            Job.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
            sweep()
    trial.refresh_from_db()
    assert (trial.state, trial.outcome["verdict"]) == ("done", "platform_error")


def test_a_trial_that_has_ended_never_changes(site: Site, node: WireNode) -> None:
    attempt_trial(site)
    node.report(node.take(), OUTCOME)
    with pytest.raises(DatabaseError), transaction.atomic():
        Trial.objects.update(outcome={"verdict": "passed"})


def age(trial: Trial, days: float) -> None:
    Trial.objects.filter(pk=trial.pk).update(created_at=timezone.now() - timedelta(days=days))


def test_old_trials_are_forgotten_with_their_jobs(site: Site, node: WireNode) -> None:
    recent, old = attempt_trial(site), attempt_trial(site, script="exit 3")
    age(old, days=1.1)
    sweep()
    assert list(Trial.objects.all()) == [recent]
    assert list(Job.objects.values_list("trial_id", flat=True)) == [recent.pk]


def test_a_trial_under_way_is_not_forgotten(site: Site, node: WireNode) -> None:
    trial = attempt_trial(site)
    work = node.take()
    age(trial, days=1.1)
    assert forget_old_trials() == 0
    assert node.heartbeat(work).json()["cancel"] is False
    assert Attempt.objects.count() == 1


def test_a_user_may_wait_for_a_few_trials_at_a_time(site: Site, node: WireNode) -> None:
    for n in range(MAX_OPEN_TRIALS):
        attempt_trial(site, script=f"exit {n}")
    with pytest.raises(Conflict, match="of your trials are under way"):
        attempt_trial(site)
    node.report(node.take(), OUTCOME)
    attempt_trial(site)


def private(site: Site) -> None:
    Release.objects.update(is_public=False)


def closed(site: Site) -> None:
    Release.objects.update(closes_at=timezone.now())


def without_an_entrant(site: Site) -> None:
    site.entrant.delete()


def skipped(site: Site) -> None:
    ProblemTrack.objects.update(skip_reason="needs a GPU")


def offered_elsewhere(site: Site) -> None:
    site.track = Track.objects.create(slug="other", title="Other", device="cpu")


@pytest.mark.parametrize(
    ("change", "refusal", "code"),
    [
        (private, NotAllowed, "no_such_release"),
        (closed, Conflict, "release_closed"),
        (without_an_entrant, NotAllowed, "no_entrant"),
        (skipped, Refused, "skipped"),
        (offered_elsewhere, Refused, "track_not_offered"),
    ],
)
def test_what_may_not_be_submitted_may_not_be_tried(
    site: Site, change: Callable[[Site], None], refusal: type[Refused], code: str
) -> None:
    change(site)
    site.release.refresh_from_db()
    with pytest.raises(refusal) as refused:
        attempt_trial(site)
    assert refused.value.code == code
    assert not Trial.objects.exists()


def test_a_solution_that_would_be_invalid_is_refused_at_once(site: Site) -> None:
    draft = single_solution("a/1", {"test/t.sh": "exit 0"}, catalogue_of(site.release)).samples[0]
    with pytest.raises(Refused, match="is a test file of the problem"):
        try_solution(site.owner, site.release.problems.get(task_id="a/1"), site.track, draft)
    assert not Job.objects.exists()
