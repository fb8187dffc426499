"""Each node and day that serves ranked times judges hidden references; where they are not at 1 ×, its times wait."""

import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.actions.rejudging import measure_anew, reference_runs
from leaderboard.models import Evaluation, ProblemScore, ReferenceRun, ReleaseTrack, Standing, Submission
from leaderboard.standings.rank import rank_touched, rebuild
from leaderboard.standings.reference_noise.noise import ratio_of
from problems.models import Release, ReleaseState
from runners.fleet.again.reference_runs import watch_noise
from runners.fleet.models import Job, Node
from runners.wire.protocol import FlagReport, FlagScope
from scoring.rules import FIRST
from tests.actions.rejudging.test_rejudge import timed
from tests.fleet.site import Site, WireNode, add_node
from tests.markup import markup
from tests.packs import problem

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def site() -> Site:
    """Two problems with references; one full submission that is twice as fast as they are, by node-1."""
    made = Site.make([problem("a/1"), problem("a/2")], primary_metric="speedup")
    made.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    node = WireNode()
    node.hello()
    while (answer := node.claim()).status_code == 200:
        assert node.report(answer.json(), timed(5.0)).status_code == 200
    rank_touched()
    return made


@pytest.fixture
def first(site: Site) -> WireNode:
    return WireNode()


def judge(node: WireNode, *candidates_ms: float) -> None:
    for ms in candidates_ms:
        assert node.report(node.take(), timed(ms)).status_code == 200


def test_a_run_is_made_once_for_a_node_and_day_and_goes_to_that_node(site: Site, first: WireNode) -> None:
    assert (watch_noise(), watch_noise()) == (1, 0)
    run = ReferenceRun.objects.get()
    assert (run.node, run.day, run.submission.samples.count()) == ("node-1", timezone.now().date(), 2)
    assert run.submission.entrant.slug == "_daily-reference"
    assert set(Job.objects.filter(state="queued").values_list("priority", "only_on__slug")) == {(-1, "node-1")}
    add_node("node-2", site.track, "second")
    second = WireNode(token="second")
    second.hello()
    assert second.claim().status_code == 204
    judge(first, 10.0, 10.1)
    assert watch_noise() == 0, "the reference's own times need no reference"
    run.refresh_from_db()
    assert run.ratio is not None
    assert run.ratio == pytest.approx(math.sqrt(10.0 / 10.1))
    assert (run.is_noisy, run.n_problems) == (False, 2)
    assert rebuild(check=True) == []


def test_a_quiet_node_and_day_keep_their_ranks_and_the_board_says_the_ratio(site: Site, first: WireNode) -> None:
    watch_noise()
    judge(first, 10.0, 10.1)
    watch_noise()
    rank_touched()
    assert Standing.objects.get().rank == 1
    page = markup(Client().get(f"/releases/{site.release.slug}/"))
    assert "The hidden reference stands at 1.00×" in page
    assert "Noisy" not in page


def references(site: Site, **asked: str) -> Any:
    """The fields of the board's JSON on them, as the API has them."""
    at = {"track": site.track.slug, **asked}
    exported = Client().get(f"/releases/{site.release.slug}/board.json", at).json()["references"]
    assert exported == Client().get(f"/api/v1/releases/{site.release.slug}/board", at).json()["references"]
    return exported


@pytest.mark.parametrize("ms", [9.0, 12.0])
def test_times_of_a_noisy_node_and_day_do_not_rank_and_the_board_says_so(
    site: Site, first: WireNode, ms: float
) -> None:
    assert (Standing.objects.get().rank, references(site)) == (1, None)
    watch_noise()
    judge(first, ms, ms)
    watch_noise()
    rank_touched()
    assert ReferenceRun.objects.get().is_noisy
    row = Standing.objects.get()
    assert (row.rank, row.incomplete_reason) == (None, "2 samples with a flagged or noisy time")
    counted = ProblemScore.objects.filter(submission__entrant=site.entrant)
    assert set(counted.values_list("n_passed", "n_timed", "n_time_flagged", "n_open_flags")) == {(1, 0, 1, 0)}
    assert "Noisy: it stands at" in markup(Client().get(f"/releases/{site.release.slug}/"))
    told = references(site)
    assert (told["ratio"], told["nodes_and_days"], told["n_noisy"]) == (pytest.approx(10 / ms), 1, 1)
    assert (told["noisy"][0]["node"], told["noisy"][0]["day"]) == ("node-1", timezone.now().date().isoformat())
    assert references(site, as_of=str(timezone.now().date() - timedelta(days=1))) is None
    evaluation = Evaluation.objects.filter(submission__entrant=site.entrant).earliest("pk")
    assert "no: its node was noisy that day" in markup(Client().get(f"/evaluations/{evaluation.pk}/"))
    assert rebuild(check=True) == []


def noisy(site: Site, node: str, days_ago: int = 0) -> None:
    day, of = timezone.now().date() - timedelta(days=days_ago), Submission.objects.earliest("pk")
    places = {"release": site.release, "track": site.track, "submission": of}
    ReferenceRun.objects.create(**places, node=node, day=day, ratio=2.0, is_noisy=True)


