"""Further parts of a GPU release's pages: rates, rooflines, device facts, profiles, and the reasons why problems
skip."""

import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from zeal import zeal_context

from leaderboard import blobs
from leaderboard.actions.submissions.record_result import record_result
from leaderboard.charts.results import roofline as charts
from leaderboard.models import Standing, Track
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.results.rates import Rates, rates_of
from leaderboard.results.timings import DEVICE_LABELS
from leaderboard.rows.origin import Origin
from problems.spec.case import Case
from problems.spec.command.problem import problem_from
from problems.spec.function.problem import FunctionProblem
from problems.spec.profile import Profile
from runners.agent.devices.record import DeviceRecord
from runners.agent.judges.function.contest import Contest
from runners.agent.judges.function.inside.orders import CaseReply, DeviceFacts, HowEnded
from runners.agent.judges.function.results import candidate_measurements
from runners.agent.judges.host import HostRecord
from runners.agent.sandbox.policy import Outcome
from runners.wire.protocol import BlobRef, Role, Witness
from tests import factories, graded, packs
from tests.agent.traffic_cases import NAIVE, checked
from tests.made_once import of_module, part
from tests.markup import markup
from tests.spec.functions import function_problem, manifest_fields, softmax_case
from tests.web.gpu_site import GpuSite, make_gpu_site


def _make() -> tuple[factories.Cast, GpuSite]:
    cast = factories.Cast.make()
    with tempfile.TemporaryDirectory() as folder:
        return cast, make_gpu_site(cast, Path(folder))


made_site = of_module(_make)
cast, gpu = part(0), part(1)


