"""Parts for other sites: badges, the framed board, feeds, the sitemap, social cards; and the changelog."""

import importlib
import io
import re
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape
from PIL import Image

from leaderboard.actions.curation import curate
from leaderboard.actions.curation.clarify import answer, ask
from leaderboard.actions.curation.decide import void_problem
from leaderboard.models import Entrant, Standing, Submission
from leaderboard.web.site import worked
from problems.models import Release
from runners.wire.protocol import Verdict
from tests import factories
from tests.markup import markup
from tests.web.conftest import Site

ATOM = "{http://www.w3.org/2005/Atom}"
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def _badge(site: Site, entrant: Entrant) -> str:
    return reverse("badge", args=[site.release.slug, site.track.slug, entrant.slug])


def test_a_badge_shows_rank_and_score_and_is_kept_by_caches(client: Any, site: Site) -> None:
    answered = client.get(_badge(site, site.cast.entrant))
    text = markup(answered)
    ElementTree.fromstring(text)
    standing = site.release.standings.get(entrant=site.cast.entrant)
    assert f"rank {standing.rank} of 5" in text
    assert f"pass@1 {100 * standing.pass_at_1:.1f} %" in text
    assert answered["Content-Type"] == "image/svg+xml"
    assert "public" in answered["Cache-Control"]
    again = client.get(_badge(site, site.cast.entrant), headers={"If-None-Match": answered["ETag"]})
    assert again.status_code == 304


def test_a_badge_names_what_is_not_ranked(client: Any, site: Site) -> None:
    baseline = Entrant.objects.get(slug="reference")
    assert "not ranked" in markup(client.get(_badge(site, baseline)))
    assert client.get(_badge(site, factories.EntrantFactory())).status_code == 404


