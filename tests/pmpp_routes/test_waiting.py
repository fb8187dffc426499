"""Waiting: one look for all callers, whose number is bounded; each gets its run once it has ended, or nothing."""

import threading
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from leaderboard.actions.intake.pmpp_runs import end_run
from leaderboard.models import PmppRun
from leaderboard.pmpp.waiting import Full, Waiting, ended_runs
from tests.fleet.site import Site
from tests.pmpp_routes.callers import report, token_for

PATIENCE = 60.0


class Looks:
    """Stands in for the database: says what has ended, and counts how often it is asked."""

    def __init__(self) -> None:
        self.ended: dict[int, PmppRun] = {}
        self.asked: list[set[int]] = []
        self.all_are_here = threading.Event()
        self.n_callers = 0

    def __call__(self, run_ids: Collection[int]) -> dict[int, PmppRun]:
        self.asked.append(set(run_ids))
        if len(self.asked[-1]) == self.n_callers:
            self.all_are_here.set()
        return {run_id: run for run_id, run in self.ended.items() if run_id in run_ids}


@pytest.fixture(autouse=True)
def no_database(monkeypatch: pytest.MonkeyPatch, request: Any) -> None:
    """The threads of these tests have no database, and close none."""
    if "db" not in request.fixturenames and "transactional_db" not in request.fixturenames:
        monkeypatch.setattr("leaderboard.pmpp.waiting.connection", FakeConnection())


class FakeConnection:
    in_atomic_block = False

    def close(self) -> None:
        pass


def test_a_hundred_callers_cost_one_look() -> None:
    looks = Looks()
    looks.n_callers = 100
    waiting = Waiting(100, looks, look_seconds=0.001)
    with ThreadPoolExecutor(100) as pool:
        callers = [pool.submit(waiting.wait, run_id, PATIENCE) for run_id in range(100)]
        assert looks.all_are_here.wait(PATIENCE)
        looks.ended = {run_id: PmppRun(pk=run_id) for run_id in range(100)}
        assert [one.result(PATIENCE) for one in callers] == [PmppRun(pk=run_id) for run_id in range(100)]


def test_those_who_wait_for_one_run_all_get_it() -> None:
    looks = Looks()
    waiting = Waiting(10, looks, look_seconds=0.001)
    with ThreadPoolExecutor(10) as pool:
        callers = [pool.submit(waiting.wait, 7, PATIENCE) for _ in range(10)]
        looks.ended = {7: PmppRun(pk=7)}
        assert {one.result(PATIENCE).pk for one in callers} == {7}
    assert max(map(len, looks.asked)) == 1


def test_without_an_end_a_caller_gets_nothing_and_is_forgotten() -> None:
    looks = Looks()
    waiting = Waiting(1, looks, look_seconds=0.001)
    assert waiting.wait(7, 0.02) is None
    assert waiting.wait(8, -1.0) is None
    assert waiting._waiting == {} and waiting._ended == {}


def test_a_database_that_fails_is_asked_again() -> None:
    looks = Looks()
    looks.ended = {7: PmppRun(pk=7)}
    failures = [DatabaseError("locked")]

    def look(run_ids: Collection[int]) -> dict[int, PmppRun]:
        if failures:
            raise failures.pop()
        return looks(run_ids)

    assert Waiting(1, look, look_seconds=0.001).wait(7, PATIENCE) == PmppRun(pk=7)


def test_places_are_bounded_and_given_back() -> None:
    waiting = Waiting(2, Looks())
    with waiting.place():
        with waiting.place(), pytest.raises(Full), waiting.place():
            pass
        with waiting.place():
            pass


@pytest.mark.both_databases
def test_a_look_at_many_runs_is_one_query(db: None) -> None:
    site = Site.make()
    token = token_for(site)[0]
    problem = site.release.problems.first()
    made = [
        PmppRun.objects.create(token=token, problem=problem, solution_sha256=f"{n:064d}", solution_bytes=1)
        for n in range(3)
    ]
    end_run(made[1], report())
    with CaptureQueriesContext(
        connection,
    ) as queries:
        found = ended_runs([one.pk for one in made])
        assert [one.token.user for one in found.values()] == [site.owner]
    assert found.keys() == {made[1].pk}
    assert len(queries) == 1