def page(client: Any, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return markup(answer)


def problem_page(gpu: GpuSite, n: int) -> str:
    return reverse("problem", args=[gpu.release.slug, gpu.problem(n).slug])


def test_every_fact_that_a_node_tells_of_its_device_has_a_label() -> None:
    values: dict[str, Any] = {one.name: 1.0 for one in fields(DeviceRecord)}
    told = DeviceRecord(**values | {"throttle_reasons": ("heat",)}).facts
    host = HostRecord(*(1.0 for _ in fields(HostRecord))).facts
    of_traffic = checked(NAIVE).facts
    of_before = {"clock_ms", "device_events_ms", "kernel_span_ms"}
    assert {*told, *host, *of_traffic, *_facts_of_calls(), *of_before} == DEVICE_LABELS.keys()


def _facts_of_calls() -> set[str]:
    """Facts that the function judge reports with each time, by the clock of a CPU and by both of a GPU."""
    reply = CaseReply(0, 2, [10**6, 2 * 10**6], [10**6] * 2, 0.0, False, 1.0, 1.0)
    on_cpu, device = reply._replace(one_set_ns=5e5), DeviceFacts("device", [0.0], 2, 1, "", 0.0, 0.0)
    on_gpu, on_host = reply._replace(device=device), reply._replace(device=device._replace(clock="host"))
    of_sets = function_problem(manifest=manifest_fields(cases=[softmax_case(input_sets=2)]))
    return _facts_of(of_sets, on_cpu) | _facts_of(of_sets, on_gpu) | _facts_of(of_sets, on_host)


def _facts_of(record: FunctionProblem, reply: CaseReply) -> set[str]:
    ended = Outcome(0, None, False, False, False, "", "", False, 1.0, 1.0, 0, Witness.SEEN)
    seen = Contest((reply,), (0,), HowEnded.NOT, "", ended, load_ms=1.0)
    (one,) = candidate_measurements(record, [seen, seen], None)
    return {*one.device}


def test_a_rate_needs_declared_work_and_a_share_the_peak_of_the_declared_data_type() -> None:
    peaks = {"gbps": 4000.0, "gflops": {"fp32": 50_000.0}}
    half = rates_of([Case(flops=5e9, bytes=4e9, dtype="fp16")], peaks, 2.0)
    assert (half.gflops, half.gbps, half.roofline) == (pytest.approx(2500.0), pytest.approx(2000.0), None)
    assert rates_of([Case(flops=5e9, bytes=4e9)], peaks, 2.0).roofline == pytest.approx(0.5)
    assert rates_of([Case()], peaks, 2.0) == Rates()


def test_rates_of_several_cases_are_geometric_means() -> None:
    cases = [Case(name="1k", flops=1e9, bytes=1e6), Case(name="1m", flops=4e9, bytes=4e6)]
    found = rates_of(cases, {"gbps": 4000.0, "gflops": {"fp32": 50_000.0}}, 2.0)
    assert (found.gflops, found.gbps) == (pytest.approx(1000.0), pytest.approx(1.0))
    assert found.roofline == pytest.approx(0.04 / 2.0)


def test_a_product_in_fp32_is_shown_against_the_peak_of_fp32_though_tf32_is_admitted() -> None:
    problem = problem_from(packs.problem("K/1", benchmark_command="./b", podium={"flops": 1e9, "flops_dtype": "tf32"}),
                           Profile.PODIUM)  # fmt: skip
    (case,) = problem.cases
    assert (case.dtype, case.fastest_dtype) == ("fp32", "tf32")


def test_an_evaluation_shows_its_time_as_rates_and_share_of_the_roofline(client: Any, gpu: GpuSite) -> None:
    text = page(client, gpu.evaluation(1).get_absolute_url())
    # 2e9 operations and 4e9 bytes in 3 ms, below 50,000 GFLOPS and 4,000 GB/s
    assert '<td class="num">667</td><td class="num">1,333</td><td class="num">33.3</td>' in text
    assert "this GPU was measured to do: 50,000 GFLOPS (fp32) and 4,000 GB/s" in text


def test_a_problem_of_bytes_alone_shows_no_gflops_and_one_without_work_nothing(client: Any, gpu: GpuSite) -> None:
    bytes_alone = page(client, gpu.evaluation(2).get_absolute_url())
    assert "GB/s</th>" in bytes_alone
    assert "GFLOPS</th>" not in bytes_alone
    assert "Roofline (%)" not in page(client, gpu.evaluation(4).get_absolute_url())


def test_what_was_seen_of_the_gpu_stands_beside_the_time(client: Any, gpu: GpuSite) -> None:
    text = page(client, gpu.timed.get_absolute_url())
    assert "The machine meanwhile" in text
    assert '<th scope="row">SM clock, median (MHz)</th><td class="num">1,980</td>' in text


def test_figures_by_the_methods_of_others_stand_under_their_own_heading(client: Any, gpu: GpuSite) -> None:
    facts = {"sm_clock_mhz": 1980.0, "as_tensara_ms": 2.01, "as_tensara_gflops": 25.26, "kernel_span_ms": 1.97}
    timed = graded.measurement(Role.CANDIDATE, 2.0, device=facts)
    report = factories.report().model_copy(update={"measurements": [timed]})
    record_result(gpu.timed, report, Origin(ResultOrigin.FLEET))
    machine, _, others = page(client, gpu.timed.get_absolute_url()).partition("<h3>As others tell it</h3>")
    assert "shown and never ranked" in others
    for label, value in (("mean of its calls (ms)", "2.01"), ("… its rate (GFLOPS)", "25.26"),
                         ("kernel span (ms)", "1.97")):  # fmt: skip
        assert f'{label}</th><td class="num">{value}</td>' in others
        assert label not in machine
    assert '<th scope="row">SM clock, median (MHz)</th><td class="num">1,980</td>' in machine


def test_without_figures_by_the_methods_of_others_there_is_no_heading_for_them(client: Any, gpu: GpuSite) -> None:
    assert "As others tell it" not in page(client, gpu.timed.get_absolute_url())


def test_a_page_says_whether_writes_were_checked_and_what_was_counted(client: Any, gpu: GpuSite) -> None:
    answer, outputs = "Writes checked by the GPU&#x27;s counters", "Outputs of the timed part (MB)"
    counted = {answer: "yes", outputs: "100", "Written to the L2 cache by timed kernels (MB)": "9,000"}
    for facts, rows in (
        (checked(NAIVE).facts, counted),
        (checked(None, reference=None).facts, {answer: "no: no counters"}),
    ):
        timed = graded.measurement(Role.CANDIDATE, 2.0, device=facts)
        report = factories.report().model_copy(update={"measurements": [timed]})
        record_result(gpu.timed, report, Origin(ResultOrigin.FLEET))
        text = page(client, gpu.timed.get_absolute_url())
        for label, value in rows.items():
            assert f'<th scope="row">{label}</th><td class="num">{value}</td>' in text


def test_a_flag_is_said_in_words_with_what_it_means(client: Any, gpu: GpuSite, cast: factories.Cast) -> None:
    flagged = gpu.problem(3).evaluations.get(submission__entrant=cast.strangers_entrant, sample__index=0)
    text = page(client, flagged.get_absolute_url())
    assert "Busy disagrees" in text
    assert "Its time does not rank yet." in text


def test_a_profile_is_for_its_team_and_organisers(client: Any, gpu: GpuSite, cast: factories.Cast) -> None:
    content = b"an ncu report"
    ref = BlobRef(sha256=blobs.store().put(content), size_bytes=len(content))
    evaluation = gpu.timed
    report = factories.report().model_copy(update={"profile": ref})
    record_result(evaluation, report, Origin(ResultOrigin.FLEET))
    address = reverse("evaluation_profile", args=[evaluation.pk])
    for user, status in ((None, 404), (cast.stranger, 404), (cast.teammate, 200), (cast.organiser, 200)):
        client.logout()
        if user:
            client.force_login(user)
        answer = client.get(address)
        assert answer.status_code == status
        assert (address in page(client, evaluation.get_absolute_url())) == (status == 200)
    assert b"".join(answer.streaming_content) == content
    assert answer["Content-Disposition"] == f'attachment; filename="evaluation-{evaluation.pk}.ncu-rep"'
    assert client.get(reverse("evaluation_profile", args=[gpu.evaluation(0).pk])).status_code == 404


def test_a_problem_ranks_by_time_and_shows_each_rate(client: Any, gpu: GpuSite) -> None:
    text = page(client, problem_page(gpu, 1))
    assert "2.00 × 10⁹ floating-point operations (fp32) and 4.00 × 10⁹ bytes a run" in text
    assert "Roofline (%) ↑" in text
    assert text.index("33.3") < text.index("19.6")


def test_the_ranking_by_time_is_the_ranking_by_gflops(client: Any, gpu: GpuSite) -> None:
    rows = client.get(problem_page(gpu, 1)).context["ranking"]
    times_ms, gflops = [row["time_ms"] for row in rows], [row["rates"].gflops for row in rows]
    assert times_ms == sorted(times_ms) == [3.0, 5.1]
    assert gflops == sorted(gflops, reverse=True) == pytest.approx([2e3 / 3.0, 2e3 / 5.1])


def test_a_problems_roofline_has_the_roof_a_point_an_entrant_and_a_table(client: Any, gpu: GpuSite) -> None:
    text = page(client, problem_page(gpu, 1))
    address = reverse("roofline", args=[gpu.release.slug, gpu.problem(1).slug])
    assert f'data-chart-url="{address}?track={gpu.track.slug}"' in text
    assert "Reference solution" in text
    drawn = client.get(f"{address}?track={gpu.track.slug}").json()
    roof, *points = drawn["data"]
    assert roof["y"][-1] == 50_000.0
    assert [one["x"] for one in points] == [[0.5]] * 3
    assert [one["y"][0] for one in points] == pytest.approx([2e9 / 3.0e6, 2e9 / 5.1e6, 2e9 / 8.0e6])
    assert drawn["layout"]["xaxis"]["type"] == drawn["layout"]["yaxis"]["type"] == "log"


def test_a_roofline_needs_both_kinds_of_work_and_measured_peaks(client: Any, gpu: GpuSite) -> None:
    address = reverse("roofline", args=[gpu.release.slug, gpu.problem(2).slug])
    assert "roofline.json" not in page(client, problem_page(gpu, 2))
    assert client.get(address).status_code == 404
    Track.objects.filter(pk=gpu.track.pk).update(peaks={})
    assert "roofline.json" not in page(client, problem_page(gpu, 1))


def test_the_roof_bends_where_arithmetic_becomes_the_bound() -> None:
    roof = charts.Roof(peak_gflops=50_000.0, peak_gbps=4000.0, dtype="fp32")
    assert roof.ridge == 12.5
    point = charts.Point(1, "A model", 3.0, 100.0, 200.0, 0.1, intensity=0.5)
    drawn = charts.spec([roof], [point])["data"][0]
    assert drawn["x"] == [0.0625, 12.5, 100.0]
    assert drawn["y"] == [250.0, 50_000.0, 50_000.0]
    assert charts.figure([roof], [point]).data[0].name == "Roofline"


def test_each_data_type_has_a_roof_of_its_own() -> None:
    roofs = [charts.Roof(50_000.0, 4000.0, "fp32"), charts.Roof(700_000.0, 4000.0, "fp16")]
    points = [charts.Point(1, f"A model, {n}k", 3.0, 100.0, 200.0, 0.1, intensity=n, case=f"{n}k") for n in (1.0, 4.0)]
    drawn = charts.spec(roofs, points)["data"]
    assert [one["name"] for one in drawn] == [
        "Roofline (fp32)", "Roofline (fp16)", "A model, 1.0k", "A model, 4.0k"
    ]  # fmt: skip
    assert [one["x"] for one in drawn[2:]] == [[1.0], [4.0]]


ROOF = charts.Roof(50_000.0, 4000.0, "fp32")


def _points(n_entrants: int, n_cases: int) -> list[charts.Point]:
    return [
        charts.Point(n, f"Model {n}, case {case}", 3.0, 10.0 * n, 1.0, 0.1, 2.0**case, f"Model {n}", f"case {case}")
        for n in range(1, n_entrants + 1)
        for case in range(n_cases)
    ]


@pytest.mark.parametrize(("n_entrants", "n_cases"), [(1, 1), (4, 2), (2, 5)])
def test_the_axis_of_a_roofline_leaves_room_for_the_names_of_few_points(n_entrants: int, n_cases: int) -> None:
    layout = charts.spec([ROOF], _points(n_entrants, n_cases))["layout"]
    low, high = layout["xaxis"]["range"]
    px = 1050 / (high - low)
    for name in layout["annotations"]:
        text_px = len(name["text"]) * 7 if name["xanchor"] == "left" else -len(name["text"]) * 7
        assert 0 <= (name["x"] - low) * px + name["ax"] + text_px <= 1050
    assert len(layout["annotations"]) == n_entrants * n_cases


def test_of_many_points_of_a_roofline_the_legend_names_entrants_and_cases() -> None:
    drawn = charts.spec([ROOF], _points(20, 3))
    assert drawn["layout"]["annotations"] == []
    assert drawn["layout"]["showlegend"]
    _, *entrants = [one for one in drawn["data"] if one.get("meta") != "key"]
    cases = {one["name"]: one["marker"]["symbol"] for one in drawn["data"] if one.get("meta") == "key"}
    assert [one["name"] for one in entrants] == [f"Model {n}" for n in range(1, 21)]
    assert list(cases) == ["case 0", "case 1", "case 2"]
    assert all(one["marker"]["symbol"] == list(cases.values()) for one in entrants)
    assert len(set(cases.values())) == 3


def test_the_board_has_the_mean_share_of_the_roofline(client: Any, gpu: GpuSite, cast: factories.Cast) -> None:
    standing = Standing.objects.get(entrant=cast.entrant)
    # by problem: 0.08 of 2 ms, 1 of 3 ms, 1.5 of 3 ms, 10/7 of 5 ms; the fifth declares nothing
    shares = [0.08 / 2, 1 / 3, 1.5 / 3, (1e12 / 700_000e6) / 5]
    assert standing.figure("roofline")[0] == pytest.approx(sum(shares) / 4)
    assert standing.estimates["roofline"]["problems"] == 4
    text = page(client, reverse("board", args=[gpu.release.slug]))
    assert ">Roofline (%)" in text.replace("\n", "")
    assert "over 4 problems" in text


def test_a_problem_without_a_ranking_time_counts_nothing_of_the_roofline(gpu: GpuSite, cast: factories.Cast) -> None:
    flagged = Standing.objects.get(entrant=cast.strangers_entrant)
    shares = [0.08 / 3.4, 1 / 5.1, 1.5 / 5.1, 0.0]
    assert flagged.figure("roofline")[0] == pytest.approx(sum(shares) / 4)


def test_every_skipped_problem_gives_its_reason(client: Any, gpu: GpuSite) -> None:
    text = page(client, reverse("problems", args=[gpu.release.slug]))
    assert "NVIDIA H200, CUDA 13.0 cannot run 2 problems of this release" in text
    reasons = {5: "needs CUDA toolkit 13.1 or newer, here is 13.0",
               6: "needs a GPU of compute capability 10.0 or higher, here is 9.0"}  # fmt: skip
    for n, reason in reasons.items():
        assert reason in text
        assert f"Skipped on nvidia-h200-cuda13.0: {reason}" in page(client, problem_page(gpu, n))


def test_another_track_has_its_own_skips(client: Any, gpu: GpuSite) -> None:
    newer = factories.TrackFactory(
        slug="nvidia-b200-cuda13.1", device="gpu", hardware_name="NVIDIA B200", compute_capability="10.0",
        toolkit="13.1",
    )  # fmt: skip
    factories.track_actions.offer(None, gpu.release, newer)
    problems = reverse("problems", args=[gpu.release.slug])
    assert "cannot run" not in page(client, f"{problems}?track={newer.slug}")
    assert "cannot run 2 problems" in page(client, f"{problems}?track={gpu.track.slug}")


def test_these_pages_cost_the_same_with_more_entrants(client: Any, gpu: GpuSite, cast: factories.Cast) -> None:
    slug = gpu.release.slug
    paths = [reverse(name, args=[slug]) for name in ("board", "problems", "charts")] + [problem_page(gpu, 1)]
    paths += [gpu.timed.get_absolute_url(), cast.entrant.get_absolute_url(), reverse("home")]
    before = [cost(client, path) for path in paths]
    for _ in range(8):
        entrant = factories.EntrantFactory(owner=cast.owner)
        factories.judged_submission(entrant, gpu.release, gpu.track, n_samples=1)
    assert [cost(client, path) for path in paths] == before


def cost(client: Any, path: str) -> int:
    with CaptureQueriesContext(connection) as queries, zeal_context():
        assert client.get(path).status_code == 200
    return len(queries)
