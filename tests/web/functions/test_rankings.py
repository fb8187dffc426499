"""A function problem's ranking, over all cases or one."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.models import ProblemTrack
from leaderboard.models.entrants.entrant import EntrantKind
from problems.actions import releases as release_actions
from problems.models import Release
from tests import factories, function_site, packs
from tests.factories import Cast
from tests.function_site import LARGE, SMALL
from tests.spec.functions import manifest_fields
from tests.web.functions.mixed_site import FunctionSite, text_of
from tests.web.site.test_queries import _cost


def test_the_ranking_says_whose_clock_took_its_times(client: Any, site: FunctionSite) -> None:
    assert "Time ↓</a><br><small>by the checker&#x27;s clock</small></th>" in text_of(client, site.page)


def _order(text: str) -> list[str]:
    table = text[text.index('id="ranking"') :]
    names = {"Alpha": table.find(">Alpha<"), "Stranger": table.find(">Stranger&#x27;s model<")}
    return sorted((name for name, place in names.items() if place >= 0), key=names.__getitem__)


def test_the_ranking_shows_all_cases_or_one(client: Any, site: FunctionSite) -> None:
    every = text_of(client, site.page)
    assert _order(every) == ["Alpha", "Stranger"], "0.071 ms against 0.077 ms, as geometric means"
    assert ">70.71 µs<" in every
    small = text_of(client, site.page, case=SMALL)
    assert _order(small) == ["Stranger", "Alpha"]
    assert ">2.000 µs<" in small
    assert '<td class="num">5.00×<br><small>' in small
    # 75 operations in 2 µs
    assert '<td class="num">0.0375</td>' in small
    large = text_of(client, site.page, case=LARGE)
    assert _order(large) == ["Alpha", "Stranger"]
    assert ">3.000 ms<" in large


def test_the_ranking_is_narrowed_to_a_language(client: Any, cast: Cast, site: FunctionSite) -> None:
    in_python = function_site.report({SMALL: 0.003, LARGE: 1.0})
    function_site.judged(cast.strangers_entrant, site.release, site.track, in_python, path="solution.py")
    assert _order(text_of(client, site.page)) == ["Stranger", "Alpha"]
    assert _order(text_of(client, site.page, written_in="cpp")) == ["Alpha", "Stranger"]
    text = text_of(client, site.page, written_in="python")
    assert _order(text) == ["Stranger"]
    assert "<td>Python</td>" in text
    assert "written_in=python" in text, "the charts show what the table shows"
    drawn = client.get(reverse("sizes", args=[site.release.slug, site.problem.slug]), {"written_in": "python"}).json()
    assert [one["name"] for one in drawn["data"]] == ["Stranger's model", "Reference solution"]
    assert _order(text_of(client, site.page, written_in="")) == ["Stranger", "Alpha"]
    assert client.get(site.page, {"written_in": "cobol"}).status_code == 400


def test_a_language_in_which_nobody_solved_it_says_so(client: Any, site: FunctionSite) -> None:
    assert "Nobody has solved it in Python on this track yet" in text_of(client, site.page, written_in="python")


def _places(text: str) -> list[str]:
    """The places of the rows of the ranking, from the top."""
    ranking = text[text.index('aria-label="Ranked samples"') :].partition("</table>")[0]
    return re.findall(r'<tr><td class="num">(\d+)', ranking)


def test_samples_that_are_surely_apart_have_places_of_their_own_and_others_tie(
    client: Any, cast: Cast, site: FunctionSite
) -> None:
    text = text_of(client, site.page)
    assert _places(text) == ["1", "2"]
    assert "2.83×<br><small>2.78–2.87×</small>" in text
    almost = factories.EntrantFactory(name="Almost", slug="almost", owner=cast.stranger)
    function_site.judged(almost, site.release, site.track, function_site.report({SMALL: 0.00501, LARGE: 1.0}))
    assert _places(text_of(client, site.page)) == ["1", "1", "3"]
    assert _places(text_of(client, site.page, by="time")) == ["1", "1", "3"]


def test_samples_without_intervals_say_so_and_equal_ones_tie(client: Any, cast: Cast, site: FunctionSite) -> None:
    made = function_site.mixed_release("mixed-4")
    track = factories.offer(made)
    twin = factories.EntrantFactory(name="Twin", slug="twin", owner=cast.stranger)
    for entrant, large_ms in ((cast.entrant, 1.0), (twin, 1.0), (cast.strangers_entrant, 1.01)):
        usual = function_site.report({SMALL: 0.005, LARGE: large_ms})
        bare = [one.model_copy(update={"ci_low_ms": None, "ci_high_ms": None}) for one in usual.measurements]
        function_site.judged(entrant, made, track, usual.model_copy(update={"measurements": bare}))
    text = text_of(client, reverse("problem", args=[made.slug, "row-softmax"]))
    assert _places(text) == ["1", "1", "3"]
    assert text.count("<small>no interval</small>") == 6, "time and speedup of each"


def test_the_ranking_of_one_case_gives_intervals(client: Any, site: FunctionSite) -> None:
    assert "<small>1.980 to 2.040 µs</small>" in text_of(client, site.page, case=SMALL)


def test_the_board_counts_a_function_like_any_problem(client: Any, site: FunctionSite) -> None:
    standing = site.release.standings.get(entrant__slug="alpha")
    assert (standing.n_problems, standing.n_solved) == (2, 2)
    assert standing.pass_at_1 == pytest.approx(0.75)
    assert "Alpha" in text_of(client, reverse("board", args=[site.release.slug]))


@pytest.mark.both_databases
def test_more_entrants_and_cases_cost_no_more_queries(client: Any, site: FunctionSite, cast: Cast) -> None:
    pages = [site.page, f"{site.page}?case=3+x+5", f"{site.page}?written_in=cpp", site.evaluation(0).get_absolute_url()]
    before = [_cost(client, page) for page in pages]
    for n in range(5):
        entrant = factories.EntrantFactory(owner=cast.stranger)
        function_site.judged(entrant, site.release, site.track, function_site.report({SMALL: 0.01 + n, LARGE: 2.0}))
    assert [_cost(client, page) for page in pages] == before


def add_baseline(cast: Cast, site: FunctionSite, own_ms: dict[str, float]) -> None:
    kind = EntrantKind.BASELINE
    entrant = factories.EntrantFactory(name="Baseline: expert", slug="expert", kind=kind, owner=cast.organiser)
    function_site.judged(entrant, site.release, site.track, function_site.report(own_ms))


def test_baselines_are_no_other_models(client: Any, cast: Cast, site: FunctionSite) -> None:
    add_baseline(cast, site, {SMALL: 0.0001, LARGE: 0.01})
    assert "1 of 1 other model <small>" in text_of(client, site.evaluation(0).get_absolute_url())


def test_a_sample_stands_by_its_time_where_the_release_counts_times(
    client: Any, cast: Cast, site: FunctionSite
) -> None:
    """The stranger's model is slower by the clock, and has the larger speedup: its baseline was slower, too."""
    last = {SMALL: 0.02, LARGE: 3.0}
    other = function_site.report(last, {case: 100 * time_ms for case, time_ms in last.items()})
    function_site.judged(cast.strangers_entrant, site.release, site.track, other, other)
    page = site.evaluation(0).get_absolute_url()
    by_speedup = text_of(client, page)
    assert "<dt>Faster than, by speedup</dt><dd>0 of 1 other model" in by_speedup
    # as times, 0.07071 ms beside 0.07746 ms of an earlier submission
    Release.objects.filter(pk=site.release.pk).update(primary_metric="gflops", correction="By time.")
    assert "<dt>Faster than, by time</dt><dd>1 of 1 other model" in text_of(client, page)
    slower = function_site.judged(
        cast.entrant, site.release, site.track, function_site.report({SMALL: 0.01, LARGE: 2.0})
    )
    text = text_of(client, slower.evaluations.get(problem=site.problem, sample__index=0).get_absolute_url())
    assert "<dt>Faster than, by time</dt><dd>0 of 1 other model" in text
    assert "<dt>Best before</dt><dd>70.71 µs <small>now 50.0 % slower" in text


