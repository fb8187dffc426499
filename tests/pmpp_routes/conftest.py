"""A site with a token, a node, and a client of PMPP."""

from collections.abc import Callable
from typing import Any

import pytest

from leaderboard.pmpp import views
from tests.fleet.site import Site, WireNode
from tests.packs import problem
from tests.pmpp_routes.callers import PODIUM, REFERENCE, TESTS, Caller, NodeWorks, report, token_for


@pytest.fixture(autouse=True)
def addresses(settings: Any) -> None:
    settings.ROOT_URLCONF = "tests.pmpp_routes.urls"


@pytest.fixture
def site(db: None) -> Site:
    return Site.make([
        problem("pmpp/ch02-add", test_files=TESTS, podium=PODIUM, **REFERENCE), problem("other/ch03-mul"),
    ])  # fmt: skip


@pytest.fixture
def node(site: Site) -> WireNode:
    return WireNode()


@pytest.fixture
def caller(site: Site) -> Caller:
    return Caller(token_for(site)[1])


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], NodeWorks]:
    """Sets what happens while a caller waits."""

    def set_to(work: Callable[[], None]) -> NodeWorks:
        waiting = NodeWorks(work)
        monkeypatch.setattr(views, "waiting", waiting)
        return waiting

    return set_to


@pytest.fixture
def graded(node: WireNode, waits: Any) -> Callable[..., NodeWorks]:
    """Lets the node end the next run with this report."""

    def with_report(*arguments: Any, **changes: Any) -> NodeWorks:
        made: NodeWorks = waits(lambda: node.report(node.take(), report(*arguments, **changes)))
        return made

    return with_report
