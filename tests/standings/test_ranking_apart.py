"""A track that cannot be ranked stops no other, says why, and can be mended."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.models import ReleaseTrack, Standing
from leaderboard.standings.rank import rank_touched, rebuild
from problems.actions.releases import publish
from problems.models import Release
from tests import factories
from tests.admin.pages import act, signed_in, text

pytestmark = pytest.mark.django_db
PAGES = ["/", "/releases/",
         "/releases/bad/", "/releases/bad/charts/", "/releases/bad/problems/", "/releases/bad/about/",
         "/releases/bad/board.csv", "/releases/bad/board.json", "/api/v1/releases", "/api/v1/releases/bad",
         "/api/v1/releases/bad/board"]  # fmt: skip


def judged(cast: Any, name: str, **stored: Any) -> ReleaseTrack:
    """A published release with one entrant judged, not yet ranked; `stored` goes into the row unchecked."""
    made = factories.release(2, name, publish=False)
    if stored:
        Release.objects.filter(pk=made.pk).update(**stored)
        made.refresh_from_db()
    track = factories.offer(made)
    publish(made)
    factories.judge(factories.submission(cast.entrant, made, track))
    return ReleaseTrack.objects.get(release=made)


BAD = [
    {"ks": [0, "x"]},
    {"ks": "x"},
    {"primary_metric": "weighted"},
    {"primary_metric": "weighted", "weights": {"strings": "x"}},
    {"primary_metric": "weighted", "weights": [1]},
    {"primary_metric": "roofline"},
    {"primary_metric": "pass@x"},
    {"primary_metric": "pass@10", "ks": [1]},
]


@pytest.mark.parametrize("stored", BAD, ids=str)
def test_pages_show_what_was_stored_unchecked(cast: Any, client: Client, stored: dict[str, Any]) -> None:
    judged(cast, "bad", **stored)
    rank_touched()
    assert {path: client.get(path, follow=True).status_code for path in PAGES} == dict.fromkeys(PAGES, 200)


@pytest.mark.parametrize("stored", BAD[2:7], ids=str)
def test_a_track_that_cannot_be_ranked_stops_no_other(cast: Any, client: Client, stored: dict[str, Any]) -> None:
    bad, good = judged(cast, "bad", **stored), judged(cast, "good")
    assert rank_touched() == 1
    assert Standing.objects.get().release == good.release
    bad.refresh_from_db()
    assert (bad.ranked_at, bool(bad.ranking_error)) == (None, True)
    page = text(client.get("/releases/bad/"))
    assert "This track cannot be ranked now" in page
    assert client.get("/api/v1/releases/bad/board").json()["ranking_error"] == bad.ranking_error


def test_the_error_says_what_is_missing_and_how_to_mend_it(cast: Any) -> None:
    bad = judged(cast, "bad", primary_metric="roofline")
    rank_touched()
    bad.refresh_from_db()
    assert "bad on cpu-test cannot be ranked by roofline: it needs the track's measured peaks" in bad.ranking_error
    assert any("cannot be ranked" in line for line in rebuild(check=True))


def test_it_is_tried_again_once_something_changes(cast: Any) -> None:
    bad = judged(cast, "bad", primary_metric="roofline")
    assert [rank_touched(), rank_touched()] == [0, 0]
    bad.track.peaks = {"gbps": 40.0, "gflops": {"fp32": 900.0}}
    bad.track.save()
    assert rank_touched() == 0
    factories.judge(factories.submission(cast.strangers_entrant, bad.release, bad.track))
    assert rank_touched() == 1
    bad.refresh_from_db()
    assert (bad.ranking_error, bad.ranking_failed_at, bad.ranked_at == bad.touched_at) == ("", None, True)


def test_standings_of_the_last_ranking_stay(cast: Any) -> None:
    place = judged(cast, "bad", primary_metric="weighted", weights={"strings": 1.0, "sums": 3.0})
    assert rank_touched() == 1
    before = Standing.objects.get().primary_value
    Release.objects.filter(pk=place.release_id).update(weights={}, correction="Weights taken away.")
    ReleaseTrack.objects.update(ranked_at=None)
    assert rank_touched() == 0
    assert Standing.objects.get().primary_value == before


def test_an_organiser_corrects_the_ranking_with_a_public_reason(cast: Any, client: Client) -> None:
    bad = judged(cast, "bad", primary_metric="weighted", weights=[1]).release
    rank_touched()
    page = text(signed_in(cast.organiser).get(f"/admin/problems/release/{bad.pk}/change/"))
    assert "`weights`" in page
    assert "Correct the ranking" in page
    said = {"primary_metric": "pass@1", "timing_policy": "quick", "ks": "[1, 2]", "weights": "{}"}
    assert act(cast.organiser, "problems_release", "correct-ranking", bad, **said).status_code == 422
    said |= {"reason": "No weights were agreed."}
    wrong = act(cast.organiser, "problems_release", "correct-ranking", bad, **said | {"primary_metric": "weighted"})
    assert "no weight for the groups strings, sums" in text(wrong)
    assert act(cast.organiser, "problems_release", "correct-ranking", bad, **said).status_code == 200
    assert rank_touched() == 1
    assert "No weights were agreed." in text(client.get("/releases/bad/"))
    assert act(cast.organiser, "problems_release", "correct-ranking", bad, **said).status_code == 404


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("ks", '[0, "x"]', "field `0`"),
        ("primary_metric", "best", "is no metric; use pass@k"),
        ("weights", '{"strings": -1}', "greater than or equal to 0.000001"),
        ("timing_policy", "slow", "Select a valid choice"),
        ("closes_at", "2020-01-01T00:00", "It opens at 2026-01-01 00:00 UTC and must close later."),
    ],
)
def test_the_admin_refuses_what_could_not_be_ranked(cast: Any, name: str, value: str, words: str) -> None:
    made = factories.release(1, publish=False)
    said = {"slug": made.slug, "title": "T", "primary_metric": "pass@1", "timing_policy": "quick", "ks": "[1]",
            "weights": "{}", "opens_at": "2026-01-01T00:00"}  # fmt: skip
    answer = signed_in(cast.organiser).post(f"/admin/problems/release/{made.pk}/change/", said | {name: value})
    assert words in text(answer).replace("&#x27;", "'").replace("&quot;", '"')
    made.refresh_from_db()
    assert (made.ks, made.primary_metric, made.closes_at) == ([1, 2], "pass@1", None)


def test_peaks_that_are_no_numbers_break_no_page(cast: Any, client: Client) -> None:
    place = judged(cast, "bad")
    for peaks in ([1], {"gbps": "fast"}, {"gflops": 3}, {"gflops": {"fp32": -1}}):
        place.track.peaks = peaks
        place.track.save()
        assert client.get(f"/releases/bad/problems/{place.release.problems.first().slug}/").status_code == 200
        answer = signed_in(cast.organiser).post(
            f"/admin/leaderboard/track/{place.track_id}/change/", {"title": "T", "peaks": str(peaks).replace("'", '"')}
        )
        assert "peaks" in text(answer).lower() and answer.status_code == 200


def test_ranking_costs_the_same_with_more_problems(cast: Any) -> None:
    def cost(name: str, n_problems: int) -> int:
        made = factories.release(n_problems, name)
        track = factories.offer(made, f"track-{name}")
        factories.judged_submission(cast.entrant, made, track)
        with CaptureQueriesContext(connection) as queries:
            factories.rank(made, track)
        return len(queries)

    assert cost("small", 2) == cost("large", 20)