def test_a_baseline_has_no_place_in_the_ranking_and_takes_none(client: Any, cast: Cast, site: FunctionSite) -> None:
    add_baseline(cast, site, {SMALL: 0.003, LARGE: 2.0})
    for asked in ({}, {"by": "time"}, {"case": LARGE}):
        text = text_of(client, site.page, **asked)
        rows = re.findall(r'<tr><td class="num">(.*?)</td><th scope="row"><a href="[^"]*">(.*?)</a>', text)
        places = {name: re.sub("<[^>]+>", "", place) for place, name in rows}
        assert places.pop("Baseline: expert") == "–"
        assert list(places.values()) == ["1", "2"]


def test_hidden_results_of_others_give_no_place(client: Any, cast: Cast, site: FunctionSite) -> None:
    Release.objects.filter(pk=site.release.pk).update(hidden_until=timezone.now() + timedelta(days=1))
    client.force_login(cast.owner)
    assert "other model" not in text_of(client, site.evaluation(0).get_absolute_url())


def test_rates_are_over_the_cases_that_have_times(client: Any, cast: Cast) -> None:
    """The small case is too short to be timed, as its baseline is."""
    made = function_site.mixed_release("mixed-2")
    track = factories.offer(made)
    function_site.judged(cast.entrant, made, track, function_site.report({LARGE: 1.0}, {LARGE: 4.0}))
    text = text_of(client, reverse("problem", args=[made.slug, "row-softmax"]))
    assert '<td class="num">10.5</td>' in text, "1.05 × 10⁷ operations in 1 ms are 10.5 GFLOPS"


