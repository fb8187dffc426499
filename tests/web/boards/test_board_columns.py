"""Rows and columns of a board: bases of means, reasons for dashes, hidden columns, details, new entrants."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.models import Standing, Submission
from problems.models import Release
from tests.estimates import change, estimates
from tests.markup import markup
from tests.web.conftest import Site

pytestmark = pytest.mark.both_databases


def board(client: Any, site: Site, query: str = "") -> str:
    return str(markup(client.get(reverse("board", args=[site.release.slug]) + query)))


def test_an_uneven_interval_is_written_by_its_ends(client: Any, site: Site) -> None:
    change(Standing.objects.filter(entrant__slug="alpha"), speedup={"value": 1.87, "low": 1.29, "high": 3.01})
    html = board(client, site)
    assert "1.9×<small>1.3–3.0</small>" in html


def test_a_mean_over_few_problems_says_over_how_many(client: Any, site: Site) -> None:
    changed = {"correct_speedup": {"problems": 4}, "speedup": {"problems": 6}}
    change(Standing.objects.filter(entrant__slug="alpha"), **changed)
    assert "<small>4 of 6</small>" in board(client, site)
    rows = client.get(reverse("board_json", args=[site.release.slug])).json()["rows"]
    assert [row["correct_problems"] for row in rows if row["entrant"] == "alpha"] == [4]


def test_columns_that_would_be_all_dashes_are_left_out(client: Any, site: Site) -> None:
    assert "fast₁" in board(client, site)
    Standing.objects.update(estimates=estimates({"pass@1": (0.5, 0.4, 0.6)}))
    html = board(client, site)
    for title in ("fast₁", "Speedup", "GFLOPS"):
        assert f">{title}" not in html
    assert "pass@4 is not shown: no model has 4 samples of each problem." in html


def test_reasons_for_dashes_are_listed_for_those_who_cannot_point(client: Any, site: Site) -> None:
    change(Standing.objects.filter(entrant__slug="alpha"), correct_speedup={"value": None})
    assert "<li>Speedup of passes: No sample passed with a time that may rank.</li>" in board(client, site)


def test_hidden_columns_leave_page_and_exports(client: Any, site: Site) -> None:
    query = "?hide=fast_1&hide=samples"
    html = board(client, site, query)
    assert ">fast₁&nbsp;" not in html
    assert "hide=fast_1&amp;hide=samples&amp;sort=-speedup" in html, "links keep it"
    rows = client.get(reverse("board_json", args=[site.release.slug]) + query).json()["rows"]
    assert not {"fast_1", "samples"} & rows[0].keys()


def test_counts_beside_a_filter_are_what_it_would_leave(client: Any, site: Site) -> None:
    html = board(client, site, "?org=Another+Lab")
    assert "Verified only (0)" in html
    assert "open (2)" in html
    assert "Another Lab (3)" in html, "its own filter does not narrow its counts"


def test_the_details_of_a_row_have_its_groups_and_reasons(client: Any, site: Site) -> None:
    Standing.objects.filter(entrant__slug="gamma").update(rank=None, incomplete_reason="1 sample not yet decided")
    fragment = markup(client.get(reverse("board_row", args=[site.release.slug, "gamma"])))
    groups = Standing.objects.get(entrant__slug="gamma").groups
    for name, figures in groups.items():
        assert f'aria-label="{name}: ' in fragment
        assert f"{figures['solved']}/{figures['problems']}" in fragment
    assert "1 sample not yet decided" in fragment
    assert fragment in re.sub(r'colspan="\d+"', 'colspan="2"', board(client, site, "?open=gamma"))
    assert client.get(reverse("board_row", args=[site.release.slug, "nobody"])).status_code == 404


def test_a_name_cannot_become_markup_in_details(client: Any, site: Site) -> None:
    Standing.objects.filter(entrant__slug="gamma").update(
        groups={"<b>": {"solved": 1, "problems": 2, "pass_at_1": 0.5}}
    )
    fragment = markup(client.get(reverse("board_row", args=[site.release.slug, "gamma"])))
    assert "<b>" not in fragment
    assert "&lt;b&gt;" in fragment


def test_a_late_entrant_of_an_older_release_is_new(client: Any, site: Site) -> None:
    assert ">new</span>" not in board(client, site), "on a new release everybody is"
    now = timezone.now()
    Release.objects.filter(pk=site.release.pk).update(published_at=now - timedelta(days=60))
    Submission.objects.update(created_at=now - timedelta(days=50))
    Submission.objects.filter(entrant__slug="gamma").update(created_at=now - timedelta(days=3))
    assert board(client, site).count(">new</span>") == 1
