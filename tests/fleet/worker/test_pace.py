"""Rankings of a board that changes all the time leave the worker nine tenths of its time."""

from typing import Any

import pytest
from django.utils import timezone

from leaderboard.models import ReleaseTrack
from runners.fleet import tasks
from runners.fleet.worker import pace
from runners.fleet.worker.pace import Pace
from tests import factories


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(pace, "time", made)
    return made


def test_a_step_is_followed_by_a_pause_of_nine_times_its_time(clock: Clock) -> None:
    paced = Pace()
    assert paced.is_due(7)
    with paced.step(7):
        clock.now += 2.0
    clock.now += 17.9
    assert not paced.is_due(7)
    assert paced.is_due(8)
    clock.now += 0.2
    assert paced.is_due(7)


def test_a_step_that_fails_is_followed_by_a_pause_too(clock: Clock) -> None:
    paced = Pace()
    with pytest.raises(ValueError, match="no"), paced.step(7):
        clock.now += 1.0
        raise ValueError("no")
    assert not paced.is_due(7)


@pytest.mark.django_db
def test_a_board_that_was_just_ranked_at_length_waits_and_is_then_ranked(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.offer(factories.release())
    monkeypatch.setattr(tasks, "RANKINGS", Pace())
    ranked = []

    def rank_if_stale(place: Any) -> int:
        ranked.append(place.pk)
        clock.now += 3.0
        return 1

    monkeypatch.setattr(tasks, "rank_if_stale", rank_if_stale)
    ReleaseTrack.objects.update(touched_at=timezone.now())
    tasks.rank()
    tasks.rank()
    assert len(ranked) == 1
    clock.now += 27.0
    tasks.rank()
    assert len(ranked) == 2
