"""Rejudges and nodes in a real browser: a rejudge's way by hand, and their pages in each look as axe sees them."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.rejudging import measure_anew
from leaderboard.actions.rejudging.apply_rejudge import apply
from leaderboard.actions.rejudging.rejudge import RejudgeScope, start
from leaderboard.actions.submissions.record_result import record_result
from leaderboard.models import Evaluation, Rejudge, ReleaseTrack
from leaderboard.models.submissions.evaluation import OPEN_STATES, ResultOrigin
from leaderboard.rows.origin import Origin
from leaderboard.standings.rank import rank_touched
from problems.models import Release
from runners.fleet.models import Attempt, Job, NodeChange
from runners.fleet.nodes import service
from runners.wire.protocol import Purpose, Verdict
from tests import factories
from tests.requirements import requires
from tests.web.conftest import Site
from tests.web.site.test_browser import FEW_LOOKS, LOOKS, Visit, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]


def judge_shadows(n: int | None = None) -> None:
    """Every third fails, the others pass, some of them slower than before."""
    shadows = Evaluation.objects.filter(purpose=Purpose.SHADOW, state="queued").order_by("pk")
    for place, one in enumerate(shadows.select_related("submission__release", "problem", "track")[:n]):
        report = factories.report(Verdict.TEST_FAILED if place % 3 == 0 else Verdict.PASSED)
        Job.objects.filter(evaluation=one).update(state="done")
        record_result(one, report, Origin(ResultOrigin.FLEET, attempt=uuid.uuid4()))


def make_faults(site: Site) -> None:
    """Attempts of the last days that were lost, and a changed driver."""
    for place, attempt in enumerate(Attempt.objects.filter(node=site.node)[:6]):
        ended = timezone.now() - timedelta(days=place)
        state = ("expired", "faulted", "given_back")[place % 3]
        Attempt.objects.filter(pk=attempt.pk, state="leased").update(state=state, ended_at=ended)
    NodeChange.objects.create(node=site.node, words="driver 570.124.06 → 580.65.06")


def test_their_pages_are_clean(chromium: Any, live_site: Any) -> None:
    site, url = live_site
    make_faults(site)
    service.maintain(site.cast.organiser, site.node, "New fans.", timezone.now() + timedelta(hours=5))
    first = start(
        site.cast.organiser, RejudgeScope(site.release, problems=site.release.problems.all()[:2]), "Sums mended."
    )
    judge_shadows()
    first.refresh_from_db()
    apply(site.cast.organiser, first, "The harness accepted wrong sums.")
    second = start(site.cast.organiser, RejudgeScope(site.release, counted_only=True), "A new compiler.")
    judge_shadows(20)
    changed = first.items.exclude(change="same").first()
    act = "admin:fleet_node_act"
    pages = {
        "rejudges": reverse("admin:leaderboard_rejudge_changelist"),
        "rejudge-start": reverse("admin:leaderboard_rejudge_list_act", args=["start"]),
        "rejudge-release": reverse("admin:problems_release_act", args=[site.release.pk, "rejudge"]),
        "rejudge-applied": reverse("admin:leaderboard_rejudge_change", args=[first.pk]),
        "rejudge-running": reverse("admin:leaderboard_rejudge_change", args=[second.pk]),
        "rejudge-drop": reverse("admin:leaderboard_rejudge_act", args=[second.pk, "drop"]),
        "rejudged-evaluation": changed.live.get_absolute_url() if changed else "/",
        "shadow-evaluation": changed.shadow.get_absolute_url() if changed else "/",
        "node": site.node.get_absolute_url(),
        "nodes": reverse("nodes"),
        "node-admin": reverse("admin:fleet_node_change", args=[site.node.pk]),
        **{f"node-{name}": reverse(act, args=[site.node.pk, name]) for name in ("tracks", "maintain", "void")},
    }
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("organiser")
    assert "\n".join(page_faults(visit, pages, FEW_LOOKS)) == ""


def test_the_pages_of_a_round_are_clean(chromium: Any, live_site: Any) -> None:
    site, url = live_site
    Evaluation.objects.live().filter(state__in=OPEN_STATES).update(state="cancelled")
    Release.objects.filter(pk=site.release.pk).update(closes_at=timezone.now())
    place = ReleaseTrack.objects.select_related("release", "track").get(release=site.release, track=site.track)
    pages = {"round-start": reverse("admin:problems_release_act", args=[site.release.pk, "measure-anew"])}
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("organiser")
    faults = page_faults(visit, pages, FEW_LOOKS)
    made = measure_anew.start(site.cast.organiser, place, "Luck.")
    judge_shadows(20)
    measure_anew.pause(site.cast.organiser, made)
    rank_touched()
    measured = made.items.filter(after_verdict="passed").first()
    assert measured is not None
    pages = {
        "round": reverse("admin:leaderboard_rejudge_change", args=[made.pk]),
        "round-resume": reverse("admin:leaderboard_rejudge_act", args=[made.pk, "resume"]),
        "round-board": reverse("board", args=[site.release.slug]),
        "round-evaluation": measured.live.get_absolute_url(),
    }
    assert "\n".join([*faults, *page_faults(visit, pages, FEW_LOOKS)]) == ""


def test_a_rejudge_is_started_watched_and_applied_by_hand(chromium: Any, live_site: Any) -> None:
    site, url = live_site
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("organiser")
    page = visit.page
    visit.open(reverse("admin:problems_release_change", args=[site.release.pk]))
    page.get_by_role("link", name="Rejudge").first.click()
    page.get_by_label("Counted submissions only").check()
    page.locator("[name=reason]").fill("A harness was mended.")
    page.get_by_role("button", name="Rejudge").click()
    page.get_by_text("judged.").first.wait_for()
    judge_shadows()
    page.get_by_text("apply or drop it").wait_for()  # the page refreshes itself
    page.get_by_role("link", name="Apply").click()
    page.locator("[name=reason]").fill("The harness accepted wrong sums.")
    page.get_by_role("button", name="Apply").click()
    page.get_by_text("applied.").wait_for()
    assert Rejudge.objects.get().state == "applied"
    assert visit.complaints == []
