"""Slots that want work at the same time share one claim."""

import threading
from typing import Any, cast
from uuid import uuid4

import pytest

from runners.agent.claims import Claims
from runners.agent.ground.errors import SiteUnavailable
from runners.agent.link.client import SiteClient
from runners.wire.batches import Claimed, ClaimRequest
from runners.wire.job import Work
from runners.wire.protocol import Stage


class Site:
    """Stands for the client: answers each claim from `works`, once it may."""

    def __init__(self, works: list[str]) -> None:
        self.works = works
        self.asked: list[int] = []
        self.may_answer, self.was_asked = threading.Event(), threading.Event()
        self.error: SiteUnavailable | None = None

    def claim(self, request: ClaimRequest) -> Claimed:
        most = request.most or 1
        self.asked.append(most)
        self.was_asked.set()
        assert self.may_answer.wait(10)
        if self.error:
            raise self.error
        found = [self.works.pop(0) for _ in range(min(most, len(self.works)))]
        return Claimed.model_construct(works=cast(list[Work], found))


def takers(claims: Claims, n: int, got: list[Any]) -> list[threading.Thread]:
    def take() -> None:
        try:
            got.append(claims.take("cpu", Stage.BOTH))
        except SiteUnavailable as error:
            got.append(error)

    started = [threading.Thread(target=take) for _ in range(n)]
    for one in started:
        one.start()
    return started


def waiting(claims: Claims) -> int:
    return len(claims._desks["cpu", Stage.BOTH].waiting)


def share(site: Site, n: int) -> list[Any]:
    """One slot's claim is under way while `n` others ask."""
    claims = Claims(cast(SiteClient, site), uuid4())
    got: list[Any] = []
    threads = takers(claims, 1, got)
    assert site.was_asked.wait(10)
    threads += takers(claims, n, got)
    while waiting(claims) < n:
        threading.Event().wait(0.005)
    site.may_answer.set()
    for one in threads:
        one.join(10)
    return got


def test_slots_that_ask_while_a_claim_is_under_way_share_the_next() -> None:
    site = Site(list("abcdef"))
    assert sorted(share(site, 4)) == list("abcde")
    assert site.asked == [1, 4]


def test_slots_beyond_the_queued_jobs_get_none_without_asking_again() -> None:
    site = Site(list("ab"))
    assert sorted(share(site, 4), key=str) == [None, None, None, "a", "b"]
    assert site.asked == [1, 4]


def test_each_slot_learns_of_a_failed_claim() -> None:
    site = Site([])
    site.error = SiteUnavailable("away")
    assert share(site, 2) == [site.error] * 3


@pytest.mark.parametrize("n", [1, 3])
def test_no_job_goes_to_two_slots(n: int) -> None:
    site = Site([str(one) for one in range(n + 1)])
    assert len(set(share(site, n))) == n + 1
