"""Pages of function problems: signature and cases, a form for each language, and each case's time or difference."""

import copy
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.models import Evaluation, ProblemTrack, Submission, Track
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.results.timings import RANKED_CALLS
from problems.actions import releases as release_actions
from problems.models import Problem, Release
from problems.spec.kinds import Kind
from problems.spec.shortest import LEAST_MS
from runners.agent.judges.function.plans import RANKED
from runners.fleet.models import Service
from runners.wire.protocol import Provenance, Role, StepReport
from tests import factories, function_site, packs
from tests.factories import Cast
from tests.function_site import LARGE, SMALL
from tests.made_once import of_module
from tests.markup import markup
from tests.spec.functions import manifest_fields, softmax_case
from tests.web.gpu_function_site import (
    PYTHON,
    SHORT,
    TIMES_MS,
    GpuFunctionSite,
    make_gpu_function_site,
    ranked_report,
)
from tests.web.site.test_queries import _cost


@dataclass(frozen=True)
class FunctionSite:
    """A release of mixed kinds; alpha has a right and a wrong sample, the stranger's model a right one."""

    release: Release
    track: Track
    own: Submission
    problem: Problem

    @property
    def page(self) -> str:
        return reverse("problem", args=[self.release.slug, self.problem.slug])

    def evaluation(self, index: int = 0) -> Evaluation:
        return self.own.evaluations.get(problem=self.problem, sample__index=index)


def make_function_site(cast: Cast) -> FunctionSite:
    factories.worker_at_work()
    made = function_site.mixed_release()
    track = factories.offer(made)
    own = function_site.judged(cast.entrant, made, track, function_site.report(), function_site.wrong_report())
    other = function_site.report({SMALL: 0.002, LARGE: 3.0})
    function_site.judged(cast.strangers_entrant, made, track, other)
    return FunctionSite(made, track, own, made.problems.get(kind=Kind.FUNCTION))


def _make() -> tuple[Cast, FunctionSite]:
    cast = Cast.make()
    return cast, make_function_site(cast)


made_site = of_module(_make)


@pytest.fixture
def cast(made_site: Any, db: None, settings: Any) -> Cast:
    settings.BLOB_URL = made_site[1]
    return copy.deepcopy(made_site[0][0])


@pytest.fixture
def site(made_site: Any, cast: Cast) -> FunctionSite:
    return copy.deepcopy(made_site[0][1])


def text_of(client: Any, path: str, **asked: str) -> str:
    answer = client.get(path, asked)
    assert answer.status_code == 200
    return markup(answer)


def test_the_page_shows_signature_parameters_accuracy_cases_and_limits(client: Any, site: FunctionSite) -> None:
    text = text_of(client, site.page)
    code = re.sub("<[^>]+>", "", text)
    assert 'extern "C" void solution(const float* x, float* y, size_t rows, size_t cols)' in code
    assert "def solution(x, y, rows, cols)" in code
    assert "written by the solution" in text
    assert "1e-06 + 1e-05 × |expected|. Reason: one rounding per operation." in text
    assert f'<th scope="row" class="one-line">{LARGE}</th><td class="num">512 × 4096</td>' in text
    assert "1.05 × 10⁷" in text, "5 operations for each of 512 × 4096 elements"
    assert "60 s for all calls of one process together, 2.0 GiB of memory, on a CPU" in text
    assert "weights" not in text


def test_the_page_says_of_weights_and_structure_that_they_stay_the_same_in_a_process(client: Any, db: None) -> None:
    roles = {"x": "data", "w": "weight", "index": "structure"}
    given = [{"name": name, "kind": "array", "dtype": "float32", "role": role} for name, role in roles.items()]
    written = {"name": "y", "kind": "array", "direction": "out", "dtype": "float32"}
    case = {"name": "4", "shapes": {name: [4] for name in (*roles, "y")}, "ranks": True}
    manifest = manifest_fields(parameters=[*given, written], cases=[case])
    podium = {"title": "Lookup"}
    fields = function_site.function("lookup", manifest=manifest, baseline_solution=None, metadata={"podium": podium})
    release = release_actions.import_release(packs.problem_pack([fields], "lookup-1")).release
    Release.objects.filter(pk=release.pk).update(is_public=True)
    release_actions.publish(release)
    address = reverse("problem", args=[release.slug, "lookup"])
    text = text_of(client, address)
    code = re.sub("<[^>]+>", "", text)
    assert 'extern "C" void setup(const float* w, const float* index)' in code
    assert "def setup(w, index)" in code
    assert ">drawn anew for each call</td>" in text
    assert ">weights: drawn once in each process, the same for all its calls of a case</td>" in text
    assert ">structure: the same for all calls of a case in a process, and perhaps in every process</td>" in text
    assert "drawn anew for each call, but weights and structure once in each process." in text


