"""The page of a release's audit: counts for everybody, parts of the reference for organisers alone."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.actions.curation import audit as auditing
from leaderboard.actions.curation import curate
from leaderboard.models import AuditEntry, AuditReason, Evaluation
from problems.models import Release
from tests.actions.curation.test_audit import draft as unaudited
from tests.actions.curation.test_audit import verified, work_off
from tests.admin.pages import act, signed_in
from tests.fleet.site import Site
from tests.markup import markup

pytestmark = pytest.mark.django_db


@pytest.fixture
def site(settings: Any) -> Site:
    settings.AUDIT_MUTANTS = 6
    return Site.make()


def public(site: Site, passing: str) -> Release:
    release = verified(site, passing)
    if passing != "never":
        auditing.give_reason(site.organiser, release.problems.get(), "It is a <b>smoke</b> test.")
    curate.publish(site.organiser, release)
    Release.objects.filter(pk=release.pk).update(is_public=True)
    return release


def page(browser: Client, release: Release) -> str:
    answer = browser.get(reverse("audit", args=[release.slug]))
    assert answer.status_code == 200
    return " ".join(markup(answer).split())


def test_a_stranger_reads_counts_and_no_part_of_the_reference(site: Site) -> None:
    text = page(Client(), public(site, "    pass"))
    assert "2 of 3 answers that ran were rejected" in text
    assert "1 passed" in text
    assert "body emptied" in text
    assert "line 1: scale" not in text
    assert "It is a &lt;b&gt;smoke&lt;/b&gt; test." in text


def test_an_organiser_reads_which_part_and_opens_its_evaluation(site: Site) -> None:
    text = page(signed_in(site.organiser), public(site, "    pass"))
    found = Evaluation.objects.get(sample__audit_mutant__kind="body emptied")
    assert f'<a href="/evaluations/{found.pk}/">body emptied solution.py line 1: scale</a>' in text


def test_the_reason_stands_on_the_problems_page(site: Site) -> None:
    release = public(site, "    pass")
    answer = Client().get(reverse("problem", args=[release.slug, release.problems.get().slug]))
    assert "It ranks all the same. It is a &lt;b&gt;smoke&lt;/b&gt; test." in markup(answer)


def test_an_audit_without_survivors_and_one_that_was_not_made(site: Site) -> None:
    text = page(Client(), public(site, "never"))
    assert "3 of 3 answers that ran were rejected" in text
    assert "all rejected" in text
    assert "No audit of this release was made." in page(Client(), site.release)


def test_a_drafts_audit_is_the_organisers(site: Site) -> None:
    release = unaudited(site)
    assert Client().get(reverse("audit", args=[release.slug])).status_code == 404
    assert "not audited" in page(signed_in(site.organiser), release)


def test_an_organiser_has_a_published_release_audited(site: Site) -> None:
    site.submit({"a/1": ["exit 0"]})
    answer = act(site.organiser, "problems_release", "audit", site.release, track=site.track.pk)
    assert "has nothing to audit on cpu-test" in markup(answer)
    release = public(site, "never")
    answer = act(site.organiser, "problems_release", "audit", release, track=site.track.pk)
    assert "has nothing to audit" in markup(answer)


def test_the_act_shows_the_page_of_the_audit(site: Site, settings: Any) -> None:
    from leaderboard.actions.curation.verify import verify

    settings.AUDIT_MUTANTS = 0
    release = unaudited(site)
    verify(site.organiser, release, site.track)
    work_off()
    curate.publish(site.organiser, release)
    answer = act(site.organiser, "problems_release", "audit", release, track=site.track.pk)
    assert (answer.status_code, answer["Location"]) == (302, f"/releases/{release.slug}/audit/")
    assert AuditEntry.objects.filter(action="audit").count() == 1


def test_an_organiser_gives_a_reason_in_the_admin(site: Site) -> None:
    release = verified(site, "    pass")
    task = release.problems.get()
    said = page(signed_in(site.organiser), release)
    assert reverse("admin:problems_problem_act", args=[task.pk, "audit-reason"]) in said
    act(site.organiser, "problems_problem", "audit-reason", task, reason="A smoke test.")
    assert AuditReason.objects.get().public_reason == "A smoke test."


def test_nobody_else_gives_a_reason(site: Site) -> None:
    task = verified(site, "    pass").problems.get()
    answer = signed_in(site.owner).post(
        reverse("admin:problems_problem_act", args=[task.pk, "audit-reason"]), {"reason": "Mine."}
    )
    assert answer.status_code in (302, 403)
    assert not AuditReason.objects.exists()