@pytest.mark.parametrize(("node", "days_ago"), [("node-2", 0), ("node-1", 1)])
def test_times_of_another_node_or_day_rank_beside_a_noisy_one(site: Site, node: str, days_ago: int) -> None:
    noisy(site, node, days_ago)
    assert rebuild(check=True) == []


def test_a_second_measurement_is_of_its_own_node_and_day(site: Site) -> None:
    Release.objects.filter(pk=site.release.pk).update(closes_at=timezone.now())
    place = ReleaseTrack.objects.select_related("release", "track").get()
    measure_anew.start(site.organiser, place, "luck")
    add_node("node-2", site.track, "second")
    second = WireNode(token="second")
    second.hello()
    judge(second, 8.0, 8.0)
    rank_touched()
    assert Standing.objects.get().speedup == pytest.approx(1.25)
    assert watch_noise() == 2, "both nodes served times"
    ReferenceRun.objects.all().delete()
    noisy(site, "node-2")
    assert rebuild(check=True) != []
    rebuild()
    assert Standing.objects.get().rank is None


def test_a_references_flagged_time_says_nothing_of_unflagged_ones(site: Site, first: WireNode) -> None:
    watch_noise()
    flag = FlagReport(code="busy_host", scope=FlagScope.TIME)
    assert first.report(first.take(), timed(30.0).model_copy(update={"flags": [flag]})).status_code == 200
    judge(first, 10.0)
    watch_noise()
    run = ReferenceRun.objects.get()
    assert (run.ratio, run.n_problems, run.is_noisy) == (pytest.approx(1.0), 1, False)


def test_a_frozen_release_keeps_its_ranks(site: Site, first: WireNode) -> None:
    watch_noise()
    judge(first, 20.0, 20.0)
    Release.objects.filter(pk=site.release.pk).update(state=ReleaseState.FROZEN)
    watch_noise()
    assert not ReferenceRun.objects.get().is_noisy


def test_a_run_without_a_time_decides_nothing(site: Site, first: WireNode) -> None:
    watch_noise()
    for _ in range(2):
        work = first.take()
        assert first.report(work).status_code == 200
    watch_noise()
    rank_touched()
    run = ReferenceRun.objects.get()
    assert (run.ratio, run.is_noisy, run.settled_at is None) == (None, False, False)
    assert Standing.objects.get().rank == 1


def days_old(days: int) -> None:
    Submission.objects.filter(entrant__slug="_daily-reference").update(created_at=timezone.now() - timedelta(days=days))


def gone_for(hours: int) -> None:
    Node.objects.update(last_seen_at=timezone.now() - timedelta(hours=hours))


@pytest.mark.parametrize("leave", [lambda: days_old(2), lambda: gone_for(2)], ids=["for a day", "going away"])
def test_a_run_that_its_node_leaves_is_cancelled(site: Site, leave: Callable[[], None]) -> None:
    watch_noise()
    watch_noise()
    assert ReferenceRun.objects.get().submission.state == "accepted"
    leave()
    watch_noise()
    run = ReferenceRun.objects.get()
    assert (run.submission.state, run.settled_at is None) == ("cancelled", False)
    assert not Job.objects.filter(state="queued").exists()


def test_a_node_that_is_away_gets_no_run(site: Site) -> None:
    gone_for(2)
    assert watch_noise() == 0


def test_releases_of_the_first_rules_keep_their_ranks(site: Site) -> None:
    Release.objects.update(rules=FIRST.version, correction="As before.")
    assert watch_noise() == 0


def test_a_run_is_bounded(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_runs, "MOST_PROBLEMS", 1)
    watch_noise()
    assert ReferenceRun.objects.get().submission.samples.count() == 1


def test_one_problem_without_an_interval_has_none() -> None:
    found = ratio_of([0.02], [0.0])
    assert found is not None
    assert (found.low, found.high, found.is_noisy) == (None, None, False)


@pytest.mark.parametrize(
    ("ratios", "half", "is_noisy"),
    [
        ([1.0, 1.0], 0.01, False),
        ([1.049], 0.01, False),
        ([1.051], 0.01, True),
        ([0.949], 0.01, True),
        ([1.0], 0.21, True),
        ([1.0], 0.2, False),
        ([1.0] * 4, 0.21, False),
        ([0.6, 1.7], 0.0, True),
        ([1.0, 1.02], 0.0, False),
        ([0.9, 1.1], 0.0, False),
        ([0.83, 1.2], 0.0, False),
        ([0.8, 1.25], 0.0, True),
        ([0.95, 1.0, 1.05], 0.0, False),
        ([0.8, 1.0, 1.25], 0.0, True),
        ([0.98, 1.02, 0.99, 1.01], 0.0, False),
    ],
)
def test_a_ratio_is_noisy_outside_the_band_or_if_its_ends_are_far_apart(
    ratios: list[float], half: float, is_noisy: bool
) -> None:
    found = ratio_of([math.log(one) for one in ratios], [half] * len(ratios))
    assert found is not None
    assert found.is_noisy == is_noisy
    assert ratio_of([], []) is None
