"""Rules of every page: a strict policy, safe statements, words on errors, and honest health."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.staticfiles import finders
from django.urls import reverse

from leaderboard.models import Decision
from leaderboard.visibility import SEALED
from leaderboard.web.problems.statement import as_html
from leaderboard.web.results.verdicts import VERDICTS
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


def test_home_leads_with_the_latest_release(client: Any, site: Site) -> None:
    text = markup(client.get("/"))
    assert site.release.title in text
    assert "top ten of 5" in text
    assert "Latest releases" not in text, "there is but one"


def test_home_leads_with_the_latest_release_that_has_results(client: Any, site: Site) -> None:
    later = factories.release(name="later-1")
    factories.offer(later)
    lead = markup(client.get("/")).partition("Latest releases")[0]
    assert reverse("board", args=[site.release.slug]) in lead
    assert later.title not in lead


def test_home_leads_with_hidden_results_only_for_those_who_see_them(client: Any, site: Site, far_future: Any) -> None:
    later = factories.release(name="later-1", hidden_until=far_future)
    factories.judged_submission(site.cast.entrant, later, factories.offer(later))
    leads = {}
    for user in (None, site.cast.stranger, site.cast.owner, site.cast.organiser):
        client.logout()
        if user:
            client.force_login(user)
        lead = markup(client.get("/")).partition("Latest releases")[0]
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