TOO_SHORT = "checked, too short for a time"


def last_cell(text: str, case: str) -> str:
    """The last cell of the case's row in the table of cases."""
    row = text[text.index(f'<th scope="row" class="one-line">{case}</th>') :].partition("</tr>")[0]
    return re.findall("<td>(.*?)</td>", row)[-1]


def test_a_case_whose_baseline_is_timed_on_the_track_ranks_even_if_its_manifest_does_not_say_so(
    client: Any, db: None
) -> None:
    shapes = {name: [4] for name in ("x", "y")}
    fields = [{"name": "x", "kind": "array", "dtype": "float32"}]
    fields.append({"name": "y", "kind": "array", "direction": "out", "dtype": "float32"})
    manifest = manifest_fields(parameters=fields, cases=[{"name": "4", "shapes": shapes, "ranks": None}])
    problem = function_site.function("copy", manifest=manifest, baseline_solution=None, metadata={"podium": {}})
    made = release_actions.import_release(packs.problem_pack([problem], "copy-1")).release
    Release.objects.filter(pk=made.pk).update(is_public=True)
    release_actions.publish(made)
    on_track = ProblemTrack.objects.filter(problem__release=made, track=factories.offer(made))
    address = reverse("problem", args=[made.slug, "copy"])
    assert last_cell(text_of(client, address), "4") == "known once its baseline is timed here"
    on_track.update(timed_cases=["4"])
    assert last_cell(text_of(client, address), "4") == "yes"


def test_a_case_without_a_time_of_the_baseline_is_said_to_be_too_short(
    client: Any, cast: Cast, site: FunctionSite
) -> None:
    made = function_site.mixed_release("mixed-3")
    track = factories.offer(made)
    page = reverse("problem", args=[made.slug, "row-softmax"])
    before = text_of(client, page)
    assert [last_cell(before, case) for case in (SMALL, LARGE)] == ["yes", "yes"], "nothing is measured yet"
    function_site.judged(cast.entrant, made, track, function_site.report({LARGE: 1.0}, {LARGE: 4.0}))
    text = text_of(client, page)
    assert [last_cell(text, case) for case in (SMALL, LARGE)] == [TOO_SHORT, "yes"]
    assert f"<option>{SMALL}</option>" not in text
    assert ">1.000 ms<" in text_of(client, page, case=SMALL), "it is no case to choose"
    timed = text_of(client, site.page)
    assert [last_cell(timed, case) for case in (SMALL, LARGE)] == ["yes", "yes"]
    assert f"<option>{SMALL}</option>" in timed


def test_an_entry_without_a_time_of_a_case_says_why(client: Any, cast: Cast, site: FunctionSite) -> None:
    """Where a case takes just as long as is timed, it has a time in some results and none in others."""
    entrant = factories.EntrantFactory(name="Gamma", owner=cast.stranger)
    function_site.judged(entrant, site.release, site.track, function_site.report({LARGE: 2.0}, {LARGE: 4.0}))
    text = text_of(client, site.page, case=SMALL)
    row = text[text.index(">Gamma</a>") :].split("</tr>")[0]
    assert f'title="{TOO_SHORT.capitalize()}">–</a>' in row
    assert f'<span title="{TOO_SHORT.capitalize()}">–</span>' in row
    assert TOO_SHORT.capitalize() not in text_of(client, site.page, case=LARGE)