@pytest.mark.parametrize(
    ("who", "sees"), [(None, set()), ("owner", set()), ("organiser", {"definition words", "reference words"})]
)
def test_only_organisers_read_the_definition_and_the_reference(
    client: Any, cast: Cast, site: FunctionSite, who: str | None, sees: set[str]
) -> None:
    if who:
        client.force_login(getattr(cast, who))
    pages = [site.page, site.evaluation(1).get_absolute_url(), f"/api/v1/releases/mixed-1/problems/{site.problem.slug}"]
    text = "".join(text_of(client, page) for page in pages)
    assert {words for words in ("definition words", "reference words") if words in text} == sees


def test_the_form_begins_with_the_scaffold_of_the_chosen_language(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    usual = text_of(client, site.page)
    assert 'value="solution.cpp"' in usual
    assert "void solution(const float* x" in usual
    chosen = text_of(client, site.page, language="python", track=site.track.slug)
    assert 'value="solution.py"' in chosen
    assert "y[...] = np.zeros_like(y)" in chosen
    assert "?language=cpp&amp;track=cpu-test#try" in chosen
    assert 'value="solution.cpp"' in text_of(client, site.page, language="cuda"), "only what the problem allows"


def test_the_form_says_whether_a_node_serves_its_tracks(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    told = text_of(client, site.page)
    assert "no node online: queued until one returns" in told
    waits = "What you send to it waits until a node does."
    buttons = told.partition("Submit this solution</button>")[2].partition('id="trial"')[0]
    assert f"No node takes track {site.track.slug}: none is granted it. {waits}" in buttons
    node = factories.grant(factories.NodeFactory(), site.track).node
    shown = text_of(client, site.page)
    assert "1 node online, idle, 0 queued" in shown
    assert waits not in shown
    type(node).objects.update(disabled_reason="a new driver", service=Service.DRAINING)
    sentence = f"No node takes track {site.track.slug} now: {node.slug} is draining (a new driver). {waits}"
    assert sentence in text_of(client, site.page)
    refreshed = " ".join(markup(client.get(reverse("track_states"), {"track": site.track.slug})).split())
    assert '<div id="nobody" role="status" hx-swap-oob="true">' in refreshed
    assert sentence in refreshed
    assert f'hx-get="{reverse("track_states")}?track={site.track.slug}"' in shown
    assert f'name="tracks" value="{site.track.slug}"' in shown


def test_a_command_problem_offers_no_choice_of_language(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    command = site.release.problems.get(kind=Kind.COMMAND)
    text = text_of(client, reverse("problem", args=[site.release.slug, command.slug]))
    assert 'aria-label="Language"' not in text
    assert 'value="solution.sh"' in text


def typed(client: Any, site: FunctionSite, path: str, content: str, **fields: str) -> Any:
    address = reverse("submit_typed", args=[site.release.slug, site.problem.slug])
    entry = {"entrant": "alpha", "tracks": [site.track.slug], "path-0": path, "content-0": content}
    return client.post(address, entry | fields)


@pytest.mark.parametrize(
    ("path", "content"), [("solution.cpp", function_site.CPP), ("solution.py", function_site.PYTHON)]
)
def test_each_allowed_language_is_submitted(
    client: Any, cast: Cast, site: FunctionSite, path: str, content: str
) -> None:
    client.force_login(cast.owner)
    before = Submission.objects.count()
    assert typed(client, site, path, content.replace("words", "typed anew")).status_code == 302
    assert Submission.objects.count() == before + 1
    assert Submission.objects.latest("pk").samples.get().invalid_reason == ""


@pytest.mark.parametrize(
    ("path", "content", "words"),
    [
        (
            "solution.cpp",
            function_site.WRONG_SIGNATURE,
            "solution.cpp line 1: `solution` takes 2 parameters; this problem&#x27;s takes 4: const float* x, float* y",
        ),
        ("solution.py", "import os\n", "solution.py defines no"),
        ("kernel.cpp", function_site.CPP, "is not a solution&#x27;s name; use solution.cpp or solution.py"),
        ("solution.cu", function_site.CPP, "solution.cu is cuda; this problem allows cpp, python"),
    ],
)
def test_what_the_rules_refuse_is_said_at_the_form_and_nothing_is_stored(
    client: Any, cast: Cast, site: FunctionSite, path: str, content: str, words: str
) -> None:
    client.force_login(cast.owner)
    before = Submission.objects.count()
    answer = typed(client, site, path, content, language="python")
    text = markup(answer)
    assert answer.status_code == 422
    assert words in text
    assert f'value="{path}"' in text, "what was typed stays"
    assert 'data-replaces="content-0">C++' in text
    assert Submission.objects.count() == before


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


def test_the_ranking_says_whose_clock_took_its_times(client: Any, site: FunctionSite) -> None:
    assert "Time ↓</a><br><small>by the checker&#x27;s clock</small></th>" in text_of(client, site.page)


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


@pytest.fixture
def gpu(db: None, cast: Cast) -> GpuFunctionSite:
    return make_gpu_function_site(cast)


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


def test_charts_of_times_at_the_shortest_say_so(client: Any, gpu: GpuFunctionSite, cast: Cast) -> None:
    page, words = gpu.problem.get_absolute_url(), "A call of less than 20 µs counts as 20 µs."
    assert words not in text_of(client, page)
    track, report = gpu.judged.track, ranked_report(LEAST_MS / TIMES_MS[SHORT])
    function_site.judged(
        factories.EntrantFactory(owner=cast.owner), gpu.problem.release, track, report, path="solution.py", text=PYTHON
    )
    assert text_of(client, page).count(words) == 2, "of times by size, and under the roofline"


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


def test_every_process_of_a_case_is_drawn_with_median_and_interval(client: Any, site: FunctionSite) -> None:
    text = text_of(client, site.page, case=SMALL)
    assert f"Every process: {SMALL}" in text
    assert "Every process: 512 x 4096" in text_of(client, site.page), "the largest case unless one is chosen"
    address = reverse("processes", args=[site.release.slug, site.problem.slug])
    drawn = client.get(address, {"case": SMALL}).json()["data"]
    assert [one["name"] for one in drawn[::2]] == [
        "Alpha, processes", "Stranger's model, processes", "Reference solution, processes"
    ]  # fmt: skip
    assert drawn[2]["y"] == pytest.approx([0.00198, 0.002, 0.00204])
    assert drawn[3]["error_y"]["array"] == pytest.approx([0.00004])
    assert client.get(address, {"case": "7 x 7"}).status_code == 404


def test_an_evaluations_chart_marks_the_medians_of_processes(client: Any, site: FunctionSite) -> None:
    drawn = client.get(reverse("evaluation_runs", args=[site.evaluation(0).pk])).json()["data"]
    medians = [one for one in drawn if one["name"] == f"{SMALL}: candidate, processes"]
    assert medians[0]["y"] == pytest.approx([0.00495, 0.005, 0.0051])
    calls = [one for one in drawn if one["name"] == f"{SMALL}: candidate, runs"]
    assert len(calls[0]["y"]) == 15


def test_an_unknown_case_is_refused_and_none_is_all_cases(client: Any, site: FunctionSite) -> None:
    assert client.get(site.page, {"case": "7 x 7"}).status_code == 400
    assert ">70.71 µs<" in text_of(client, site.page, case="")


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


def test_times_by_size_are_drawn_for_each_model_and_the_reference(client: Any, site: FunctionSite) -> None:
    assert "The numbers as a table" in text_of(client, site.page)
    drawn = client.get(reverse("sizes", args=[site.release.slug, site.problem.slug])).json()
    assert [(one["name"], one["x"]) for one in drawn["data"]] == [
        (name, [2 * 15, 2 * 512 * 4096]) for name in ("Alpha", "Stranger's model", "Reference solution")
    ]
    assert drawn["data"][1]["y"] == [0.002, 3.0]
    assert drawn["layout"]["xaxis"]["type"] == drawn["layout"]["yaxis"]["type"] == "log"
    assert drawn["layout"]["yaxis"]["ticktext"] == ["0.01", "0.1", "1"], "each decade, without those between"


def test_a_problem_of_one_case_has_no_times_by_size(client: Any, site: FunctionSite) -> None:
    command = site.release.problems.get(kind=Kind.COMMAND)
    assert client.get(reverse("sizes", args=[site.release.slug, command.slug])).status_code == 404


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


@pytest.mark.parametrize(("largest_rows", "is_drawn"), [(5, False), (6, True)])
def test_times_of_cases_of_like_sizes_are_not_drawn_by_size(
    client: Any, cast: Cast, largest_rows: int, is_drawn: bool
) -> None:
    """Its smallest timed case has 3 rows of 5 elements; that of 1 row has no time."""
    cases = [softmax_case(rows) for rows in (1, 3, largest_rows)]
    fields = function_site.function(manifest=manifest_fields(cases=cases))
    made = release_actions.import_release(packs.problem_pack([fields], "like-1")).release
    Release.objects.filter(pk=made.pk).update(is_public=True, timing_policy="quick")
    made.refresh_from_db()
    release_actions.publish(made)
    track = factories.offer(made)
    own = {"3 x 5": 1.0, f"{largest_rows} x 5": 2.0}
    function_site.judged(cast.entrant, made, track, function_site.report(own, own))
    address = reverse("sizes", args=[made.slug, "row-softmax"])
    assert (address in text_of(client, reverse("problem", args=[made.slug, "row-softmax"]))) is is_drawn
    assert client.get(address).status_code == (200 if is_drawn else 404)
