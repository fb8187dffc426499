"""An evaluation of a function: each case's time or difference, and what is said of them."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.models import Evaluation, ProblemTrack
from leaderboard.results.timings import RANKED_CALLS
from runners.agent.judges.function.plans import RANKED
from runners.wire.protocol import Provenance, Role, StepReport
from tests import factories, function_site
from tests.factories import Cast
from tests.function_site import LARGE, SMALL
from tests.web.functions.mixed_site import FunctionSite, text_of
from tests.web.gpu_function_site import (
    GpuFunctionSite,
)


def test_a_result_shows_each_case_with_its_time_and_rates(client: Any, site: FunctionSite) -> None:
    text = text_of(client, site.evaluation(0).get_absolute_url())
    row = text[text.index(f'<th scope="row" class="one-line">{LARGE}</th>') :].split("</tr>")[0]
    assert "passed" in row
    # 512 x 4096 elements, 5 operations and 8 bytes each, in 1 ms against 4 ms
    assert '<td class="num">1.000 ms</td><td class="num">4.00 ms</td><td class="num">4.00×</td>' in row
    assert '<td class="num">10.5</td><td class="num">16.8</td>' in row
    assert row.endswith('<td class="num">32</td>')


def test_a_result_shows_its_speedup_with_an_interval_and_whose_clock_took_the_times(
    client: Any, site: FunctionSite
) -> None:
    one = site.evaluation(0)
    text = text_of(client, one.get_absolute_url())
    # each of the four times reaches from 0.99 to 1.02 of its median: √(2 ln² 0.99 + 2 ln² 1.02) ÷ 2 = 0.0157
    assert '<span title="95 % interval 2.78–2.87×">2.83×</span> <small>2.78–2.87</small>' in text
    assert text.count("<br><small>by the checker&#x27;s clock</small></th>") == 2
    assert "<td>The checker&#x27;s clock</td>" in text
    assert "0.990 to 1.020 ms" in text
    told = client.get(f"/api/v1/evaluations/{one.pk}").json()["result"]
    assert (told["speedup_low"], told["speedup_high"]) == (
        pytest.approx(2.784, abs=1e-3),
        pytest.approx(2.873, abs=1e-3),
    )
    assert told["speedup_shown"] == "2.83×"
    assert {row["case"]: row["shown"] for row in told["measurements"]} == {SMALL: "5.00 µs", LARGE: "1.000 ms"}


def test_a_result_says_what_a_case_without_a_time_means(client: Any, cast: Cast, site: FunctionSite) -> None:
    words = "A case without a time was checked like the others. Its baseline takes less than 200 µs, the least that is"
    shortest = "A call of less than 20 µs counts as 20 µs, for the baseline as for the solution"
    usual = text_of(client, site.evaluation(0).get_absolute_url())
    assert words not in usual
    assert shortest in usual, "a solution of 5 µs"
    both = [function_site.right_case(name) for name in (SMALL, LARGE)]
    entrant = factories.EntrantFactory(name="Gamma", owner=cast.stranger)
    report = function_site.report({LARGE: 2.0}, {LARGE: 4.0}, cases=both)
    made = function_site.judged(entrant, site.release, site.track, report)
    told = text_of(client, made.evaluations.get(problem=site.problem).get_absolute_url())
    assert words in told
    assert shortest not in told


def test_a_release_says_how_many_cases_are_too_short_for_a_time(client: Any, site: FunctionSite) -> None:
    page = reverse("release_about", args=[site.release.slug])
    ProblemTrack.objects.filter(problem=site.problem).update(timed_cases=[SMALL, LARGE])
    assert "checked and not timed" not in text_of(client, page)
    ProblemTrack.objects.filter(problem=site.problem).update(timed_cases=[LARGE])
    words = (
        "On cpu-test 1 case of 1 problem is checked and not timed for any entrant: the baseline takes less than 200 µs"
    )
    assert words in text_of(client, page)
    assert "call of less than 20 µs counts as 20 µs" in text_of(client, reverse("about"))


@pytest.mark.parametrize(
    ("make", "words"), [(function_site.report, "ended by the judge"), (function_site.wrong_report, "signal 9")]
)
def test_a_passing_functions_process_was_ended_by_the_judge(
    client: Any, cast: Cast, site: FunctionSite, make: Any, words: str
) -> None:
    run = StepReport(name="run", signal=9, wall_ms=1800.0)
    judged = function_site.judged(cast.entrant, site.release, site.track, make(steps=[run]))
    text = text_of(client, judged.evaluations.get(problem=site.problem).get_absolute_url())
    said = text.partition("<h3>Run</h3>")[2].partition("</p>")[0]
    assert said == f"<p>{words}, 1,800 ms wall."


def times_of(client: Any, evaluation: Evaluation) -> str:
    """The part of the page with the measurements, in one line."""
    text = text_of(client, evaluation.get_absolute_url())
    return " ".join(text.partition('id="times"')[2].partition("The machine meanwhile")[0].split())


BY_EVENTS = "A time follows the device events within the 95 % interval of the checker's clock."


BY_CLOCK = "A time is the median over the medians of the processes."


def test_a_time_of_a_function_says_what_it_is(client: Any, site: FunctionSite, gpu: GpuFunctionSite) -> None:
    by_clock, by_events = times_of(client, site.evaluation(0)), times_of(client, gpu.judged)
    assert [BY_CLOCK in by_clock, BY_EVENTS in by_clock] == [True, False]
    assert [BY_CLOCK in by_events, BY_EVENTS in by_events] == [False, True]
    for text in (by_clock, by_events):
        assert '<th scope="col" class="num">Time</th>' in text
        assert "Median" not in text


def judged_once(cast: Cast, site: FunctionSite, policy: str, **changes: Any) -> Evaluation:
    """An evaluation of one case whose measurement has these changes."""
    (told,) = function_site.measurements(Role.CANDIDATE, {LARGE: 1.0})
    provenance = Provenance(node="node-a", timing_policy=policy)
    report = function_site.report({LARGE: 1.0}, measurements=[told.model_copy(update=changes)], provenance=provenance)
    stored = function_site.judged(cast.entrant, site.release, site.track, report)
    return stored.evaluations.get(problem=site.problem)


@pytest.mark.parametrize("clock_by", ["device", "host"])
def test_a_time_by_the_device_says_what_is_not_in_it(
    client: Any, cast: Cast, site: FunctionSite, clock_by: str
) -> None:
    text = times_of(client, judged_once(cast, site, "ranked", device={"clock_by": clock_by}))
    assert BY_CLOCK in text
    assert ("It is taken on the device" in text) is (clock_by == "device")


def test_events_without_an_interval_are_not_said_to_be_followed(client: Any, cast: Cast, site: FunctionSite) -> None:
    changes = {"device": {"clock_ms": 1.0}, "ci_low_ms": None, "ci_high_ms": None}
    text = times_of(client, judged_once(cast, site, "quick", **changes))
    assert "no interval" in text
    assert BY_CLOCK in text


def test_what_makes_a_time_doubtful_stands_beside_it(client: Any, gpu: GpuFunctionSite) -> None:
    """Its processes made 5 calls each under `ranked`, and two of three are noisy."""
    text = times_of(client, gpu.judged)
    assert "<br><small>stopped by its limit</small><br><small>2 of 3 processes noisy</small></td>" in text
    assert "before it had made the timed calls" in text


@pytest.mark.parametrize(
    ("policy", "n_calls", "is_told"),
    [
        ("ranked", (RANKED_CALLS, RANKED_CALLS), False),
        ("ranked", (RANKED_CALLS, RANKED_CALLS - 1), True),
        ("ranked", (), False),
        ("quick", (5,), False),
    ],
)
def test_a_process_with_fewer_calls_than_the_policy_asks_for_was_stopped(
    client: Any, cast: Cast, site: FunctionSite, policy: str, n_calls: tuple[int, ...], is_told: bool
) -> None:
    assert RANKED["least_calls"] == RANKED_CALLS, "the judge's own number"
    text = times_of(client, judged_once(cast, site, policy, calls_ms=[[1.0] * n for n in n_calls]))
    assert ("stopped by its limit" in text) is is_told
    assert "noisy" not in text


SECRETS = ("largest 0.25, mean 0.0125", "2 of 15", "y[2, 4]: expected 0.5, got nan", "outside the tolerance")


@pytest.mark.parametrize(
    ("who", "is_told"), [(None, False), ("stranger", False), ("owner", True), ("teammate", True), ("organiser", True)]
)
def test_only_the_team_reads_how_an_answer_differs(
    client: Any, cast: Cast, site: FunctionSite, who: str | None, is_told: bool
) -> None:
    if who:
        client.force_login(getattr(cast, who))
    text = text_of(client, site.evaluation(1).get_absolute_url())
    assert [words in text for words in SECRETS] == [is_told] * len(SECRETS)
    assert "wrong answer" in text
    assert ("Prepare ms" in text) == (who == "organiser")


def test_a_wrong_answer_names_the_shapes_of_its_case(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    text = text_of(client, site.evaluation(1).get_absolute_url())
    assert "<dt>Shapes</dt><dd>x 512×4096, y 512×4096</dd>" in text


def test_an_evaluations_chart_marks_the_medians_of_processes(client: Any, site: FunctionSite) -> None:
    drawn = client.get(reverse("evaluation_runs", args=[site.evaluation(0).pk])).json()["data"]
    medians = [one for one in drawn if one["name"] == f"{SMALL}: candidate, processes"]
    assert medians[0]["y"] == pytest.approx([0.00495, 0.005, 0.0051])
    calls = [one for one in drawn if one["name"] == f"{SMALL}: candidate, runs"]
    assert len(calls[0]["y"]) == 15


def test_an_evaluation_says_where_its_speedup_stands(client: Any, cast: Cast, site: FunctionSite) -> None:
    alone = text_of(client, site.evaluation(0).get_absolute_url())
    assert "1 of 1 other model <small>(100.0 %)</small>" in alone
    assert "Best before" not in alone
    slower = function_site.judged(
        cast.entrant, site.release, site.track, function_site.report({SMALL: 0.008, LARGE: 4.0})
    )
    text = text_of(client, slower.evaluations.get(problem=site.problem, sample__index=0).get_absolute_url())
    assert "0 of 1 other model" in text
    assert "2.83× <small>now" in text
    assert "% slower</small>" in text


@pytest.mark.parametrize(("share", "words"), [(0.8, "now 25.0 % faster"), (0.1, "now 10.00× as fast")])
def test_an_evaluation_says_how_much_faster_it_is_than_before(
    client: Any, cast: Cast, site: FunctionSite, share: float, words: str
) -> None:
    own = function_site.report({SMALL: 0.005 * share, LARGE: 1.0 * share})
    faster = function_site.judged(cast.entrant, site.release, site.track, own)
    page = faster.evaluations.get(problem=site.problem, sample__index=0).get_absolute_url()
    assert f"2.83× <small>{words}</small>" in text_of(client, page)
