"""The site's periodic tasks: none outlives its turn, none runs twice at a time, and no schedule is kept in a file."""

import time
from collections.abc import Callable
from datetime import timedelta

import pytest
from amqp.exceptions import AccessRefused
from celery import Celery
from celery.beat import PersistentScheduler
from django.utils import timezone

from leaderboard.actions.curation.tracks import offer
from leaderboard.celery import app
from leaderboard.models import ReleaseTrack, Track
from leaderboard.site.beat import RETRY_SECONDS, OfOneWorker
from leaderboard.standings.rank import rank_if_stale, stale_places
from runners.fleet import tasks
from runners.fleet.models import Attempt, AttemptState, Job, TaskLock
from runners.fleet.worker.task_locks import held
from tests.fleet.site import Site, WireNode

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def test_each_turn_expires_when_the_next_one_comes() -> None:
    app.loader.import_default_modules()
    for entry in app.conf.beat_schedule.values():
        assert entry["task"] in app.tasks
        assert entry["options"]["expires"] <= entry["schedule"]


def test_the_schedule_is_kept_in_memory() -> None:
    assert app.conf.beat_scheduler == "leaderboard.site.beat:OfOneWorker"
    assert not issubclass(OfOneWorker, PersistentScheduler)


def test_a_scheduler_whose_account_is_refused_goes_on_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ringer = Celery("ringer", broker="memory://", set_as_current=False, fixups=[])
    entry = {"task": "podium.nothing", "schedule": 0.01, "options": {"queue": "ringer"}}
    ringer.conf.beat_schedule = {"one": entry, "two": entry}
    scheduler = OfOneWorker(ringer)
    scheduler.setup_schedule()
    with monkeypatch.context() as refused:
        refused.setattr(scheduler, "_ensure_connected", raises(AccessRefused("login")))
        for _ in range(3):
            time.sleep(0.02)  # both entries are due again
            assert scheduler.tick() == RETRY_SECONDS
    assert len(caplog.messages) == 1
    time.sleep(0.02)
    assert [scheduler.tick() for _ in range(2)] == [0, 0]
    with ringer.connection_for_read() as connection, connection.channel() as channel:
        assert channel.queue_declare("ringer", passive=True).message_count == 2


def raises(error: Exception) -> Callable[[], None]:
    def call() -> None:
        raise error

    return call


def test_what_another_worker_is_at_is_left_to_it() -> None:
    site = Site.make()
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    WireNode().report(WireNode().take())
    place = ReleaseTrack.objects.get()
    offer(site.organiser, site.release, Track.objects.create(slug="cpu-other", title="Other", device="cpu"))
    ReleaseTrack.objects.update(touched_at=timezone.now())
    with held(f"rank {place.pk}", 60) as is_ours:
        assert is_ours
        tasks.rank()
        assert set(stale_places()) == {place}, "no board waits for another's ranking"
    tasks.rank()
    assert stale_places() == []


def test_a_board_that_another_worker_has_just_ranked_is_not_ranked_again() -> None:
    site = Site.make()
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    WireNode().report(WireNode().take())
    (place,) = stale_places()
    assert rank_if_stale(place) == 1
    assert rank_if_stale(place) == 0


def test_scores_follow_the_reports_and_results_of_a_submission_are_scored_together() -> None:
    site, node = Site.make(), WireNode()
    submission = site.submit({"a/1": ["exit 0"] * 2, "a/2": ["exit 0"]})
    with pytest.MonkeyPatch.context() as without_worker:
        without_worker.setattr("tests.fleet.site.score_reported", lambda: 0)
        for work in node.take_up_to(3):
            assert node.report(work).status_code == 200
    submission.refresh_from_db()
    assert (submission.state, Attempt.objects.filter(to_score=True).count()) == ("accepted", 3)
    tasks.score()
    submission.refresh_from_db()
    assert (submission.state, Attempt.objects.filter(to_score=True).count()) == ("done", 0)
    assert sorted(submission.problem_scores.values_list("n_passed", flat=True)) == [1, 2]


def test_the_lock_of_a_worker_that_died_ends() -> None:
    with held("rank", 60) as first, held("rank", 60) as second, held("sweep", 60) as other:
        assert (first, second, other) == (True, False, True)
        TaskLock.objects.filter(name="rank").update(held_until=timezone.now() - timedelta(seconds=1))
        with held("rank", 60) as third:
            assert third


def test_the_sweep_returns_expired_leases() -> None:
    site = Site.make()
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    WireNode().take()
    Job.objects.filter(state="leased").update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    tasks.sweep()
    assert Attempt.objects.get().state == AttemptState.EXPIRED


@pytest.mark.parametrize(("task", "step", "seconds"), [("score", "score_reported", 30), ("sweep", "sweep_leases", 5)])
def test_a_worker_killed_in_a_task_delays_the_next_turn_by_seconds(
    monkeypatch: pytest.MonkeyPatch, task: str, step: str, seconds: int
) -> None:
    held_until = []
    monkeypatch.setattr(tasks, step, lambda: held_until.append(TaskLock.objects.get(name=task).held_until))
    getattr(tasks, task)()
    assert held_until[0] - timezone.now() <= timedelta(seconds=seconds)
