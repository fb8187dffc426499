"""The figures: what they draw, what plotly makes of them, and the table that says the same."""

import math
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.charts import BOARD_CHARTS, charts_for, leading_chart, scales
from leaderboard.charts.boards import (
    by_problem,
    fast_p,
    heat_map,
    history,
    k_curve,
    pass_at_k_bars,
    pass_vs_speedup,
    ranked,
    raw_vs_weighted,
    score_vs_cost,
    speedups,
)
from leaderboard.charts.chart import BoardRow, titled
from leaderboard.charts.colours import PALETTE, colour_of, contrast
from leaderboard.charts.labels import label_sides
from leaderboard.charts.results import runs, runtimes
from leaderboard.charts.scatter import FIRST_LABELS, named_points, pareto_front
from leaderboard.models import Submission
from leaderboard.models.boards.estimates import Triple
from problems.models import Release
from scoring.fast_p import THRESHOLDS
from scoring.metrics import GFLOPS, MEDIAN_TIME, PASS_AT_1, SPEEDUP, shown_metric
from tests import factories
from tests.estimates import estimates
from tests.markup import markup
from tests.web.conftest import Site

CURVE = [1.0 - n / len(THRESHOLDS) for n in range(len(THRESHOLDS))]


def _row(name: str, pass_1: float | None, speedup: float | None, entrant_id: int = 1) -> BoardRow:
    figures = {
        "pass@1": (pass_1, pass_1 and pass_1 - 0.1, pass_1 and pass_1 + 0.05), "pass@5": None,
        "speedup": (speedup, speedup and speedup - 0.2, speedup and speedup + 0.3),
        "fast_1": CURVE[3], "coding": (pass_1, 0.1, 0.95), "weighted": (pass_1 and pass_1 - 0.2, 0.05, 0.9),
    }  # fmt: skip
    return BoardRow(
        entrant_id=entrant_id, name=name, is_baseline=False,
        estimates=estimates(figures), fast_p=list(CURVE), usd_per_sample=speedup and speedup / 100,
    )  # fmt: skip


def _with(row: BoardRow, figures: dict[str, Triple | float | None], **changes: Any) -> BoardRow:
    """The row with other figures of these metrics."""
    return replace(row, estimates={**row.estimates, **{name: {} for name in figures}, **estimates(figures)}, **changes)


ROWS = [_row("A", 0.9, 1.1), _row("B", 0.5, 2.0, 2), _row("C", 0.4, 1.5, 3), _row("D", 0.7, None, 4)]


@pytest.mark.parametrize(
    "module", [ranked, pass_at_k_bars, k_curve, pass_vs_speedup, raw_vs_weighted, score_vs_cost, fast_p, heat_map]
)
@pytest.mark.parametrize("rows", [ROWS, []])
def test_plotly_accepts_every_figure(module: Any, rows: list[BoardRow]) -> None:
    figure = module.figure(rows)
    assert len(figure.data) == len(module.spec(rows)["data"])


def test_bars_leave_out_a_k_that_nobody_has_and_keep_uneven_intervals() -> None:
    trace, words = pass_at_k_bars.spec(ROWS)["data"]
    assert trace["name"] == words["legendgroup"] == "pass@1"
    assert trace["error_x"]["array"] == pytest.approx([0.05] * 4)
    assert trace["error_x"]["arrayminus"] == pytest.approx([0.1] * 4)


