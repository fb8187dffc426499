"""The machine code of a CUDA solution: registers and spills from its build log, SASS and PTX from its listing."""

import gzip
from typing import Any

import pytest
from django.urls import reverse

from leaderboard import blobs
from leaderboard.actions.intake.try_solution import end_trial
from leaderboard.models import Trial
from leaderboard.results.listings import SHOWN_CHARACTERS, Kernel, kernels_of, parts_of
from runners.wire.protocol import BlobRef, LogText, Report, StepReport
from tests import factories, function_site
from tests.factories import Cast
from tests.made_once import of_module, part
from tests.markup import markup
from tests.web.functions.mixed_site import FunctionSite, make_function_site, text_of
from tests.web.intake.test_trial import run
from tests.web.site.test_queries import _cost

LOG = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z6scale2PKfPfm' for 'sm_90'
ptxas info    : Function properties for _Z6scale2PKfPfm
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers, 4096 bytes smem
ptxas info    : Compile time = 33.083 ms
ptxas info    : Compiling entry function 'plain' for 'sm_90'
ptxas info    : Function properties for plain
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers
"""
LISTING = "== sass\n\tFunction : plain\n        EXIT ;\n== ptx\n.visible .entry plain()\n"


def test_kernels_are_read_from_what_ptxas_says() -> None:
    scale, plain = kernels_of(LOG)
    assert scale == Kernel("_Z6scale2PKfPfm", "sm_90", 10, 16, 8, 12, 4096)
    assert (scale.name, plain.name, plain.registers) == ("scale2", "plain", 255)
    assert kernels_of("g++: error") == kernels_of("Compiling entry function 'cut' for 'sm_90'") == []


def test_a_listing_has_parts_and_long_ones_are_cut() -> None:
    sass, ptx = parts_of(LISTING)
    assert (sass.title, ptx.title, ptx.text) == ("SASS", "PTX", ".visible .entry plain()")
    assert parts_of("== sass\n" + "x" * (SHOWN_CHARACTERS + 1))[0].is_cut
    assert [one.title for one in parts_of("The log is no longer kept.")] == ["Listing"]
    assert parts_of("") == []


def listed_report(content: bytes = gzip.compress(LISTING.encode())) -> Report:
    listing = BlobRef(sha256=blobs.store().put(content), size_bytes=len(content))
    steps = [StepReport(name="build", exit_code=0, wall_ms=1.0, log=LogText(text=LOG))]
    return function_site.report(listing=listing, steps=steps)


def _make() -> tuple[Cast, FunctionSite]:
    cast = Cast.make()
    return cast, make_function_site(cast)


made_site = of_module(_make)
cast, site = part(0), part(1)


@pytest.fixture
def evaluation(cast: Cast, site: FunctionSite) -> Any:
    stored = function_site.judged(
        cast.entrant, site.release, site.track, listed_report(), listed_report(), listed_report()
    )
    return stored.evaluations.get(problem=site.problem, sample__index=0)


@pytest.mark.parametrize(
    ("who", "sees"), [(None, False), ("stranger", False), ("owner", True), ("teammate", True), ("organiser", True)]
)
def test_the_team_reads_kernels_sass_and_ptx_and_downloads_them(
    client: Any, cast: Cast, evaluation: Any, who: str | None, sees: bool
) -> None:
    if who:
        client.force_login(getattr(cast, who))
    pages = [reverse(name, args=[evaluation.pk]) for name in ("evaluation_machine_code", "evaluation_listing")]
    assert [client.get(page).status_code for page in pages] == [200 if sees else 404] * 2
    assert ("scale2" in text_of(client, evaluation.get_absolute_url())) is sees
    if sees:
        text = text_of(client, pages[0])
        assert '<td class="num">8</td><td class="num">12</td><td class="num">16</td><td class="num">4096</td>' in text
        assert "EXIT ;" in text
        assert ".visible .entry plain()" in text
        download = client.get(pages[1])
        assert markup(download) == LISTING
        assert download["Content-Type"].startswith("text/plain")
        assert "attachment" in download["Content-Disposition"]


def test_a_solution_without_machine_code_has_no_page_of_it(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    assert client.get(reverse("evaluation_machine_code", args=[site.evaluation(0).pk])).status_code == 404
    assert "Machine code" not in text_of(client, site.evaluation(0).get_absolute_url())


def test_a_listing_that_is_no_gzip_or_gone_is_told_in_words(client: Any, cast: Cast, site: FunctionSite) -> None:
    report = listed_report(b"\x1f\x8b no gzip")
    stored = function_site.judged(cast.entrant, site.release, site.track, report, report, report, report)
    found = stored.evaluations.get(problem=site.problem, sample__index=0)
    client.force_login(cast.owner)
    assert "The log is damaged." in text_of(client, reverse("evaluation_machine_code", args=[found.pk]))


def test_a_runs_machine_code_is_its_users_alone(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    run(client, site)
    trial = Trial.objects.get()
    end_trial(trial, listed_report())
    assert "scale2" in text_of(client, reverse("trial", args=[trial.pk]))
    pages = [reverse(name, args=[trial.pk]) for name in ("trial_machine_code", "trial_listing")]
    assert [client.get(page).status_code for page in pages] == [200, 200]
    client.force_login(cast.stranger)
    assert [client.get(page).status_code for page in pages] == [404, 404]


@pytest.mark.both_databases
def test_more_kernels_cost_no_more_queries(client: Any, cast: Cast, site: FunctionSite, evaluation: Any) -> None:
    client.force_login(cast.owner)
    page = reverse("evaluation_machine_code", args=[evaluation.pk])
    few = _cost(client, page)
    for _ in range(3):
        function_site.judged(factories.EntrantFactory(owner=cast.stranger), site.release, site.track, listed_report())
    assert _cost(client, page) == few
