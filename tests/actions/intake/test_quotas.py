"""Quotas: what one account may send on one day."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard import blobs
from leaderboard.models import DailyUse, Membership, Submission, Trial
from runners.fleet.models import Attempt, Job, JobState, Node
from tests import factories
from tests.api import calls
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


class Clock:
    """Django's clock, which the test sets forward."""

    def __init__(self) -> None:
        self.now = datetime(2026, 6, 1, 23, 59, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("leaderboard.accounts.quotas.timezone.now", made)
    return made


@pytest.fixture
def offered(cast: Any, settings: Any) -> tuple[Any, Any]:
    settings.DAILY_EVALUATIONS = 7
    made = factories.release(3)
    return made, factories.offer(made)


def send(cast: Any, offered: Any, script: str, user: Any = None) -> Any:
    return calls.upload(user or cast.owner, *offered, calls.pack_file(offered[0], script))


def begin(evaluation: Any) -> None:
    """A node claims the evaluation's job and fetches its solution."""
    job = Job.objects.get(evaluation=evaluation)
    node = Node.objects.create(slug="near")
    Job.objects.filter(pk=job.pk).update(state=JobState.LEASED)
    Attempt.objects.create(job=job, node=node, number=1, began_at=timezone.now())


def used(user: Any) -> list[int]:
    return list(DailyUse.objects.filter(user=user).order_by("day").values_list("n_evaluations", flat=True))


def test_a_submission_beyond_the_days_evaluations_is_refused_and_stores_nothing(cast: Any, offered: Any) -> None:
    for script in ("exit 0", "exit 1"):
        assert send(cast, offered, script).status_code == 201
    answer = send(cast, offered, "exit 2")
    assert (answer.status_code, answer.json()["code"]) == (429, "quota_exceeded")
    assert "3 more evaluations (used: 6 of 7)" in answer.json()["message"]
    assert Submission.objects.count() == 2
    assert used(cast.owner) == [6]


def test_the_next_day_has_a_quota_of_its_own(cast: Any, offered: Any, clock: Clock) -> None:
    for script in ("exit 0", "exit 1"):
        send(cast, offered, script)
    assert send(cast, offered, "exit 2").status_code == 429
    clock.now += timedelta(minutes=2)
    assert send(cast, offered, "exit 2").status_code == 201
    assert used(cast.owner) == [6, 3]


def test_quotas_are_the_accounts_and_not_the_entrants(cast: Any, offered: Any) -> None:
    for script in ("exit 0", "exit 1"):
        send(cast, offered, script)
    assert send(cast, offered, "exit 2", cast.teammate).status_code == 201
    factories.EntrantFactory(slug="second", owner=cast.owner)
    file = calls.pack_file(offered[0], "exit 0")
    assert calls.upload(cast.owner, *offered, file, entrant="second").status_code == 429


def test_sending_the_same_again_costs_nothing(cast: Any, offered: Any) -> None:
    for _ in range(5):
        assert send(cast, offered, "exit 0").status_code in (200, 201)
    assert used(cast.owner) == [3]


def test_bytes_are_bounded_too(cast: Any, offered: Any, settings: Any) -> None:
    settings.DAILY_BYTES = 1000
    answer = send(cast, offered, "exit 0 # " + "x" * 1000)
    assert (answer.status_code, answer.json()["code"]) == (429, "quota_exceeded")
    assert not blobs_of(settings)
    assert send(cast, offered, "exit 0").status_code == 201


def blobs_of(settings: Any) -> list[Path]:
    return [one for one in Path(settings.BLOB_URL).rglob("*") if one.is_file()]


def test_organisers_have_no_quota(cast: Any, offered: Any) -> None:
    Membership.objects.create(team=cast.entrant.team, user=cast.organiser)
    for n in range(4):
        assert send(cast, offered, f"exit 0 # {n}", cast.organiser).status_code == 201
    assert not DailyUse.objects.exists()


def test_what_fails_gives_its_use_back(cast: Any, offered: Any, monkeypatch: Any) -> None:
    def broken(*_: Any) -> None:
        raise OSError("the store is away")

    monkeypatch.setattr(blobs.FolderBlobs, "put", broken)
    with pytest.raises(OSError, match="away"):
        send(cast, offered, "exit 0")
    assert used(cast.owner) == [0]


def test_a_cancelled_submission_gives_back_what_no_attempt_began(cast: Any, offered: Any) -> None:
    sent = send(cast, offered, "exit 0").json()["id"]
    assert used(cast.owner) == [3]
    begin(Submission.objects.get(pk=sent).evaluations.first())
    assert calls.post(f"submissions/{sent}/cancel", {}, cast.owner).status_code == 200
    assert used(cast.owner) == [1]


def test_what_is_given_back_is_of_the_day_on_which_it_was_sent(cast: Any, offered: Any) -> None:
    sent = Submission.objects.get(pk=send(cast, offered, "exit 0").json()["id"])
    yesterday = timezone.now() - timedelta(days=1)
    Submission.objects.filter(pk=sent.pk).update(created_at=yesterday)
    DailyUse.objects.update(day=yesterday.date())
    DailyUse.objects.create(user=cast.owner, day=timezone.now().date(), n_evaluations=5)
    assert calls.post(f"submissions/{sent.pk}/cancel", {}, cast.owner).status_code == 200
    assert used(cast.owner) == [0, 5]


def test_reruns_count(cast: Any, offered: Any) -> None:
    stored = factories.judged_submission(cast.entrant, *offered, n_samples=1)
    DailyUse.objects.all().delete()
    for n, status in ((1, 200), (2, 200), (3, 429)):
        answer = calls.post(f"submissions/{stored.pk}/rerun", {"reason": "again"}, cast.owner)
        assert answer.status_code == status, n
        factories.judge(stored)


def test_trials_count(cast: Any, offered: Any, settings: Any) -> None:
    settings.DAILY_EVALUATIONS = 1
    body = {"release": offered[0].slug, "task_id": "Shell/0", "track": "cpu-test",
            "files": [{"path": "solution.sh", "content": "exit 0"}]}  # fmt: skip
    assert calls.post("trials", body, cast.owner).status_code == 201
    answer = calls.post("trials", body, cast.owner)
    assert (answer.status_code, answer.json()["code"]) == (429, "quota_exceeded")
    assert Trial.objects.count() == 1


def test_a_trial_that_finds_no_room_stores_no_blob_and_costs_nothing(cast: Any, offered: Any, settings: Any) -> None:
    body = {"release": offered[0].slug, "task_id": "Shell/0", "track": "cpu-test"}
    for n in range(4):
        calls.post("trials", body | {"files": [{"path": "solution.sh", "content": f"exit {n}"}]}, cast.owner)
    assert (Trial.objects.count(), used(cast.owner)) == (3, [3])
    assert len(blobs_of(settings)) == 3


def test_the_page_says_it_beside_the_form(client: Any, cast: Any, offered: Any, settings: Any) -> None:
    settings.DAILY_EVALUATIONS = 2
    client.force_login(cast.owner)
    fields = {
        "release": offered[0].slug,
        "entrant": "alpha",
        "tracks": ["cpu-test"],
        "file": calls.pack_file(offered[0]),
    }
    answer = client.post(reverse("submit"), fields)
    assert answer.status_code == 422
    assert "more than your account may send today" in markup(answer)


def test_the_account_page_says_what_is_left(client: Any, cast: Any, offered: Any) -> None:
    send(cast, offered, "exit 0")
    client.force_login(cast.owner)
    assert "3 of 7 evaluations" in markup(client.get(reverse("quota")))
    assert timezone.now().date() == DailyUse.objects.get().day