def test_bars_of_pass_at_k_say_what_ranks_and_few_have_their_figures_beside_them() -> None:
    words = pass_at_k_bars.spec(ROWS)["data"][1]
    assert (words["text"][:2], words["x"][:2]) == (["\u00a090.0 %", "\u00a050.0 %"], pytest.approx([0.95, 0.55]))
    many = ROWS * (pass_at_k_bars.MOST_WRITTEN // len(ROWS) + 1)
    more_ks = [_with(row, {f"pass@{k}": 0.9 for k in (2, 4, 8)}) for row in many]
    assert all(one["type"] == "bar" for one in pass_at_k_bars.spec(more_ks)["data"])
    assert pass_at_k_bars.caption(ROWS).endswith("pass@1 is the metric that ranks.")
    assert "does not rank here: Speedup" in pass_at_k_bars.caption([replace(row, metric=SPEEDUP) for row in ROWS])


def test_the_pareto_front_joins_those_nobody_beats_on_both_axes() -> None:
    assert pareto_front([(1.1, 0.9), (2.0, 0.5), (1.5, 0.4), (1.1, 0.2)]) == [(1.1, 0.9), (2.0, 0.5)]
    front = pass_vs_speedup.spec(ROWS)["data"][0]
    assert (front["x"], front["y"]) == ([1.1, 2.0], [0.9, 0.5])
    table = pass_vs_speedup.table(ROWS)
    assert [row[0] for row in table.rows] == ["A", "B", "C"], "D has no speedup and is left out"
    assert [row[3] for row in table.rows] == ["yes", "yes", "no"]


def test_raw_and_weighted_scores_are_compared_beside_a_line_of_equals() -> None:
    unweighted = _with(ROWS[0], {"weighted": None}, name="E")
    line, *points = raw_vs_weighted.spec([*ROWS, unweighted])["data"]
    assert (line["x"], line["y"]) == ([0, 1], [0, 1])
    assert [(one["name"], one["x"], one["y"]) for one in points[:2]] == [
        ("A", [0.9], [pytest.approx(0.7)]), ("B", [0.5], [pytest.approx(0.3)]),
    ]  # fmt: skip
    assert [one["marker"]["color"] for one in points] == [colour_of(row.entrant_id) for row in ROWS]
    table = raw_vs_weighted.table([*ROWS, unweighted])
    assert table.rows[0] == ["A", "90.0", "10.0–95.0", "70.0", "5.0–90.0", "−20.0"]
    assert len(table.rows) == len(points) == 4, "E has no weighted score and is left out"


COSTS = [
    _with(ROWS[0], {"pass@1": (0.9, 0.8, 0.95)}, usd_per_sample=1.0),
    _with(ROWS[1], {"pass@1": (0.5, 0.4, 0.6)}, usd_per_sample=0.01),
    _with(ROWS[2], {"pass@1": (0.4, 0.3, 0.5)}, usd_per_sample=0.1),
    _with(ROWS[3], {"pass@1": (0.7, 0.6, 0.8)}, usd_per_sample=0.0),
    _with(ROWS[3], {"pass@1": (0.7, 0.6, 0.8)}, name="E", usd_per_sample=None),
    _with(ROWS[3], {"pass@1": (None, None, None)}, name="F", usd_per_sample=0.1),
]


def test_the_line_of_costs_is_the_best_score_up_to_each() -> None:
    line, *points = score_vs_cost.spec(COSTS)["data"]
    assert [(one["name"], one["x"], one["y"]) for one in points] == [
        ("A", [1.0], [0.9]), ("B", [0.01], [0.5]), ("C", [0.1], [0.4]),
    ]  # fmt: skip
    assert (line["x"][:3], line["y"]) == ([0.01, 1.0, 1.0], [0.5, 0.5, 0.9, 0.9]), "in steps"
    table = score_vs_cost.table(COSTS)
    assert table.rows[0] == ["A", "90.0", "80.0–95.0", "1.00", "yes"]
    assert [(row[0], row[3], row[4]) for row in table.rows[1:]] == [
        ("B", "0.0100", "no"), ("C", "0.100", "no"), ("D", "0", "yes"),
    ], "D is free and better than B; E and F lack a figure"  # fmt: skip
    assert not score_vs_cost.has_points(COSTS[3:])


def test_of_equal_scores_the_dearer_entrant_is_not_on_the_front_and_equals_share_it() -> None:
    cheap = COSTS[1]
    rows = [cheap, replace(cheap, name="Dearer", usd_per_sample=0.02), replace(cheap, name="Equal")]
    assert [(row[0], row[4]) for row in score_vs_cost.table(rows).rows] == [
        ("B", "yes"), ("Dearer", "no"), ("Equal", "yes"),
    ]  # fmt: skip
    line = score_vs_cost.spec(rows)["data"][0]
    assert (line["x"][0], set(line["y"])) == (0.01, {0.5})
    assert pareto_front([(2.0, 0.5), (1.0, 0.5), (2.0, 0.4)]) == [(2.0, 0.5)], "equal on one axis, beaten on the other"


def test_the_score_of_costs_is_what_the_release_ranks_by() -> None:
    rows = [_with(row, {"speedup": (2.5, 2.0, 4.0)}, metric=SPEEDUP) for row in COSTS[:2]]
    layout = score_vs_cost.spec(rows)["layout"]
    assert layout["yaxis"]["title"]["text"] == "Speedup ≥ 1 (×)"
    assert layout["yaxis"]["range"] == pytest.approx([-0.16, 4.4])
    assert score_vs_cost.table(rows).header[1] == "Speedup ≥ 1 (×)"
    assert score_vs_cost.table(rows).rows[0][1:3] == ["2.50", "2.00–4.00"]


def test_where_less_is_better_the_front_falls_with_the_cost() -> None:
    times = ((1.0, 2.0), (0.01, 9.0), (0.1, 12.0))
    rows = [
        _with(row, {"median_ms": (time_ms, None, None)}, metric=MEDIAN_TIME, usd_per_sample=cost)
        for row, (cost, time_ms) in zip(ROWS, times, strict=False)
    ]
    assert [row[4] for row in score_vs_cost.table(rows).rows] == ["yes", "yes", "no"]
    line = score_vs_cost.spec(rows)["data"][0]
    assert (line["x"][:3], line["y"]) == ([0.01, 1.0, 1.0], [9.0, 9.0, 2.0, 2.0])
    assert score_vs_cost.caption(rows).startswith("Good and cheap is bottom left.")
    assert score_vs_cost.table(rows).header[1] == "Median time (ms)"


def test_a_reader_chooses_the_metric_that_stands_against_cost(client: Any, site: Site) -> None:
    Submission.objects.update(usd_per_sample=0.5)
    address = reverse("charts", args=[site.release.slug])
    html = client.get(address).content.decode()
    offered = re.findall(r'<option value="([^"]+)"', html.split('name="metric"')[1].split("</select>")[0])
    assert {"pass@1", "speedup", "median_ms"} <= set(offered)
    for name in offered:
        page = client.get(address, {"metric": name}).content.decode()
        assert f'<option value="{name}" selected>' in page
        spec = client.get(reverse("chart", args=[site.release.slug, "score-vs-cost"]), {"metric": name}).json()
        assert spec["layout"]["yaxis"]["title"]["text"] == titled(shown_metric(name))
    assert client.get(address, {"metric": "unheard"}).status_code == 400


@pytest.mark.parametrize(
    ("costs", "ticks"),
    [
        ([1.0], ["0.5", "1", "2"]),
        ([0.01, 0.1], ["0.01", "0.02", "0.05", "0.1"]),
        ([0.001, 0.05], ["0.001", "0.003", "0.01", "0.03"]),
        ([0.0003, 0.9], ["0.001", "0.01", "0.1", "1"]),
        ([5e-12, 1e7], ["10⁻¹²", "10⁻⁷", "0.01", "1,000", "10⁸"]),
    ],
)
def test_an_axis_of_costs_has_round_ticks(costs: list[float], ticks: list[str]) -> None:
    rows = [replace(COSTS[0], usd_per_sample=cost) for cost in costs]
    axis = score_vs_cost.spec(rows)["layout"]["xaxis"]
    assert axis["ticktext"] == ticks
    assert all(axis["range"][0] < math.log10(cost) < axis["range"][1] for cost in costs)


def test_without_weights_no_page_has_the_chart_of_weighted_scores(client: Any, site: Site) -> None:
    chart = reverse("chart", args=[site.release.slug, "raw-vs-weighted"])
    assert client.get(chart).json()["data"] == []
    page = markup(client.get(reverse("charts", args=[site.release.slug])))
    assert "raw-vs-weighted" not in page
    assert "pass-vs-speedup" in page


def test_the_fast_p_curve_stands_on_the_thresholds() -> None:
    trace = fast_p.spec(ROWS)["data"][0]
    assert trace["x"] == list(THRESHOLDS)
    assert trace["y"] == CURVE


def test_a_name_cannot_be_plotlys_markup() -> None:
    text = str(pass_vs_speedup.spec([_row("<a href='x'>A</a>", 0.5, 1.0)]))
    assert "<a" not in text


def test_colours_depend_on_the_entrant_alone_and_neighbours_differ() -> None:
    assert len({colour_of(n) for n in range(100, 100 + len(PALETTE))}) == len(PALETTE)
    assert colour_of(7) == colour_of(7)


def test_every_run_is_a_point() -> None:
    spec = runs.spec([runs.Runs("candidate", "big", [1.0, 1.2, 1.1], 1.1, 1.0, 1.2)])
    assert spec["data"][0]["y"] == [1.0, 1.2, 1.1]
    assert spec["data"][1]["y"] == [1.1]
    assert runs.figure([runs.Runs("baseline", "", [2.0], 2.0, None, None)]).data


NEEDS_MORE = {"raw-vs-weighted", "score-vs-cost", "differences", "ranked", "pass-groups"}
"""Charts of weights, costs, a second entrant and another metric than pass@k, which the site lacks."""


@pytest.mark.parametrize("name", sorted(BOARD_CHARTS.keys() - NEEDS_MORE))
def test_the_site_answers_with_each_figure(name: str, client: Any, site: Site) -> None:
    answer = client.get(reverse("chart", args=[site.release.slug, name]))
    assert answer.json()["data"]
    assert client.get(reverse("chart", args=[site.release.slug, "nonsense"])).status_code == 404


def test_an_evaluations_runs_are_drawn_beside_the_baselines(client: Any, site: Site) -> None:
    data = client.get(reverse("evaluation_runs", args=[site.evaluation.pk])).json()["data"]
    assert [trace["name"] for trace in data] == [
        "candidate, runs",
        "candidate, median",
        "baseline, runs",
        "baseline, median",
    ]


def test_names_go_where_neither_another_name_nor_another_point_lies() -> None:
    names = ["First", "Second", "Third"]
    assert label_sides(names, [(0.5, 0.5), (0.2, 0.2), (0.8, 0.8)]) == ["top left"] * 3
    at_left = label_sides(["A long name", "B"], [(0.01, 0.5), (0.9, 0.9)])
    assert at_left[0] == "top right", "to the left it would leave the frame"
    at_foot = label_sides(["Low", "Next"], [(0.5, 0.0), (0.5 + 10 / 1100, 0.0)])
    assert at_foot[1] == "top right", "below it would leave the frame"
    under_line = label_sides(["Low"], [(0.5, 0.5)], [(0.4, 0.54), (0.6, 0.54)])
    assert under_line == ["bottom left"], "above it a line would cross the name"
    above = label_sides(["Low", "High"], [(0.5, 0.5), (0.5 - 20 / 1100, 0.5 + 12 / 320)])
    assert above == ["bottom left", "top left"], "the other point lies where the first name would"


def test_curves_of_k_take_entrants_with_several_samples() -> None:
    many = _with(ROWS[0], {"pass@1": (0.2, 0.1, 0.3), "pass@10": (0.9, 0.8, 1.0), "pass@2": (0.4, 0.3, 0.5)})
    (trace,) = k_curve.spec([many, ROWS[1]])["data"]
    assert (trace["x"], trace["y"]) == ([1, 2, 10], [0.2, 0.4, 0.9])
    assert [row[0] for row in k_curve.table([many, ROWS[1]]).rows] == ["A"]
    assert not k_curve.has_curves(ROWS), "pass@5 is missing"


def test_a_heat_map_leaves_a_cell_without_problems_empty() -> None:
    rows = [replace(ROWS[0], groups={"ch10": 0.5, "ch2": None}), replace(ROWS[1], groups={"ch2": 0.0, "ch10": 1.0})]
    dark, light = heat_map.spec(rows)["data"]
    assert dark["z"] == [[None, 0.5], [0.0, None]], "ch2 comes before ch10"
    assert light["z"] == [[None, None], [None, 1.0]], "a deep cell has white text"
    assert [dark["text"], light["text"]] == [[["", "50"], ["0", ""]], [["", ""], ["", "100"]]]
    assert heat_map.table(rows).rows == [["A", "–", "50.0"], ["B", "0.0", "100.0"]]
    assert not heat_map.has_cells([replace(ROWS[0], groups={"only": 0.5})])


@pytest.mark.parametrize("place", [n / 50 for n in range(51)])
def test_the_text_of_a_cell_contrasts_with_it(place: float) -> None:
    row = replace(ROWS[0], groups={"a": place, "b": None})
    (ink,) = [one["textfont"]["color"] for one in heat_map.spec([row])["data"] if one["z"] != [[None, None]]]
    luminance = {"#000000": (0.0, 0.0, 0.0), "#ffffff": (1.0, 1.0, 1.0)}[ink]
    assert contrast(heat_map.colour_at(place), luminance) >= 4.5


def test_a_heat_map_of_ratios_says_what_its_sign_means() -> None:
    assert "× stands for times as fast" in heat_map.caption([replace(ROWS[0], metric=SPEEDUP)])
    assert "×" not in heat_map.caption(ROWS)


def _speedups(name: str, *values: float) -> speedups.EntrantSpeedups:
    return speedups.EntrantSpeedups(1, name, {f"p/{n}": value for n, value in enumerate(values)})


def test_each_problem_has_a_dot_for_each_entrant_that_has_a_time() -> None:
    rows = [_speedups("A", 2.0, 4.0), replace(_speedups("B", 0.5), entrant_id=2)]
    first, second = by_problem.spec(rows)["data"]
    assert (first["x"], first["y"], second["x"], second["y"]) == ([2.0, 4.0], [0, 1], [0.5], [0])
    assert by_problem.table(rows).rows == [["p/0", "2.00×", "0.50×"], ["p/1", "4.00×", "–"]]
    assert by_problem.figure(rows).data
    assert by_problem.spec([])["data"] == []
    assert not by_problem.has_dots([])


def test_of_many_problems_those_are_drawn_on_which_entrants_differ_most() -> None:
    n = by_problem.MAX_PROBLEMS + 1
    rows = [_speedups("A", *[2.0] * n), _speedups("B", 2.0, *[1.0] * (n - 1))]
    (first, _), names = by_problem.spec(rows)["data"], by_problem.spec(rows)["layout"]["yaxis"]["ticktext"]
    assert len(first["x"]) == len(names) == by_problem.MAX_PROBLEMS
    assert "p/0" not in names, "both are alike on it"
    assert f"Of {n} problems" in by_problem.caption(rows)


def test_a_box_holds_the_middle_half_on_a_logarithmic_scale() -> None:
    box = speedups.box_of(1, "A", [0.5, 1.0, 2.0, 4.0, 8.0])
    assert box.marks == pytest.approx((0.5, 1.0, 2.0, 4.0, 8.0))
    rows = [_speedups("A", 0.5, 1.0, 2.0, 4.0, 8.0), _speedups("B", 3000.0)]
    assert speedups.table(rows[:1]).rows == [["A", "0.50×", "1.00×", "2.00×", "4.00×", "8.00×", "5"]]
    assert speedups.figure(rows).data
    assert speedups.spec(rows)["layout"]["xaxis"]["ticktext"] == ["1", "10", "100", "1,000"]
    assert speedups.spec([])["data"] == []


def test_the_best_score_over_time_names_those_who_raised_it() -> None:
    days = [datetime(2026, 9, day, tzinfo=UTC) for day in (1, 2, 3)]
    rows = [history.DatedResult(n, name, day, score, PASS_AT_1)
            for n, (name, day, score) in enumerate(zip("ABC", days, (0.4, 0.3, 0.6), strict=True))]  # fmt: skip
    line, best, others = history.spec(rows)["data"]
    assert line["y"] == [0.4, 0.6, 0.6]
    assert (others["text"], best["text"]) == (["B"], ["A", "C"])
    assert history.table(rows).rows == [["2026-09-03", "C", "60.0"], ["2026-09-01", "A", "40.0"]]


def test_the_front_is_spoken_of_only_where_a_line_is_drawn() -> None:
    alone = [_row("A", 0.9, 2.0), _row("B", 0.5, 1.1, 2)]
    assert "Pareto" not in pass_vs_speedup.caption(alone) + str(pass_vs_speedup.table(alone).header)
    assert [one["name"] for one in pass_vs_speedup.spec(alone)["data"]] == ["A", "B"]
    assert "Pareto" in pass_vs_speedup.caption(ROWS)


def test_a_speedup_of_thousands_makes_the_axis_logarithmic_and_a_point_at_0_is_whole() -> None:
    layout = pass_vs_speedup.spec([_row("A", 0.0, 1.0), _row("B", 0.5, 5000.0, 2)])["layout"]
    assert layout["xaxis"]["type"] == "log"
    assert layout["xaxis"]["range"][0] < math.log10(0.8)
    assert layout["yaxis"]["range"][0] < 0
    assert "type" not in pass_vs_speedup.spec(ROWS)["layout"]["xaxis"]


def test_a_small_speedup_is_not_zero_on_hover() -> None:
    row = _with(_row("A", 0.5, 0.0031), {"speedup": 0.0031})
    (point,) = pass_vs_speedup.spec([row])["data"]
    assert "speedup 0.0031×" in point["hovertemplate"]


@pytest.mark.parametrize(("n_samples", "ticks"), [(1, {"dtick": 1}), (10, {"dtick": 1}), (11, {})])
def test_numbers_of_samples_are_whole_on_their_axis(n_samples: int, ticks: dict[str, int]) -> None:
    shown = runtimes.Runtimes((*[1.0] * n_samples, 2.0, 3.0), n_entrants=1, reference_ms=None)
    y = runtimes.spec(shown)["layout"]["yaxis"]
    assert y["tickformat"] == "d"
    assert {name: y[name] for name in y if name == "dtick"} == ticks


@pytest.mark.django_db
def test_charts_of_a_thousand_say_what_they_leave_out(client: Any) -> None:
    made = factories.release()
    track = factories.offer(made)
    factories.standings(made, track, 1000)
    page = markup(client.get(reverse("charts", args=[made.slug])))
    assert "Of 1000 entrants" in page
    assert "the first 20 by rank" in page
    bars = client.get(reverse("chart", args=[made.slug, "pass-at-k"])).json()["data"]
    assert len(bars[0]["x"]) == 20
    points = client.get(reverse("chart", args=[made.slug, "pass-vs-speedup"])).json()["data"]
    assert len([one for one in points if one["name"] != "Pareto front"]) == 100


def test_an_entrants_history_hides_what_its_viewer_may_not_see(client: Any, site: Site) -> None:
    entrant = site.cast.entrant
    again = factories.submission(entrant, site.release, site.track, script="exit 0 # third", counted=False)
    factories.judge(again)
    path = reverse("entrant_chart", args=[entrant.slug, "history"])
    (line,) = client.get(path).json()["data"]
    assert line["y"][0] == pytest.approx(site.release.standings.get(entrant=entrant).pass_at_1)
    assert line["marker"]["symbol"] == ["circle", "circle-open"], "the running one is not there yet"
    assert line["text"][1] == f"#{again.pk}"
    groups = reverse("entrant_chart", args=[entrant.slug, "groups"],
                     query={"release": site.release.slug, "track": site.track.slug})  # fmt: skip
    assert client.get(groups).json()["data"]
    Release.objects.filter(pk=site.release.pk).update(hidden_until=timezone.now() + timedelta(days=1))
    assert client.get(path).json()["data"] == []
    assert client.get(groups).status_code == 404
    client.force_login(site.cast.owner)
    assert client.get(path).json()["data"]
    assert client.get(groups).status_code == 200


BY_SPEEDUP = [replace(row, metric=SPEEDUP) for row in ROWS]


def test_bars_of_the_metric_that_ranks_have_its_interval_and_its_figure_in_words() -> None:
    bars, words = ranked.spec(BY_SPEEDUP)["data"]
    assert bars["x"] == [1.1, 2.0, 1.5], "an entrant without the figure has no bar"
    assert bars["error_x"]["array"] == pytest.approx([0.3] * 3)
    assert words["x"] == pytest.approx([1.4, 2.3, 1.8]), "the words begin where the interval ends"
    assert [one.strip() for one in words["text"]] == ["1.10×", "2.00×", "1.50×"]
    assert ranked.table(BY_SPEEDUP).rows[0][0] == "A"
    assert "Speedup" in ranked.title(BY_SPEEDUP)
    assert "baseline" in ranked.caption(BY_SPEEDUP)
    assert ranked.spec([])["data"] == []


def test_rates_far_apart_are_points_on_a_logarithmic_axis() -> None:
    rows = [_with(row, {"gflops": value}, metric=GFLOPS) for row, value in zip(ROWS, (3.0, 4000.0), strict=False)]
    marks, _ = ranked.spec(rows)["data"]
    axis = ranked.spec(rows)["layout"]["xaxis"]
    assert (marks["type"], axis["type"], axis["ticktext"]) == ("scatter", "log", ["10", "100", "1,000", "10,000"])


def test_charts_that_would_say_nothing_are_left_out() -> None:
    alike = [_with(row, {"pass@1": 1.0}, metric=SPEEDUP) for row in ROWS]
    assert not pass_at_k_bars.has_bars(alike)
    assert not pass_vs_speedup.has_points(alike)
    assert pass_at_k_bars.has_bars([replace(row, metric=PASS_AT_1) for row in alike]), "it ranks"
    assert pass_at_k_bars.has_bars(BY_SPEEDUP)
    assert not heat_map.has_cells([replace(row, groups={"a": 1.0, "b": 1.0}) for row in alike])
    first = [one.name for one in charts_for(SPEEDUP)][:6]
    assert first == ["ranked", "speedups", "fast-p", "differences", "history", "by-problem"]
    assert {one.name for one in charts_for(PASS_AT_1)} == set(BOARD_CHARTS)


def test_a_page_with_one_chart_shows_the_metric_that_ranks() -> None:
    assert leading_chart(BY_SPEEDUP).name == "pass-vs-speedup"
    assert leading_chart([_with(row, {"pass@1": 1.0}) for row in BY_SPEEDUP]).name == "ranked"
    assert leading_chart([_with(row, {"speedup": None}) for row in ROWS]).name == "pass-at-k"
    assert leading_chart([]).name == "pass-at-k"


def test_no_name_crosses_an_error_bar() -> None:
    bar = ((0.2, 0.56), (0.8, 0.56))
    assert label_sides(["Name"], [(0.5, 0.5)]) == ["top left"]
    assert label_sides(["Name"], [(0.5, 0.5)], bars=[bar]) == ["bottom left"]


def test_of_many_points_the_first_and_the_front_are_named() -> None:
    points = [(float(n), -float(n)) for n in range(40)]
    named = named_points(points, [points[30]])
    assert [n for n, one in enumerate(named) if one] == [*range(FIRST_LABELS), 30]
    assert all(named_points(points[:5], []))


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (-2.0, 2.0, [0.01, 0.1, 1.0, 10.0, 100.0]),
        (-0.4, 0.8, [0.5, 1.0, 2.0, 5.0]),
        (-0.2, 0.02, [0.7, 0.8, 1.0]),
        (-1.0, 0.7, [0.1, 0.2, 0.5, 1.0, 2.0, 5.0]),
    ],
)
def test_a_logarithmic_axis_has_its_decades_or_what_lies_between(low: float, high: float, ticks: list[float]) -> None:
    assert scales.log_ticks(low, high) == pytest.approx(ticks)


@pytest.mark.parametrize("low", [-5.0, -1.3, -0.26, -0.01])
@pytest.mark.parametrize("span", [0.02, 0.1, 0.4, 0.9, 1.7, 3.2, 9.0])
def test_ticks_of_a_logarithmic_axis_stand_side_by_side_on_a_phone(low: float, span: float) -> None:
    ticks, letter_px, axis_px = scales.log_ticks(low, low + span), 7.0, 220.0
    half = [len(scales.plain_number(tick)) * letter_px / 2 for tick in ticks]
    places = [(math.log10(tick) - low) / span * axis_px for tick in ticks]
    assert all(a + x < b - y for a, b, x, y in zip(places, places[1:], half, half[1:], strict=False))
    assert len(ticks) > 1


def test_ticks_of_differences_are_round_and_zero_has_no_sign() -> None:
    assert [words for _, words in scales.signed_ticks(-0.11, 0.21)] == ["−10", "0", "+10", "+20"]
    assert [scales.plain_number(one) for one in (0.001, 1e4, 1e7, 2e-5)] == ["0.001", "10,000", "10⁷", "2 × 10⁻⁵"]
