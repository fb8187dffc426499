"""A release ranked by speedup leads with the speedup: on its board, charts, comparison and social card."""

import math
import re
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.boards import compare, differences
from leaderboard.models import ReleaseTrack, Standing
from leaderboard.models.boards.estimates import figure_of_group
from leaderboard.web.boards.card import _card_of
from problems.models import Release
from scoring.metrics import PASS_AT_1, SPEEDUP
from tests.markup import markup
from tests.web.boards import seeded_boards

pytestmark = pytest.mark.django_db
DRAWS = 200


@pytest.fixture
def board() -> Release:
    made, _ = seeded_boards.speedup_board()
    return made


def _page(client: Any, name: str, made: Release, query: str = "") -> str:
    return " ".join(markup(client.get(reverse(name, args=[made.slug]) + query)).split())


def _standings(made: Release) -> list[Standing]:
    return list(Standing.objects.filter(release=made).exclude(rank=None).select_related("entrant").order_by("rank"))


def test_the_ranked_column_is_first_and_marked_and_cannot_be_hidden(client: Any, board: Release) -> None:
    html = _page(client, "board", board)
    heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', html)
    assert [("ranked by" in one) for one in heads[:4]] == [False, False, True, False]
    assert "Speedup" in heads[2]
    first = re.search(r'<tr class="[^"]*" id="row-[^>]*>.*?</th>(<td[^>]*>)', html)
    assert first
    assert 'class="num ranks"' in first[1]
    assert 'name="hide" value="speedup"' not in html
    assert "pass@1" in heads[3]


def test_the_page_leads_with_the_first_of_the_board(client: Any, board: Release) -> None:
    leader = _standings(board)[0]
    html = _page(client, "board", board)
    told = html.split('<p class="leader">')[1].split("</p>")[0]
    assert leader.entrant.name in told
    assert f"{leader.speedup:.1f}" in told
    assert 'class="leader"' not in _page(client, "board", board, "?sort=model"), "another order has another first row"
    assert 'class="leader"' not in _page(client, "board", board, "?q=nobody")


def test_groups_are_stored_and_shown_in_the_ranked_metric(client: Any, board: Release) -> None:
    row = _standings(board)[0]
    values = [figure_of_group(one, SPEEDUP) for one in row.groups.values()]
    assert all(value and value >= 1 for value in values)
    assert figure_of_group({"pass_at_1": 0.5}, PASS_AT_1) == 0.5
    assert figure_of_group({"pass_at_1": 0.5}, SPEEDUP) is None, "ranked before speedups of groups were stored"
    details = markup(client.get(reverse("board_row", args=[board.slug, row.entrant.slug])))
    assert "Speedup ≥ 1 by group" in details
    columns = client.get(reverse("board_json", args=[board.slug]) + "?group=*").json()["rows"]
    (told,) = [one for one in columns if one["entrant"] == row.entrant.slug]
    assert [told[f"group:{group}"] for group in row.groups] == values


def test_the_charts_begin_with_the_ranked_metric(client: Any, board: Release) -> None:
    titles = re.findall(r'<figure class="figure"[^>]*>\s*<h2>(.*?)</h2>', _page(client, "charts", board))
    assert titles[:6] == [
        "Speedup ≥ 1, the metric that ranks", "Speedup distribution", "Share faster than p×", "Paired differences",
        "Best score over time", "Speedup by problem",
    ]  # fmt: skip
    assert "Speedup ≥ 1 by group" in titles
    assert "pass@1 by group" in titles, "pass@1 varies here"


def test_pages_of_charts_say_of_which_board_they_are(client: Any, board: Release) -> None:
    html = _page(client, "charts", board)
    for fact in ("seeded-speed", "revision", "seeded-speed-gpu", "speedup", "as_of"):
        assert fact in html.split("data-chart-facts=")[1][:300]


