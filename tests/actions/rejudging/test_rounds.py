"""The round of a board: second measurements beside first results; ranks use them, and no verdict changes."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from leaderboard import visibility
from leaderboard.actions.curation import curate
from leaderboard.actions.curation.decide import decide_flag
from leaderboard.actions.rejudging import measure_anew
from leaderboard.actions.rejudging.apply_rejudge import apply
from leaderboard.actions.rejudging.rejudge import drop
from leaderboard.actions.rejudging.void_results import continue_voidings, start_voiding
from leaderboard.actions.submissions.record_result import record_result
from leaderboard.curation import rounds
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.flags.shown import current, shown, with_effects
from leaderboard.models import Entrant, Evaluation, Flag, Rejudge, ReleaseTrack, Result, Standing
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.rows.origin import Origin
from leaderboard.standings.rank import rank_touched, rebuild
from problems.models import Release
from runners.fleet.models import Job
from runners.wire.protocol import FlagReport, FlagScope, Verdict
from tests.actions.rejudging.test_rejudge import FAILED, timed, work_all
from tests.admin.pages import act, signed_in, text
from tests.fleet.site import Site, WireNode
from tests.made_once import of_module, part
from tests.packs import problem

pytestmark = [pytest.mark.django_db]
PLATFORM = FAILED.model_copy(update={"verdict": Verdict.PLATFORM_ERROR})
TASKS = ("a/1", "a/2")


def _make() -> tuple[Site, WireNode]:
    """Two entrants: one at 4 ms after two submissions, two at 5 ms. Ranked by speedup."""
    site, node = Site.make([problem(one) for one in TASKS], primary_metric="speedup"), WireNode()
    other = Entrant.objects.create(slug="two", name="Two", owner=site.owner)
    for entrant, script, ms in ((site.entrant, "exit 0", 9.0), (site.entrant, "exit  0", 4.0), (other, "exit 0", 5.0)):
        site.submit({one: [script] for one in TASKS}, entrant)
        work_all(node, timed(ms))
    rank_touched()
    return site, node


made_site = of_module(_make)
site, node = part(0), part(1)


def close(site: Site) -> ReleaseTrack:
    Release.objects.filter(pk=site.release.pk).update(closes_at=timezone.now() - timedelta(minutes=1))
    site.release.refresh_from_db()
    return ReleaseTrack.objects.select_related("release", "track").get()


def rank_of(slug: str) -> Standing:
    rank_touched()
    return Standing.objects.get(entrant__slug=slug)


def verdicts() -> list[Any]:
    return list(Evaluation.objects.live().order_by("pk").values_list("current_result", "current_result__verdict"))


def test_the_rank_uses_the_second_and_both_figures_are_shown(site: Site, node: WireNode) -> None:
    before = verdicts()
    assert rank_of("one").rank == 1
    made = measure_anew.start(site.organiser, close(site), "Luck")
    assert made.n_evaluations == 4
    assert work_all(node, timed(8.0)) == 4
    made.refresh_from_db()
    assert (made.state, rounds.lacking(made).count()) == ("ready", 0)
    row = rank_of("one")
    assert row.speedup == pytest.approx(1.25)
    assert row.round_figures["value"] == pytest.approx(2.5)
    assert (row.round_figures["rank"], row.round_figures["n_judged"], row.n_full_submissions) == (1, 2, 2)
    assert verdicts() == before
    assert rebuild(check=True) == []
    page = text(Client().get(reverse("board", args=[site.release.slug])))
    assert "2.50×" in page
    assert "Chosen from 2 full submissions" in page
    assert "4 of 4 passes so far" in page
    assert "Before the round" in page
    live = Evaluation.objects.live().filter(submission=row.submission).first()
    assert live is not None
    told = text(Client().get(live.get_absolute_url()))
    assert all(words in told for words in ("Second measurement", "2.50×", "1.25×"))


def test_one_that_is_interrupted_is_resumed(site: Site, node: WireNode) -> None:
    made = measure_anew.start(site.organiser, close(site), "Luck")
    assert node.report(node.take(), timed(8.0)).status_code == 200
    assert node.report(node.take(), PLATFORM).status_code == 200
    with pytest.raises(Refused, match="still measures"):
        curate.freeze(site.organiser, site.release)
    assert measure_anew.pause(site.organiser, made) >= 1
    with pytest.raises(Conflict, match="nothing to pause"):
        measure_anew.pause(site.organiser, made)
    assert not node.take_up_to(5)
    assert rounds.lacking(made).count() == 3
    assert measure_anew.resume(site.organiser, made) == 3
    assert work_all(node, timed(8.0)) == 3
    assert rounds.lacking(made).count() == 0
    with pytest.raises(Conflict, match="nothing to resume"):
        measure_anew.resume(site.organiser, made)
    assert rank_of("two").speedup == pytest.approx(1.25)
    assert rebuild(check=True) == []


def test_a_failing_second_run_is_a_flag_and_no_verdict_changes(site: Site, node: WireNode) -> None:
    before = verdicts()
    measure_anew.start(site.organiser, close(site), "Luck")
    work_all(node, FAILED)
    assert verdicts() == before
    flags = list(Flag.objects.filter(code="failed_second_run"))
    assert {one.result_id for one in flags} <= {pk for pk, _ in before}
    assert len(flags) == 4
    assert rank_of("one").is_incomplete
    decide_flag(site.organiser, flags[0], upheld=True, public_reason="A race.")
    for flag in flags[1:]:
        decide_flag(site.organiser, flag, upheld=False, public_reason="The machine's.")
    assert not rank_of("two").is_incomplete
    assert rebuild(check=True) == []


def test_when_there_is_none(site: Site) -> None:
    place = ReleaseTrack.objects.select_related("release", "track").get()
    with pytest.raises(Refused, match="no closing date"):
        measure_anew.start(site.organiser, place, "Luck")
    place = close(site)
    with pytest.raises(NotAllowed):
        measure_anew.start(site.owner, place, "Luck")
    with pytest.raises(Refused, match="Say why"):
        measure_anew.start(site.organiser, place, " ")
    made = measure_anew.start(site.organiser, place, "Luck")
    with pytest.raises(Refused, match="had its one round already"):
        measure_anew.start(site.organiser, place, "More luck")
    for end in (lambda: drop(site.organiser, made), lambda: apply(site.organiser, made, "x")):
        with pytest.raises(Conflict):
            end()
    for stranger in (lambda: measure_anew.pause(site.owner, made), lambda: measure_anew.resume(site.owner, made)):
        with pytest.raises(NotAllowed):
            stranger()


def test_flags_of_the_second_time_are_ruled_on_and_those_of_the_first_have_no_effect(
    site: Site, node: WireNode
) -> None:
    measure_anew.start(site.organiser, close(site), "Luck")
    slowed = timed(8.0).model_copy(update={"flags": [FlagReport(code="throttled", scope=FlagScope.TIME)]})
    work_all(node, slowed)
    assert rank_of("one").is_incomplete
    assert visibility.visible_flags(site.owner, site.release).count() == 4
    for flag in Flag.objects.filter(current()):
        decide_flag(site.organiser, flag, upheld=False, public_reason="A short one.")
    assert rank_of("one").speedup == pytest.approx(1.25)
    first = Evaluation.objects.live().filter(second_result__isnull=False).first()
    assert first is not None
    old = Flag.objects.create(result_id=first.current_result_id or 0, code="throttled", scope=FlagScope.TIME)
    assert "second measurement counts" in shown(with_effects(Flag.objects.filter(pk=old.pk)).get()).effect
    call_command("rebuild_standings")
    assert not rank_of("one").is_incomplete


def test_imported_results_cannot_be_measured_anew(site: Site, node: WireNode, made_imported: int) -> None:
    assert made_imported == 2
    place = close(site)
    assert rounds.chosen(place).passes.count() == 4
    measure_anew.start(site.organiser, place, "Luck")
    work_all(node, timed(8.0))
    row = rank_of("three")
    assert row.round_figures["n_imported"] == 2
    assert row.speedup == pytest.approx(10 / 6)
    page = text(Client().get(reverse("board", args=[site.release.slug])))
    assert "imported, not anew" in page
    assert "Imported results cannot be measured anew." in page
    assert rebuild(check=True) == []


@pytest.fixture
def made_imported(site: Site, node: WireNode) -> int:
    """A third entrant at 6 ms, whose results are recorded as an import records them. Returns their number."""
    three = Entrant.objects.create(slug="three", name="Three", owner=site.owner)
    made = site.submit({one: ["exit 0"] for one in TASKS}, three)
    evaluations = list(made.evaluations.select_related("submission__release", "problem", "track", "submission"))
    Job.objects.filter(evaluation__in=evaluations).update(state="done")
    for one in evaluations:
        record_result(one, timed(6.0), Origin(ResultOrigin.IMPORTED))
    rank_touched()
    return len(evaluations)


def test_a_revoked_nodes_second_measurements_leave_and_are_measured_again(site: Site, node: WireNode) -> None:
    made = measure_anew.start(site.organiser, close(site), "Luck")
    begun = timezone.now()
    work_all(node, timed(8.0))
    start_voiding(site.organiser, "node-1", "Broken.", since=begun)
    continue_voidings()
    assert rank_of("one").speedup == pytest.approx(2.5)
    assert rounds.lacking(made).count() == 4
    assert measure_anew.resume(site.organiser, made) == 4
    assert rebuild(check=True) == []


def test_releases_without_a_round_keep_their_ranks(site: Site) -> None:
    rows = list(Standing.objects.order_by("pk").values_list("rank", "estimates__speedup__value"))
    call_command("rebuild_standings")
    assert list(Standing.objects.order_by("pk").values_list("rank", "estimates__speedup__value")) == rows
    assert not Result.objects.filter(second_of__isnull=False).exists()


def test_it_is_started_in_the_admin_after_entrants_hours_and_end_are_shown(site: Site, node: WireNode) -> None:
    node.hello()
    address = reverse("admin:problems_release_act", args=[site.release.pk, "measure-anew"])
    assert "no closing date" in text(signed_in(site.organiser).get(address))
    close(site)
    page = text(signed_in(site.organiser).get(address))
    assert "4 passes of 2 entrants" in page
    assert "One (rank 1), Two (rank 2)" in page
    assert "hours of a machine, as the first measurements took. With 1 online node it ends about" in page
    assert act(site.organiser, "problems_release", "measure-anew", site.release, track=site.track.pk,
               reason="Luck").status_code == 302  # fmt: skip
    made = Rejudge.objects.get(is_round=True)
    assert "withdrawn" in text(act(site.organiser, "leaderboard_rejudge", "pause", made))
    assert "4 measurements are queued" in text(act(site.organiser, "leaderboard_rejudge", "resume", made))
    assert act(site.organiser, "leaderboard_rejudge", "drop", made).status_code == 404
    for browser in (Client(), signed_in(site.owner)):
        for one in (address, *(reverse("admin:leaderboard_rejudge_act", args=[made.pk, n]) for n in ("pause",))):
            assert browser.post(one, {"reason": "mine"}).status_code == 302
    made.refresh_from_db()
    assert made.state == "running"


def test_the_board_and_the_rounds_page_take_the_same_queries_with_more_submissions(
    site: Site, node: WireNode, django_assert_num_queries: Any
) -> None:
    measure_anew.start(site.organiser, close(site), "Luck")
    work_all(node, timed(8.0))
    rank_touched()
    browser, address = signed_in(site.organiser), reverse("board", args=[site.release.slug])
    browser.get(address)
    with CaptureQueriesContext(connection) as first:
        browser.get(address)
    Standing.objects.filter(entrant__slug="two").delete()
    with django_assert_num_queries(len(first)):
        browser.get(address)
