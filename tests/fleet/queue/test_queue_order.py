"""The queue's order: priority, then fair share between submissions, then age."""

import pytest

from leaderboard.actions.submissions.rerun import rerun
from leaderboard.models import Entrant, Evaluation
from runners.fleet.models import Job
from runners.fleet.queue.queue_place import queue_places
from tests.fleet.site import Site, WireNode
from tests.packs import problem

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def site() -> Site:
    return Site.make([problem(f"a/{n}") for n in range(6)])


def second_entrant(site: Site) -> Entrant:
    return Entrant.objects.create(slug="two", name="Two", owner=site.owner)


def third_entrant(site: Site) -> Entrant:
    return Entrant.objects.create(slug="three", name="Three", owner=site.owner)


def order_of_work(n_jobs: int, node: WireNode | None = None) -> list[str]:
    work = (node or WireNode()).take_up_to(n_jobs)
    owners = dict(Evaluation.objects.values_list("pk", "submission__entrant__slug"))
    return [owners[one["evaluation"]] for one in work]


def test_one_submission_is_worked_in_order_of_age(site: Site) -> None:
    site.submit({f"a/{n}": ["exit 0"] for n in range(6)})
    work = WireNode().take_up_to(6)
    assert [one["evaluation"] for one in work] == sorted(one["evaluation"] for one in work)


def test_a_small_submission_takes_turns_with_a_large_one_before_it(site: Site) -> None:
    site.submit({f"a/{n}": ["exit 0"] * 5 for n in range(6)})
    site.submit({f"a/{n}": ["exit 0"] for n in range(6)}, second_entrant(site))
    assert order_of_work(12).count("two") == 6


def test_a_latecomer_does_not_overtake_by_having_waited_less(site: Site) -> None:
    site.submit({f"a/{n}": ["exit 0"] * 5 for n in range(6)})
    node = WireNode()
    order_of_work(10, node)
    site.submit({f"a/{n}": ["exit 0"] for n in range(6)}, second_entrant(site))
    assert order_of_work(6, node) == ["one", "two"] * 3


def test_work_that_waits_behind_gives_a_latecomer_no_lead(site: Site) -> None:
    site.submit({f"a/{n}": ["exit 0"] for n in range(6)}, third_entrant(site), priority=-1)
    site.submit({f"a/{n}": ["exit 0"] * 5 for n in range(6)})
    node = WireNode()
    order_of_work(10, node)
    site.submit({f"a/{n}": ["exit 0"] for n in range(6)}, second_entrant(site))
    assert order_of_work(6, node) == ["one", "two"] * 3


def test_a_job_that_comes_back_goes_before_those_queued_since(site: Site) -> None:
    site.submit({f"a/{n}": ["exit 0"] for n in range(6)})
    node = WireNode()
    *_, last = node.take_up_to(6)
    site.submit({f"a/{n}": ["exit 0"] for n in range(3)}, second_entrant(site))
    node.release(last)
    assert order_of_work(2, node) == ["one", "two"]


def test_a_place_counts_the_jobs_that_go_first(site: Site) -> None:
    own = site.submit({f"a/{n}": ["exit 0"] for n in range(3)})
    urgent = site.submit({f"a/{n}": ["exit 0"] for n in range(2)}, second_entrant(site), priority=10)
    later = site.submit({"a/5": ["exit 0"]}, third_entrant(site), priority=-1)
    ahead = [[place.ahead for place in queue_places(one)] for one in (urgent, own, later)]
    assert ahead == [[0], [2], [5]]


def test_neither_a_part_of_a_pack_nor_a_teams_rerun_of_all_jumps_the_queue(site: Site) -> None:
    site.submit({f"a/{n}": ["exit 0"] for n in range(6)})
    node = WireNode()
    for work in node.take_up_to(6):
        assert node.report(work).status_code == 200
    assert rerun(site.owner, list(Evaluation.objects.all()), "the node was slow") == 6
    site.submit({f"a/{n}": ["exit 1"] for n in range(5)}, second_entrant(site))
    assert set(Job.objects.filter(state="queued").values_list("priority", flat=True)) == {0}


def test_priority_goes_first(site: Site) -> None:
    site.submit({f"a/{n}": ["exit 0"] for n in range(6)})
    site.submit({f"a/{n}": ["exit 0"] for n in range(6)}, second_entrant(site), priority=10)
    assert order_of_work(7) == ["two"] * 6 + ["one"]
