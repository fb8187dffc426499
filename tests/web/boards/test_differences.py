"""The chart of paired differences on the Charts tab: its numbers, its choice of a reference, and odd boards."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaderboard.actions.curation.decide import void_problem
from leaderboard.boards import compare, differences
from leaderboard.charts.boards import forest
from leaderboard.charts.colours import colour_of
from leaderboard.models import Entrant, ProblemScore, ReleaseTrack, Standing
from problems.models import Release
from scoring.paired import PairedDifference
from tests import factories
from tests.factories import Cast
from tests.markup import markup
from tests.web.drawn_board import drawn_board

pytestmark = pytest.mark.django_db
DRAWS = 200


def _page(client: Any, made: Release, **asked: str) -> str:
    answer = client.get(reverse("charts", args=[made.slug]), asked)
    assert answer.status_code == 200
    return " ".join(markup(answer).split())


def _figure(client: Any, made: Release, **asked: str) -> Any:
    return client.get(reverse("chart", args=[made.slug, "differences"]), asked)


def _row(name: str, value: float, low: float, high: float, problems: int = 4) -> forest.Difference:
    return forest.Difference(1, name, "First", PairedDifference(value, low, high, problems, 3, 1))


def _awkward_board() -> ReleaseTrack:
    """Eight entrants: one has no results, one waits for three problems, and a problem is voided."""
    made, track = drawn_board(8)
    first, *others = made.problems.order_by("position")
    waiting = ProblemScore.objects.filter(submission__entrant__slug="entrant-6", problem__in=others[:3])
    waiting.update(n_pending=1)
    void_problem(factories.UserFactory(is_staff=True, is_superuser=True), first, "Wrong test.")
    return ReleaseTrack.objects.select_related("release", "track").get(release=made, track=track)


def test_the_differences_are_those_of_the_comparison() -> None:
    place = _awkward_board()
    standings = list(Standing.objects.select_related("entrant").order_by("rank"))
    ids = [one.entrant_id for one in standings]
    for n, one in enumerate(standings):
        others = standings[:n] + standings[n + 1 :]
        found = differences.differences(place, one.entrant_id, [pk for pk in ids if pk != one.entrant_id], DRAWS)
        for other, difference in zip(others, found.found, strict=True):
            (pair,) = compare.compare(place, [one, other], DRAWS).pairs
            assert str(difference) == str(pair.passes) == str(pair.primary), (one, other)
    assert len({one.problems for one in differences.differences(place, ids[0], ids[1:], DRAWS).found}) == 3


def test_the_figure_has_the_numbers_of_the_comparisons_figure(client: Any, settings: Any) -> None:
    settings.BOOTSTRAP_DRAWS = DRAWS
    made = _awkward_board().release
    marks = _figure(client, made, against="entrant-2").json()["data"]
    assert len(marks) == 6, "one of the seven others has no problem in common with the reference"
    for n in (0, 1, 4, 5, 6, 7):
        asked = {"release": made.slug, "a": "entrant-2", "b": f"entrant-{n}"}
        (alone,) = client.get(reverse("compare_chart", args=["differences"]), asked).json()["data"]
        (mark,) = [one for one in marks if one["name"] == alone["name"]]
        assert (mark["x"], mark["error_x"], mark["marker"]) == (alone["x"], alone["error_x"], alone["marker"])


def test_lines_go_from_the_best_to_the_worst_and_the_unknown_last(client: Any, settings: Any) -> None:
    settings.BOOTSTRAP_DRAWS = DRAWS
    made = _awkward_board().release
    figure = _figure(client, made).json()
    values = [one["x"][0] for one in figure["data"]]
    assert values == sorted(values, reverse=True)
    assert [one["y"] for one in figure["data"]] == [[n] for n in range(len(values))]
    assert figure["layout"]["xaxis"]["title"]["text"] == "pass@1 less that of Cobalt Max (points)"
    assert figure["layout"]["shapes"][0]["x0"] == figure["layout"]["shapes"][0]["x1"] == 0
    body = _page(client, made).split('id="test-1-differences"')[1]
    last = body.split("</tbody>")[0].split("<tr>")[-1]
    assert '<th scope="row">Never timed</th><td class="num">–</td><td class="num">–</td>' in last


def test_a_figure_leaves_out_who_has_no_problem_in_common() -> None:
    nan = float("nan")
    rows = [_row("A", 0.25, 0.1, 0.4), _row("B", -0.5, nan, nan, 1), _row("C", nan, nan, nan, 0)]
    marks = forest.spec(rows)["data"]
    assert [one["name"] for one in marks] == ["A", "B"]
    assert marks[0]["error_x"]["array"] == pytest.approx([0.15])
    assert marks[1]["error_x"]["array"] == [0.0]
    assert forest.spec(rows)["layout"]["xaxis"]["range"] == pytest.approx([-0.554, 0.454])
    assert "+0" not in forest.spec(rows)["layout"]["xaxis"]["ticktext"], "a zero has no sign"
    assert forest.spec(rows[2:])["data"] == []
    assert marks[0]["marker"]["color"] == colour_of(1)
    assert [row[:3] for row in forest.table(rows).rows] == [
        ["A", "+25.0", "+10.0 to +40.0"], ["B", "−50.0", "–"], ["C", "–", "–"],
    ]  # fmt: skip
    assert "pass@1 of each ranked entrant less that of First" in forest.caption(rows)
    assert "pass@1 of the first 20 other entrants by rank less" in forest.caption(rows[:1] * 20)
    assert "No problem counts both for First" in forest.caption(rows[2:])
    for some in (rows, rows[2:], []):
        assert len(forest.figure(some).data) == len(forest.spec(some)["data"])


def test_the_reader_chooses_the_reference_without_a_script(client: Any, cast: Cast) -> None:
    made = factories.board_of_two(cast)
    slugs = cast.entrant.slug, cast.strangers_entrant.slug
    page = _page(client, made)
    assert 'action="#test-1-differences"' in page
    assert '<label>Compare with<select name="against">' in page
    assert f'<option value="{slugs[0]}" selected>' in page
    assert f"differences.json?track=cpu-test&amp;against={slugs[0]}" in page
    assert '<td class="num">−50.0</td>' in page
    turned = _page(client, made, against=slugs[1])
    assert f'<option value="{slugs[1]}" selected>' in turned
    assert '<input type="hidden" name="track" value="cpu-test">' in turned
    assert f"differences.json?track=cpu-test&amp;against={slugs[1]}" in turned
    assert '<td class="num">+50.0</td>' in turned
    assert [one["x"] for one in _figure(client, made, against=slugs[1]).json()["data"]] == [[0.5]]


def test_an_unknown_reference_is_named(client: Any, cast: Cast) -> None:
    made = factories.board_of_two(cast)
    page = _page(client, made, against="no<body>")
    assert "There is no entrant <code>no&lt;body&gt;</code> on this board." in page
    assert '<td class="num">−50.0</td>' in page, "against the first by rank instead"
    assert _figure(client, made, against="nobody").status_code == 404


def test_a_voided_problem_counts_for_nobody_at_once(client: Any, cast: Cast) -> None:
    made = factories.board_of_two(cast)
    assert [one["x"] for one in _figure(client, made).json()["data"]] == [[-0.5]]
    void_problem(cast.organiser, made.problems.get(slug="shell-0"), "Wrong test.")
    (mark,) = _figure(client, made).json()["data"]
    assert mark["x"] == [pytest.approx(-1 / 3)]


def test_one_entrant_has_no_differences(client: Any) -> None:
    made, _ = drawn_board(1)
    assert "-differences" not in _page(client, made)
    assert _figure(client, made).json()["data"] == []
    empty = factories.release(name="test-3")
    assert "nothing to draw" in _page(client, empty, against="nobody")
    assert _figure(client, empty).json()["data"] == []


def test_entrants_without_a_common_problem_are_told_so(client: Any, cast: Cast) -> None:
    made = factories.board_of_two(cast)
    ProblemScore.objects.filter(submission__entrant=cast.strangers_entrant).delete()
    ReleaseTrack.objects.update(touched_at=None)  # what is kept is of before the deletion
    assert "No problem counts both for" in _page(client, made)
    assert _figure(client, made).json()["data"] == []


def test_hidden_results_are_in_no_difference(client: Any, cast: Cast, far_future: Any) -> None:
    made = factories.board_of_two(cast)
    assert "-differences" in _page(client, made)
    Release.objects.filter(pk=made.pk).update(hidden_until=far_future)
    for user in (None, cast.owner):
        if user:
            client.force_login(user)
        assert "-differences" not in _page(client, made)
        assert _figure(client, made, against=cast.strangers_entrant.slug).status_code == 404
    client.force_login(cast.organiser)
    assert "-differences" in _page(client, made)


def test_a_large_board_draws_the_first_and_costs_no_more_queries(client: Any) -> None:
    made = factories.release()
    track = factories.offer(made)
    counts = []
    for n, prefix in ((10, "few"), (200, "many")):
        made.standings.all().delete()
        factories.standings(made, track, n, prefix=prefix)
        with CaptureQueriesContext(connection) as queries:
            page = _page(client, made)
        counts.append(len(queries))
    assert counts[0] == counts[1]
    table = page.split('id="test-1-differences"')[1].split("</table>")[0]
    assert table.count('<th scope="row">') == 20
    beyond = Entrant.objects.get(slug="many-0150")
    page = _page(client, made, against=beyond.slug)
    assert f'<option value="{beyond.slug}" selected>{beyond.name}</option>' in page
    assert page.count("<option value=") == 101


def test_a_kept_result_costs_no_queries_of_its_own(client: Any, cast: Cast) -> None:
    made = factories.board_of_two(cast)
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            _figure(client, made)
        counts.append(len(queries))
    assert counts[0] - counts[1] == 4
