"""Charts on a function problem's page."""

from typing import Any

import pytest
from django.urls import reverse

from problems.actions import releases as release_actions
from problems.models import Release
from problems.spec.kinds import Kind
from problems.spec.shortest import LEAST_MS
from tests import factories, function_site, packs
from tests.factories import Cast
from tests.function_site import SMALL
from tests.spec.functions import manifest_fields, softmax_case
from tests.web.functions.mixed_site import FunctionSite, text_of
from tests.web.gpu_function_site import (
    PYTHON,
    SHORT,
    TIMES_MS,
    GpuFunctionSite,
    ranked_report,
)


def test_charts_of_times_at_the_shortest_say_so(client: Any, gpu: GpuFunctionSite, cast: Cast) -> None:
    page, words = gpu.problem.get_absolute_url(), "A call of less than 20 µs counts as 20 µs."
    assert words not in text_of(client, page)
    track, report = gpu.judged.track, ranked_report(LEAST_MS / TIMES_MS[SHORT])
    function_site.judged(
        factories.EntrantFactory(owner=cast.owner), gpu.problem.release, track, report, path="solution.py", text=PYTHON
    )
    assert text_of(client, page).count(words) == 2, "of times by size, and under the roofline"


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


def test_an_unknown_case_is_refused_and_none_is_all_cases(client: Any, site: FunctionSite) -> None:
    assert client.get(site.page, {"case": "7 x 7"}).status_code == 400
    assert ">70.71 µs<" in text_of(client, site.page, case="")


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