def test_a_comparison_is_of_ratios_with_intervals(client: Any, board: Release) -> None:
    place = ReleaseTrack.objects.select_related("release", "track").get(release=board)
    first, *others = _standings(board)
    found = compare.compare(place, [first, *others], DRAWS)
    assert found.metric == SPEEDUP
    ids = [one.entrant_id for one in others]
    listed = differences.differences(place, first.entrant_id, ids, DRAWS)
    assert listed.metric == SPEEDUP
    for pair, one in zip(found.pairs, listed.found, strict=True):
        assert str(pair.primary) == str(one)
        assert pair.speedup[0] == pytest.approx(pow(2.718281828459045, pair.primary.value))
    assert found.scores.keys() == found.groups.keys()
    asked = {"release": board.slug, "a": first.entrant.slug, "b": others[-1].entrant.slug}
    html = " ".join(markup(client.get(reverse("compare"), asked)).split())
    assert "Speedup ≥ 1, ratio" in html
    assert "Speedup ≥ 1 by group" in html
    assert "×</small>" in html, "an interval of a ratio"
    by_problem = html.split('<h3 id="solved">')[1]
    assert by_problem.startswith("Speedup ≥ 1 and passes by problem</h3>")
    shown = compare.compare(place, [first, others[-1]], DRAWS)
    differing = [row for row in shown.rows if row.differs]
    assert f"They differ in Speedup ≥ 1 or in samples passed on {len(differing)} of {len(shown.rows)} problems." in html
    cells = [f"{figure} <small>{cell[0]}/{cell[1]}</small>" for row in differing for figure, cell in row.shown if cell]
    assert re.findall(r'<td class="num[^"]*">(\S+ <small>.*?)</td>', by_problem) == cells
    told = client.get(f"/api/v1/releases/{board.slug}/compare", {"entrant": [asked["a"], asked["b"]]}).json()
    (pair,) = told["differences"]
    primary = shown.pairs[0].primary
    assert pair["ranked"] == {
        "kind": "ratio", "problems": primary.problems, "better": primary.wins, "worse": primary.losses,
        **dict(zip(("value", "low", "high"), map(math.exp, (primary.value, primary.low, primary.high)), strict=True)),
    }  # fmt: skip
    assert f"{pair['ranked']['value']:.2f}×" in html
    assert told["metric"] == "speedup"
    assert [one["figure"] for one in told["entrants"]] == [first.speedup, others[-1].speedup]
    assert told["figures"] == {row.problem.task_id: row.values for row in shown.rows}
    for name in ("differences", "groups", "speedups", "pass-differences", "pass-groups"):
        answer = client.get(reverse("compare_chart", args=[name]), asked)
        assert answer.json()["data"], name


def test_a_comparison_of_equals_in_pass_at_1_has_no_figure_of_it(client: Any, board: Release) -> None:
    first, second = _standings(board)[:2]
    for one in (first, second):
        one.estimates = {**one.estimates, "pass@1": {"value": 1.0}}
        one.save()
    asked = {"release": board.slug, "a": first.entrant.slug, "b": second.entrant.slug}
    assert "Differences in pass@1" not in markup(client.get(reverse("compare"), asked))
    assert client.get(reverse("compare_chart", args=["pass-differences"]), asked).json()["data"] == []


def test_an_entrants_page_has_its_strengths_and_history_in_the_ranked_metric(client: Any, board: Release) -> None:
    row = _standings(board)[0]
    address = reverse("entrant", args=[row.entrant.slug])
    html = " ".join(markup(client.get(address)).split())
    assert "Strengths by group: Speed, seeded-speed-gpu" in html
    assert "Speedup ≥ 1 over the problems of each group" in html
    asked = {"release": board.slug, "track": "seeded-speed-gpu"}
    groups = client.get(reverse("entrant_chart", args=[row.entrant.slug, "groups"]), asked).json()
    assert groups["data"][0]["x"] == [figure_of_group(one, SPEEDUP) for _, one in sorted(row.groups.items())]
    history = reverse("entrant_chart", args=[row.entrant.slug, "history"])
    past = client.get(history, {"metric": "speedup"}).json()
    assert past["data"][0]["y"] == [pytest.approx(row.speedup)]
    assert client.get(history, {"metric": "zzz"}).status_code == 404


def test_home_and_card_show_the_ranked_metric(client: Any, board: Release) -> None:
    home = " ".join(markup(client.get(reverse("home"))).split())
    assert "ranked by</small>" in home
    card = _card_of(board)
    assert "ranked by speedup" in card.line
    assert all(row.score.startswith("Speedup") for row in card.rows)
