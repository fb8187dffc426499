"""The worker keeps the aggregates of the boards that it ranked last, and reads those that were computed anew."""

from collections.abc import Sequence
from typing import Any

import pytest

from leaderboard.actions.curation.decide import void_problem
from leaderboard.models import Entrant, ProblemScore, ReleaseTrack, Standing, Submission
from leaderboard.standings import grids, rank, scores
from leaderboard.standings.grids import MOST_KEPT, KeptGrids
from runners.wire.protocol import Verdict
from tests.fleet.site import Site
from tests.packs import problem
from tests.standings.test_scoring_the_board import grade, report

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def site() -> Site:
    return Site.make([problem("a/1"), problem("a/2")])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The submissions whose aggregates were read from the database, by call."""
    found: list[list[int]] = []
    read = grids.read

    def seen(submission_ids: Sequence[int], *rest: Any, **named: Any) -> grids.Grids:
        found.append(list(submission_ids))
        return read(submission_ids, *rest, **named)

    monkeypatch.setattr(grids, "read", seen)
    return found


def place_of(site: Site) -> ReleaseTrack:
    return ReleaseTrack.objects.select_related("release", "track").get(release=site.release)


def graded(site: Site, name: str, *verdicts: Verdict) -> Submission:
    entrant = Entrant.objects.create(slug=f"e-{name}", name=name, owner=site.owner)
    made = site.submit({"a/1": [f"exit 0 # {name}"], "a/2": [f"exit 1 # {name}"]}, entrant)
    for task_id, verdict in zip(("a/1", "a/2"), verdicts, strict=True):
        grade(made, task_id, report(verdict))
    return made


def passes(site: Site) -> dict[int, int]:
    return dict(Standing.objects.filter(release=site.release).values_list("submission_id", "n_passed"))


def test_only_what_was_scored_anew_is_read(site: Site, asked: list[list[int]]) -> None:
    one, two = (graded(site, name, Verdict.PASSED, Verdict.PASSED) for name in ("one", "two"))
    rank.rank(place_of(site))
    rank.rank(place_of(site))
    assert asked == [[one.pk, two.pk], []]
    third = graded(site, "three", Verdict.TEST_FAILED, Verdict.PASSED)
    scores.rescore(two, site.track)
    rank.rank(place_of(site))
    assert asked[2:] == [[two.pk, third.pk]]
    assert passes(site) == {one.pk: 2, two.pk: 2, third.pk: 1}
    assert rank.rebuild(check=True) == []


def test_a_change_of_aggregates_is_ranked(site: Site) -> None:
    one, two = (graded(site, name, Verdict.PASSED, Verdict.PASSED) for name in ("one", "two"))
    rank.rank(place_of(site))
    ProblemScore.objects.filter(submission=two).update(n_passed=0)
    scores.rescore(two, site.track, [])  # as all that computes aggregates does
    rank.rank(place_of(site))
    assert passes(site) == {one.pk: 2, two.pk: 0}


def test_a_voided_problem_leaves_a_kept_board(site: Site) -> None:
    one, two = (graded(site, name, Verdict.PASSED, Verdict.PASSED) for name in ("one", "two"))
    rank.rank(place_of(site))
    void_problem(site.organiser, site.release.problems.get(task_id="a/2"), "faulty")
    rank.rank(place_of(site))
    assert passes(site) == {one.pk: 1, two.pk: 1}
    assert rank.rebuild(check=True) == []


def test_a_submission_that_was_never_marked_is_read_each_time(site: Site, asked: list[list[int]]) -> None:
    one = graded(site, "one", Verdict.PASSED, Verdict.PASSED)
    Submission.objects.update(scored_mark=None)
    kept = KeptGrids()
    for _ in range(2):
        kept.read(place_of(site), [one.pk], [])
    assert asked == [[one.pk], [one.pk]]


def test_other_problems_are_read_anew_and_arrays_cannot_be_written(site: Site, asked: list[list[int]]) -> None:
    one = graded(site, "one", Verdict.PASSED, Verdict.TEST_FAILED)
    first, second = site.release.problems.order_by("position").values_list("pk", flat=True)
    kept, place = KeptGrids(), place_of(site)
    assert kept.read(place, [one.pk], [first, second])["n_passed"].tolist() == [[1, 0]]
    assert kept.read(place, [one.pk], [second, first])["n_passed"].tolist() == [[0, 1]]
    found = kept.read(place, [one.pk], [second, first])["n_passed"]
    assert asked == [[one.pk], [one.pk], []]
    with pytest.raises(ValueError, match="read-only"):
        found[0, 0] = 1


def test_few_boards_are_kept(site: Site, asked: list[list[int]]) -> None:
    one, kept = graded(site, "one", Verdict.PASSED, Verdict.PASSED), KeptGrids()
    places = [ReleaseTrack(pk=pk, track=site.track, release=site.release) for pk in range(1, MOST_KEPT + 2)]
    for place in (*places, places[0], places[-1]):
        kept.read(place, [one.pk], [])
    assert asked == [[one.pk]] * (MOST_KEPT + 2) + [[]]