@pytest.mark.parametrize("signed_in", [False, True])
def test_the_framed_board_may_be_framed_and_tells_nothing_of_the_session(
    client: Any, site: Site, signed_in: bool
) -> None:
    plain = client.get(reverse("framed_board", args=[site.release.slug]))
    if signed_in:
        client.force_login(site.cast.organiser)
    answered = client.get(reverse("framed_board", args=[site.release.slug]))
    assert answered.content == plain.content
    assert "X-Frame-Options" not in answered
    policy = answered["Content-Security-Policy"]
    assert "frame-ancestors *" in policy
    assert "script-src 'none'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert not answered.cookies
    assert "Cookie" not in answered.get("Vary", "")
    assert "Alpha" in markup(answered)
    board = client.get(reverse("board", args=[site.release.slug]))
    assert board["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in board["Content-Security-Policy"]


def test_the_framed_board_has_as_many_rows_as_asked_for(client: Any, site: Site) -> None:
    page = reverse("framed_board", args=[site.release.slug])
    counts = [
        markup(client.get(page, {"rows": n})).count('<th scope="row" class="model">') for n in ("2", "0", "none", "")
    ]
    assert counts == [2, 5, 5, 5]


def test_the_framed_board_says_what_the_board_says(client: Any, site: Site) -> None:
    standing = site.release.standings.get(rank=1)
    Standing.objects.filter(pk=standing.pk).update(rank_low=1, rank_high=4)
    Submission.objects.filter(pk=standing.submission_id).update(measured_where={"hardware": "NVIDIA H100"})
    text = markup(client.get(reverse("framed_board", args=[site.release.slug])))
    first = text.partition("<tbody>")[2].partition("</tr>")[0]
    assert "(1–4)" in first
    assert ">imported</span>" in first
    assert 'class="num ranks"' in first
    assert re.search(r'<th scope="col" class="num ranks"[^>]*>\s*<small>ranked by</small>\s*pass@1', text)


def test_names_are_escaped_wherever_they_are_shared(client: Any, site: Site) -> None:
    nasty = "<script>\"&'</script>"
    Entrant.objects.filter(pk=site.cast.entrant.pk).update(name=nasty)
    Release.objects.filter(pk=site.release.pk).update(title=nasty)
    slug = site.release.slug
    for path in (
        reverse("framed_board", args=[slug]), reverse("release_feed", args=[slug]), reverse("site_feed"),
        reverse("board", args=[slug]), reverse("entrant", args=["alpha"]), reverse("release_about", args=[slug]),
    ):  # fmt: skip
        assert "<script>" not in markup(client.get(path)), path


@pytest.mark.parametrize("change", [{"is_public": False}, {"hidden_until": timezone.now() + timedelta(days=3)}])
def test_hidden_results_are_shared_with_nobody(client: Any, site: Site, change: dict[str, Any]) -> None:
    Release.objects.filter(pk=site.release.pk).update(**change)
    client.force_login(site.cast.organiser)
    slug = site.release.slug
    assert client.get(_badge(site, site.cast.entrant)).status_code == 404
    assert "Alpha" not in markup(client.get(reverse("framed_board", args=[slug])))
    assert "badges" not in markup(client.get(reverse("entrant", args=["alpha"])))
    assert "<iframe" not in markup(client.get(reverse("release_about", args=[slug])))
    addresses = _addresses(client, "entrants")
    assert not any("alpha" in one for one in addresses)


def test_snippets_stand_on_the_pages_of_entrant_and_release(client: Any, site: Site) -> None:
    text = markup(client.get(reverse("entrant", args=["alpha"])))
    assert f"http://127.0.0.1:8000{_badge(site, site.cast.entrant)}" in text
    assert "&lt;iframe src=" in markup(client.get(reverse("release_about", args=[site.release.slug])))


def _addresses(client: Any, section: str) -> list[str]:
    answered = client.get(reverse("sitemap_section", args=[section]))
    assert answered.status_code == 200
    return [str(one.text) for one in ElementTree.fromstring(answered.content).iter(f"{SITEMAP}loc")]


def test_the_sitemap_lists_pages_that_a_stranger_may_open(client: Any, site: Site) -> None:
    factories.release(name="secret-1", is_public=False)
    factories.release(name="draft-1", publish=False)
    index = ElementTree.fromstring(client.get("/sitemap.xml").content)
    assert len(list(index.iter(f"{SITEMAP}loc"))) == 4
    found = [one for section in ("site", "releases", "problems", "entrants") for one in _addresses(client, section)]
    assert not any("secret" in one or "draft" in one for one in found)
    host = "http://127.0.0.1:8000"
    assert all(one.startswith(host) for one in found)
    assert f"{host}/entrants/alpha/" in found
    for one in found:
        assert client.get(one.removeprefix(host)).status_code == 200, one


def test_robots_are_told_where_the_sitemap_is(client: Any, db: Any) -> None:
    text = markup(client.get("/robots.txt"))
    assert "Sitemap: http://127.0.0.1:8000/sitemap.xml" in text
    assert "Disallow: /account/" in text


def _entries(client: Any, path: str) -> list[Any]:
    return list(ElementTree.fromstring(client.get(path).content).iter(f"{ATOM}entry"))


def test_a_release_tells_its_changes_on_a_page_and_in_a_feed(client: Any, site: Site) -> None:
    release, organiser = site.release, site.cast.organiser
    problem = release.problems.first()
    asked = ask(site.cast.stranger, problem, "question", "Is n always even?")
    answer(organiser, asked, "Yes, always.", public_text="May n be odd?")
    void_problem(organiser, problem, "Its test was wrong.")
    titles = ["Published", f"Clarification: {problem.task_id}", f"Erratum: {problem.task_id} voided"]
    page = markup(client.get(reverse("changelog", args=[release.slug])))
    feed = markup(client.get(reverse("release_feed", args=[release.slug])))
    for words in (*titles, "Its test was wrong.", "Yes, always."):
        assert words in page
        assert words in feed
    entries = _entries(client, reverse("release_feed", args=[release.slug]))
    assert len({one.find(f"{ATOM}id").text for one in entries}) == len(entries) == 4
    assert f"{release.title}: Published" in markup(client.get(reverse("site_feed")))


def test_a_new_first_rank_is_told_once(client: Any, site: Site) -> None:
    release, track = site.release, site.track
    factories.rank(release, track)
    page = reverse("changelog", args=[release.slug])
    first = f"New first rank on {track.slug}: "
    assert markup(client.get(page)).count(first) == 1
    made = factories.release(name="led-1")
    place = factories.offer(made)
    alpha, other = site.cast.entrant, site.cast.strangers_entrant
    failed = factories.report(Verdict.TEST_FAILED)
    for entrant, reported in ((other, failed), (alpha, factories.report())):
        factories.judged_submission(entrant, made, place, lambda _, reported=reported: reported)
    text = markup(client.get(reverse("changelog", args=[made.slug])))
    assert [text.count(f"New first rank on {place.slug}: {escape(one.name)}") for one in (other, alpha)] == [1, 1]
    Release.objects.filter(pk=made.pk).update(hidden_until=timezone.now() + timedelta(days=3))
    assert first not in markup(client.get(reverse("release_feed", args=[made.slug])))


def test_the_pages_name_their_feeds(client: Any, site: Site) -> None:
    text = markup(client.get(reverse("board", args=[site.release.slug])))
    feeds = re.findall(r'<link rel="alternate" type="application/atom\+xml"[^>]*href="([^"]+)"', text)
    assert feeds == [reverse("site_feed"), reverse("release_feed", args=[site.release.slug])]


def test_a_private_releases_changes_are_its_own(client: Any, site: Site) -> None:
    made = factories.release(is_public=False)
    client.force_login(site.cast.organiser)
    assert client.get(reverse("release_feed", args=[made.slug])).status_code == 404
    assert made.title not in markup(client.get(reverse("site_feed")))
    page = markup(client.get(reverse("changelog", args=[made.slug])))
    assert "Published" in page
    assert "og:image" not in page


def test_a_frozen_release_says_so(client: Any, site: Site) -> None:
    site.running.evaluations.filter(state__in=["queued", "leased"]).update(state="cancelled")
    curate.freeze(site.cast.organiser, site.release)
    assert "Frozen" in markup(client.get(reverse("changelog", args=[site.release.slug])))


def test_a_card_is_a_picture_of_the_board(client: Any, site: Site) -> None:
    answered = client.get(reverse("card", args=[site.release.slug]))
    assert answered["Content-Type"] == "image/png"
    assert Image.open(io.BytesIO(answered.content)).size == (1200, 630)
    text = markup(client.get(reverse("board", args=[site.release.slug])))
    assert f'property="og:image" content="http://127.0.0.1:8000/releases/{site.release.slug}/card.png"' in text
    kept = client.get(reverse("card", args=[site.release.slug]), headers={"If-None-Match": answered["ETag"]})
    assert kept.status_code == 304


def test_a_card_bears_long_and_odd_names(client: Any, site: Site) -> None:
    Release.objects.filter(pk=site.release.pk).update(title="Ünlang\x07 " * 24)
    Entrant.objects.filter(pk=site.cast.entrant.pk).update(name="W" * 150)
    assert client.get(reverse("card", args=[site.release.slug])).status_code == 200


def test_the_coverage_map_counts_and_narrows(client: Any, site: Site) -> None:
    levels = ["easy", "hard", "easy"]

    def problem(n: int) -> dict[str, Any]:
        fields = factories.example_problem(n)
        fields["metadata"]["difficulty"] = levels[n]
        return fields

    made = factories.release(problem=problem)
    page = reverse("coverage", args=[made.slug])
    text = markup(client.get(page))
    assert f'<a href="{reverse("problems", args=[made.slug])}?group=strings&amp;difficulty=easy">2</a>' in text
    assert "heat-5" in text
    assert "1 of 3 problems" in markup(client.get(page, {"difficulty": "hard"}))
    assert "No problem fits" in markup(client.get(page, {"difficulty": "none"}))


def test_the_contents_of_the_about_page_lead_to_its_parts(client: Any, db: Any) -> None:
    text = markup(client.get(reverse("about")))
    anchors = re.findall(r'<a href="#([^"]+)"', text.partition("</nav>\n")[2] or text)
    assert {"pass-at-k", "speedup", "intervals"} <= set(anchors)
    assert [one for one in anchors if f'id="{one}"' not in text] == []


def test_every_worked_example_names_a_function_of_the_ranking_code(client: Any, db: Any) -> None:
    text = markup(client.get(reverse("about")))
    for name, one in worked.examples().items():
        module, _, function = one.function.rpartition(".")
        assert module.startswith("scoring.")
        assert callable(getattr(importlib.import_module(module), function)), name
        assert escape(one.result) in text


def test_a_worked_result_is_what_the_function_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worked, "pass_at_k", lambda n, c, k: 0.25)
    assert worked._pass_at_k().result == "pass@2 = 0.250"
