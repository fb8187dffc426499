"""A site that has too many calls of nodes turns some away early, and loses no work by it."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError
from django.utils import timezone

from runners.fleet import views
from runners.fleet.attempts import renewals
from runners.fleet.models import Attempt, AttemptState, Job, Node
from runners.fleet.nodes import shedding
from runners.fleet.nodes.shedding import HELD_BEYOND_SECONDS, CallGate
from runners.fleet.worker.sweep import sweep
from runners.wire.alive import HEADER
from runners.wire.queues import LONGEST_ATTEMPT_SECONDS
from tests.fleet.site import Site, WireNode, add_node

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def site() -> Site:
    made = Site.make()
    made.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    return made


@pytest.fixture
def node(site: Site) -> WireNode:
    made = WireNode()
    made.hello()
    return made


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process's own gate and renewals, without what another test left."""
    made = renewals.Renewals()
    monkeypatch.setattr(renewals, "RENEWALS", made)
    monkeypatch.setattr(views, "RENEWALS", made)
    monkeypatch.setattr(renewals, "WRITE_SECONDS", 0.0)
    monkeypatch.setattr(shedding, "WAIT_SECONDS", 0.01)


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Iterator[ExitStack]:
    """All turns are taken until the stack is closed."""
    gate = CallGate(1)
    monkeypatch.setattr(views, "GATE", gate)
    with ExitStack() as taken:
        assert taken.enter_context(gate.turn())
        yield taken


def lease_of(work: dict[str, Any]) -> Any:
    return Job.objects.get(attempts=work["attempt"]).lease_expires_at


def nearly_over(work: dict[str, Any], seconds: float = 5) -> None:
    Job.objects.filter(attempts=work["attempt"]).update(lease_expires_at=timezone.now() + timedelta(seconds=seconds))


def naming(node: WireNode, *works: dict[str, Any]) -> WireNode:
    """The node, which names these attempts in each call."""
    node.http.defaults[f"HTTP_{HEADER.upper().replace('-', '_')}"] = ",".join(work["attempt"] for work in works)
    return node


def test_a_call_beyond_the_bound_is_answered_503_with_retry_after(node: WireNode, full: ExitStack) -> None:
    for answer in (node.hello(), node.claim()):
        assert answer.status_code == 503
        assert answer.json()["code"] == "busy"
        assert 5 <= int(answer["Retry-After"]) <= 10
    full.close()
    assert node.claim().status_code == 200


def test_a_call_waits_for_its_turn_for_a_moment(node: WireNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shedding, "WAIT_SECONDS", 10.0)
    gate = CallGate(1)
    first = gate.turn()
    assert first.__enter__()
    threading.Timer(0.05, lambda: first.__exit__(None, None, None)).start()
    with gate.turn() as has_turn:
        assert has_turn


def test_a_report_that_is_turned_away_holds_its_lease(node: WireNode, full: ExitStack) -> None:
    full.close()
    work = node.begin(node.take())
    nearly_over(work)
    with views.GATE.turn():
        answer = node.report(work)
    assert answer.status_code == 503
    node.hello()  # the next call that is served writes the mark
    left = (lease_of(work) - timezone.now()).total_seconds()
    assert left > int(answer["Retry-After"]) + HELD_BEYOND_SECONDS - 5
    assert node.report(work).status_code == 200


def test_each_call_renews_the_leases_that_it_names_even_where_it_is_turned_away(
    node: WireNode, full: ExitStack, settings: Any
) -> None:
    full.close()
    works = [node.take(), node.take()]
    for work in works:
        nearly_over(work)
    with views.GATE.turn():
        assert naming(node, *works).claim().status_code == 503
    node.hello()
    for work in works:
        assert (lease_of(work) - timezone.now()).total_seconds() > settings.LEASE_SECONDS - 5
    assert sweep() == 0


def test_a_node_renews_no_lease_of_another_and_none_that_has_ended(site: Site, node: WireNode) -> None:
    work, ended = node.take(), node.take()
    node.release(ended)
    nearly_over(work)
    add_node("node-2", site.track, "second")
    stranger = naming(WireNode(token="second"), work, ended)
    stranger.hello()
    stranger.hello()
    assert (lease_of(work) - timezone.now()).total_seconds() < 6
    assert naming(WireNode(token="unknown"), work).hello().status_code == 401
    node.hello()
    assert (lease_of(work) - timezone.now()).total_seconds() < 6
    assert lease_of(ended) is None


def test_no_lease_outlives_the_longest_time_of_an_attempt(node: WireNode) -> None:
    work = node.take()
    longest = timedelta(seconds=LONGEST_ATTEMPT_SECONDS) + renewals.MARGIN
    Attempt.objects.update(leased_at=timezone.now() - longest)
    nearly_over(work, seconds=-1)
    naming(node, work).hello()
    node.hello()
    assert sweep() == 1
    assert Attempt.objects.get(pk=work["attempt"]).state == AttemptState.EXPIRED


def test_a_lease_that_lasts_longer_is_not_shortened_by_a_call(node: WireNode) -> None:
    work = node.take()
    nearly_over(work, seconds=600)
    naming(node, work).hello()
    node.hello()
    assert (lease_of(work) - timezone.now()).total_seconds() > 500


def test_the_last_of_the_ends_that_are_asked_for_holds_though_no_more_leases_are_gathered(
    node: WireNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renewals, "MOST_UNCHECKED", 1)
    work, now = node.take(), timezone.now()
    nearly_over(work)
    for minutes in (2, 9, 1):
        until = now + timedelta(minutes=minutes)
        renewals.RENEWALS.note(Node.objects.get().token_digest, [UUID(work["attempt"])], until)
    renewals.RENEWALS.write()
    assert lease_of(work) - now > timedelta(minutes=8)


def test_names_that_are_no_ids_are_left_out(node: WireNode) -> None:
    work = node.take()
    nearly_over(work)
    node.http.defaults["HTTP_X_PODIUM_ALIVE"] = f"nonsense,,{work['attempt']},\u00e9"
    assert node.hello().status_code == 200
    assert node.hello().status_code == 200
    assert (lease_of(work) - timezone.now()).total_seconds() > 6


def test_a_stranger_who_names_many_attempts_crowds_out_no_node(
    node: WireNode, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(renewals, "MOST_UNCHECKED", 3)
    work = node.take()
    naming(node, work).hello()
    node.hello()  # the token is known by now
    nearly_over(work)
    made, until = renewals.RENEWALS, timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
    made.note("a stranger's", [uuid4() for _ in range(renewals.MOST_GATHERED)], until)
    assert len(made._unchecked) == 3
    naming(node, work).hello()
    node.hello()
    assert (lease_of(work) - timezone.now()).total_seconds() > settings.LEASE_SECONDS - 5
    assert made._unchecked == {}


def test_a_database_that_does_not_answer_turns_the_call_away(node: WireNode, monkeypatch: pytest.MonkeyPatch) -> None:
    work = node.begin(node.take())

    def fail(*_: Any) -> None:
        raise OperationalError("canceling statement due to lock timeout")

    monkeypatch.setattr(views.reports, "take", fail)
    answer = node.report(work)
    assert (answer.status_code, answer.json()["code"]) == (503, "busy")
    monkeypatch.undo()
    assert node.report(work).status_code == 200
