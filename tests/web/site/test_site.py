"""Rules of every page: a strict policy, safe statements, words on errors, and honest health."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.staticfiles import finders
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.curation.front_page import put_on_front_page
from leaderboard.models import Decision
from leaderboard.visibility import SEALED
from leaderboard.web.problems.statement import as_html
from leaderboard.web.results.verdicts import VERDICTS
from problems.models import Release
from runners.wire.protocol import Verdict
from tests import factories
from tests.markup import markup
from tests.web.conftest import Site


def test_no_page_holds_a_script_or_handler_of_its_own(client: Any, site: Site) -> None:
    client.force_login(site.cast.owner)
    for path in {**site.public_pages, **site.own_pages}.values():
        text = markup(client.get(path))
        assert not re.search(r"<script(?![^>]* src=)", text), path
        assert not re.search(r"<[^>]+ (on\w+|style)=", text), path
        assert not re.search(r'(src|href)="(https?:)?//(?!example)', text), f"{path} loads from another site"


def test_the_policy_allows_our_scripts_alone(client: Any, db: Any) -> None:
    policy = [part.strip() for part in client.get("/")["Content-Security-Policy"].split(";")]
    assert "script-src 'self'" in policy
    assert "default-src 'none'" in policy


def test_templates_and_scripts_name_no_other_site() -> None:
    files = [
        *Path(configured.BASE_DIR, "templates").rglob("*.html"),
        *Path(configured.BASE_DIR, "static/podium").iterdir(),
    ]
    assert files
    found = [f for f in files if re.search(r"https?://(?!www\.w3\.org)", f.read_text(encoding="utf-8"))]
    assert found == []


def test_every_static_file_that_a_template_names_is_there() -> None:
    templates = Path(configured.BASE_DIR, "templates").rglob("*.html")
    names = {
        name for file in templates for name in re.findall(r"{% static '([^']+)' %}", file.read_text(encoding="utf-8"))
    }
    assert names
    assert [name for name in names if finders.find(name) is None] == []


def test_vendored_files_have_their_licence_and_their_version_named() -> None:
    vendor = Path(configured.BASE_DIR, "static/vendor")
    readme = (vendor / "README.md").read_text(encoding="utf-8")
    folders = [version for package in vendor.iterdir() if package.is_dir() for version in package.iterdir()]
    assert folders
    for folder in folders:
        assert list(folder.glob("LICENSE*")), folder
        assert f"{folder.parent.name}/{folder.name}/" in readme


@pytest.mark.parametrize(
    ("markdown", "harmful"),
    [
        ("<script>alert(1)</script>", "<script"),
        ("[x](javascript:alert(1))", 'href="javascript'),
        ("![x](https://evil.example/pixel)", "<img"),
        ("<a href='x' onclick='y'>z</a>", "<a href='x'"),
        ("[x](data:text/html;base64,xx)", 'href="data:'),
    ],
)
def test_a_statement_cannot_harm(markdown: str, harmful: str) -> None:
    assert harmful not in as_html(markdown)


def test_a_statement_keeps_its_structure() -> None:
    html = as_html("# Title\n\n- one\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```\nint x;\n```\n[l](https://example.org)")
    for part in ("<h3>Title</h3>", "<li>one</li>", "<td>2</td>", "<code>int x;", 'href="https://example.org"'):
        assert part in html
    assert 'rel="noopener noreferrer"' in html
    assert '<div class="scroll" tabindex="0"><table>' in html


def test_a_header_cell_without_words_is_no_header() -> None:
    html = as_html("| a | |\n| - | - |\n| 1 | 2 |")
    assert "<th>a</th>\n<td></td>" in html
    assert html.count("<th>") == 1


def test_every_verdict_has_a_look() -> None:
    assert set(VERDICTS) == {*Verdict, SEALED}
    symbols = [look.symbol for look in VERDICTS.values()]
    assert len(set(symbols)) == len(symbols), "told apart without colour"


def test_a_missing_page_says_so_in_the_sites_own_words(client: Any, db: Any) -> None:
    answer = client.get("/releases/none/")
    assert answer.status_code == 404
    assert "nothing that you may see" in markup(answer)


def test_the_site_is_alive(client: Any, db: Any) -> None:
    assert client.get("/livez").content == b"ok\n"


def test_a_voided_problem_says_why(client: Any, site: Site) -> None:
    made, organiser = site.release, site.cast.organiser
    problem = made.problems.first()
    Decision.objects.create(
        kind="problem_voided", problem=problem, decided_by=organiser, public_reason="Its test was wrong."
    )
    for path in (reverse("problem", args=[made.slug, problem.slug]), reverse("release_about", args=[made.slug])):
        assert "Its test was wrong." in markup(client.get(path))


def _lead(client: Any) -> str:
    """The front page up to the list of all releases."""
    return markup(client.get("/")).partition("Latest releases")[0]


def test_home_says_how_large_the_board_is_on_what_it_was_measured_and_when(client: Any, site: Site) -> None:
    text = markup(client.get("/"))
    assert site.release.title in text
    for words in ("<b>6</b> problems", "<b>5</b> entrants", "<b>Track cpu-test</b>", "ranked by <b>pass@1</b>"):
        assert words in text
    assert f"last result <b>{site.judged.finished_at:%Y-%m-%d}</b>" in text
    assert "Latest releases" not in text, "there is but one"


def test_homes_links_lead_to_evidence_and_to_the_first_problem(client: Any, site: Site) -> None:
    text = markup(client.get("/"))
    slug, leader = site.release.slug, site.release.standings.get(rank=1)
    first = site.release.problems.order_by("position").first()
    for address in (
        leader.submission.get_absolute_url(), reverse("about") + "#intervals", reverse("decisions", args=[slug]),
        reverse("release_about", args=[slug]) + "#verification", reverse("nodes"), reverse("account_login"),
        reverse("problem", args=[slug, first.slug]), reverse("starter_kit", args=[slug]),
    ):  # fmt: skip
        assert f'href="{address}"' in text, address
        if address != reverse("account_login"):
            assert client.get(address).status_code == 200, address


def test_home_invites_nobody_to_problems_of_a_closed_release(client: Any, site: Site) -> None:
    Release.objects.update(closes_at=timezone.now() - timedelta(hours=1))
    text = markup(client.get("/"))
    assert "Choose a release" in text
    assert "Write and run one solution" not in text


def test_an_organiser_chooses_homes_board_and_hidden_results_lead_only_those_who_see_them(
    client: Any, site: Site, far_future: Any
) -> None:
    later = factories.release(name="later-1", hidden_until=far_future)
    track = factories.offer(later, "cpu-later")
    factories.judged_submission(site.cast.entrant, later, track)
    assert site.release.title in _lead(client), "it has more entrants"
    put_on_front_page(site.cast.organiser, later, track)
    leads = {}
    for user in (None, site.cast.stranger, site.cast.owner, site.cast.organiser):
        client.logout()
        if user:
            client.force_login(user)
        lead = _lead(client)
        leads[str(user)] = "later" if later.title in lead else "first" if site.release.title in lead else ""
    assert leads == {"None": "first", "stranger": "first", "owner": "later", "organiser": "later"}


def test_home_lists_the_latest_releases_and_no_draft(client: Any, site: Site) -> None:
    later = factories.release(name="later-1")
    draft = factories.release(name="draft-1", publish=False)
    text = markup(client.get("/"))
    listed = text.partition("Latest releases")[2]
    assert [f'href="{reverse("board", args=[one.slug])}"' in listed for one in (site.release, later, draft)] == [
        True, True, False,
    ]  # fmt: skip


def test_a_disabled_node_says_why(client: Any, db: Any) -> None:
    node = factories.NodeFactory(disabled_reason="its golden program drifted by 4 %")
    for path in ("/nodes/", node.get_absolute_url()):
        assert "its golden program drifted by 4 %" in markup(client.get(path))


def test_the_about_page_says_what_decides_for_each_kind(client: Any, db: Any) -> None:
    page = markup(client.get(reverse("about")))
    assert "The exit status of a command decides" in page
    assert "A function's answers are compared" in page
    assert "A question's reply is read by the site" in page
