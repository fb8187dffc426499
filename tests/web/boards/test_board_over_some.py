"""A board ranked over some problems: the same scoring, said on the page, the same in exports and API."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.boards import ranked_again
from leaderboard.models import Evaluation, RankedArrays, ReleaseTrack, Standing
from leaderboard.standings import rank, scores
from tests.markup import markup
from tests.web.conftest import Site

pytestmark = pytest.mark.both_databases


def place_of(site: Site) -> ReleaseTrack:
    return ReleaseTrack.objects.select_related("release", "track").get(release=site.release, track=site.track)


def records(client: Any, site: Site, query: str) -> list[dict[str, Any]]:
    return list(client.get(reverse("board_json", args=[site.release.slug]) + query).json()["rows"])


def page(client: Any, site: Site, query: str) -> str:
    return str(markup(client.get(reverse("board", args=[site.release.slug]) + query)))


def test_the_stored_arrays_give_the_stored_ranking(site: Site) -> None:
    rank.rank_touched()  # a submission that does not count was made since
    ranked = ranked_again.rank_again(place_of(site), None, None)
    assert len(ranked.figures) == 6
    for row in Standing.objects.filter(release=site.release):
        assert ranked.figures[row.submission_id] == {name: getattr(row, name) for name in ranked_again.FIGURES}


def test_a_board_over_some_groups_counts_their_problems_alone(client: Any, site: Site) -> None:
    rows = records(client, site, "?groups=strings")
    stored = {row.entrant.slug: row.groups["strings"] for row in Standing.objects.select_related("entrant")}
    assert {row["entrant"]: (row["pass@1"], row["problems"], row["solved"]) for row in rows} == {
        slug: (pytest.approx(one["pass_at_1"]), one["problems"], one["solved"]) for slug, one in stored.items()
    }
    ranked = [row for row in rows if row["rank"]]
    assert [row["rank"] for row in ranked] == sorted(row["rank"] for row in ranked)
    assert [row["pass@1"] for row in ranked] == sorted((row["pass@1"] for row in ranked), reverse=True)
    assert rows != records(client, site, "?groups=sums")
    assert records(client, site, "?groups=sums,strings") == records(client, site, ""), "all groups are the whole board"


def test_page_json_and_api_say_over_what_they_rank(client: Any, site: Site) -> None:
    html = page(client, site, "?groups=strings&sort=-speedup")
    assert "Ranked anew over 3 of 6 problems (group strings)" in html
    assert "groups=strings&amp;sort=speedup" in html, "links keep the choice"
    head = client.get(reverse("board_json", args=[site.release.slug]) + "?groups=strings").json()
    assert (head["problems"], head["problems_of_release"], head["groups"]) == (3, 6, ["strings"])
    found = client.get(f"/api/v1/releases/{site.release.slug}/board?groups=strings").json()
    assert (found["problems"], found["groups"]) == (3, ["strings"])
    assert [row["pass@1"] for row in found["standings"]] == [row["pass@1"] for row in head["rows"]]
    refused = client.get(f"/api/v1/releases/{site.release.slug}/board?groups=strange")
    assert refused.status_code == 400
    assert "strange" in markup(refused)


def test_a_later_ranking_replaces_a_kept_one(client: Any, site: Site) -> None:
    before = records(client, site, "?groups=strings")
    one = Standing.objects.get(release=site.release, entrant__slug="gamma").submission
    Evaluation.objects.filter(submission=one, problem__group="strings").update(current_result=None)
    scores.rescore(one, site.track)
    assert records(client, site, "?groups=strings") == before, "as long as the board is not ranked anew"
    rank.rank(place_of(site))
    assert records(client, site, "?groups=strings") != before


def test_results_that_are_hidden_stay_hidden_over_some_problems(client: Any, site: Site) -> None:
    site.release.hidden_until = timezone.now() + timedelta(days=1)
    site.release.save()
    for query in ("?groups=strings", f"?as_of={timezone.now():%Y-%m-%d}"):
        assert records(client, site, query) == []
        path = reverse("board_row", args=[site.release.slug, "alpha"]) + query
        assert client.get(path).status_code == 404
    client.force_login(site.cast.owner)
    assert [row["entrant"] for row in records(client, site, "?groups=strings")] == ["alpha"]


def test_arrays_are_stored_once_a_place(site: Site) -> None:
    rank.rank(place_of(site))
    rank.rank(place_of(site))
    assert RankedArrays.objects.count() == 1


def test_a_board_that_was_never_ranked_is_ranked_from_its_results(client: Any, site: Site) -> None:
    before = records(client, site, "?groups=strings")
    RankedArrays.objects.all().delete()
    assert records(client, site, "?groups=strings") == before


def test_a_visitor_does_not_wait_long_for_others_rankings(
    client: Any, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranked_again, "_PATIENCE_S", 0.01)
    rank.rank(place_of(site))  # what was kept is of the last ranking
    with ranked_again._computing:
        for name in ("board", "board_csv"):
            refused = client.get(reverse(name, args=[site.release.slug]) + "?groups=sums")
            assert refused.status_code == 503
            assert "ranking other boards just now" in markup(refused)
    assert "Ranked anew over 3 of 6 problems" in page(client, site, "?groups=sums")
