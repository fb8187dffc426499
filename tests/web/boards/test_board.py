"""The board: ranks, filters, sorting, missing figures, and exports that hold exactly what is shown."""

import csv
import io
import re
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.models import ReleaseTrack, Standing, Submission
from leaderboard.site import numerals
from tests import factories
from tests.estimates import change
from tests.markup import markup
from tests.web.conftest import Site

pytestmark = pytest.mark.both_databases  # where NULL stands in an order differs


def _names(html: str) -> list[str]:
    """The models of the board from top to bottom."""
    return re.findall(r'<a href="/entrants/[^"]+/">([^<]+)</a>', html)


def _text(client: Any, path: str) -> str:
    return markup(client.get(path))


@pytest.fixture
def board(site: Site) -> str:
    return reverse("board", args=[site.release.slug])


def test_ranks_follow_the_primary_metric_whatever_the_sort(client: Any, site: Site, board: str) -> None:
    by_rank = _names(_text(client, board))
    assert by_rank[0] == "Reference", "the baseline is pinned"
    falling = _names(_text(client, board + "?sort=-model"))[1:]
    assert falling == sorted(by_rank[1:], key=str.casefold, reverse=True)
    ranks = dict(Standing.objects.filter(release=site.release).values_list("entrant__name", "rank"))
    row = re.search(
        r"<b>(\d+)</b>[^<]*<small>[^<]*</small></td><th[^>]*>(?:(?!</tr>).)*>Delta mini<",
        _text(client, board + "?sort=model"),
    )
    assert row is not None
    assert int(row[1]) == ranks["Delta mini"]


def test_a_board_says_when_it_was_ranked_and_whether_newer_results_wait(client: Any, site: Site, board: str) -> None:
    place = ReleaseTrack.objects.get(release=site.release, track=site.track)
    ranked_at = timezone.now() - timedelta(hours=1)
    ReleaseTrack.objects.filter(pk=place.pk).update(ranked_at=ranked_at, touched_at=ranked_at)
    html = _text(client, board)
    assert f'from all results up to <time datetime="{ranked_at.isoformat()}"' in html
    assert "wait to be ranked" not in html
    ReleaseTrack.objects.filter(pk=place.pk).update(touched_at=timezone.now())
    assert "Newer results wait to be ranked." in _text(client, board)


def test_every_column_sorts_both_ways_with_missing_last(client: Any, site: Site, board: str) -> None:
    change(Standing.objects.filter(entrant__name="Gamma"), speedup={"value": None})
    assert _names(_text(client, board + "?sort=speedup"))[-1] == "Gamma"
    assert _names(_text(client, board + "?sort=-speedup"))[-1] == "Gamma"
    html = _text(client, board + "?sort=-speedup")
    assert 'aria-sort="descending"' in html
    assert 'k=4&amp;sort=speedup"' in html, "clicked again it turns round"


def test_ties_share_a_rank_and_intervals_are_shown(client: Any, board: str) -> None:
    html = _text(client, board)
    assert html.count('<b class="medal second">2</b>') == 2
    assert re.search(r"<b class=\"medal second\">2</b> <small>\(\d+–\d+\)</small>", html)


def test_a_k_beyond_the_samples_says_so(client: Any, board: str) -> None:
    row = _text(client, board).split('class="baseline"')[1].split("</tr>")[0]
    assert "needs 4 samples" in row


def test_an_incomplete_standing_is_shown_and_not_ranked(client: Any, site: Site, board: str) -> None:
    Standing.objects.filter(entrant__name="Alpha").update(
        rank=None, is_incomplete=True, incomplete_reason="2 samples not yet decided"
    )
    html = _text(client, board)
    assert _names(html)[-1] == "Alpha"
    assert "2 samples not yet decided" in html


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("q=delta", ["Delta mini"]),
        ("q=another+LARGE", ["Beta large"]),
        ("verified=1", ["Reference", "Alpha"]),
        ("org=Another+Lab&weights=open", ["Reference", "Beta large", "Delta mini"]),
        ("nobase=1&verified=1", ["Alpha"]),
    ],
)
def test_filters_choose_rows(query: str, names: list[str], client: Any, board: str) -> None:
    assert _names(_text(client, f"{board}?{query}")) == names


def test_filters_that_fit_nobody_offer_a_way_back(client: Any, board: str) -> None:
    html = _text(client, board + "?q=nobody+is+called+this")
    assert "No model fits these filters" in html
    assert "Show all 5" in html


def test_counts_stand_beside_the_filters(client: Any, board: str) -> None:
    html = _text(client, board)
    assert "Another Lab (3)" in html
    assert "Verified only (1)" in html
    assert "Hide baselines (1)" in html


def test_a_group_gets_its_own_column(client: Any, board: str) -> None:
    assert "group%3Astrings" not in _text(client, board)
    html = _text(client, board + "?group=strings")
    assert "group%3Astrings" in html
    assert "group%3Asums" not in html


def test_csv_and_json_hold_the_rows_shown_as_plain_numbers(client: Any, site: Site) -> None:
    query = "?weights=open&sort=-speedup&nobase=1"
    shown = _names(_text(client, reverse("board", args=[site.release.slug]) + query))
    answer = client.get(reverse("board_csv", args=[site.release.slug]) + query)
    rows = list(csv.DictReader(io.StringIO(markup(answer))))
    assert [row["model"] for row in rows] == shown
    assert 0 <= float(rows[0]["pass@1"]) <= 1
    assert float(rows[0]["speedup_low"]) <= float(rows[0]["speedup_high"])
    records = client.get(reverse("board_json", args=[site.release.slug]) + query).json()["rows"]
    assert [record["model"] for record in records] == shown


def test_exports_hold_all_pages(client: Any, db: Any) -> None:
    made = factories.release()
    factories.standings(made, factories.offer(made), 130)
    html = _text(client, reverse("board", args=[made.slug]))
    assert len(_names(html)) == 100
    assert 'k=2&amp;page=2"' in html
    assert len(_names(_text(client, reverse("board", args=[made.slug]) + "?page=2"))) == 30
    assert client.get(reverse("board_csv", args=[made.slug])).content.count(b"\r\n") == 131


def test_a_name_cannot_become_markup_or_a_formula(client: Any, site: Site, board: str) -> None:
    entrant = site.cast.entrant
    entrant.name, entrant.organisation = '=HYPERLINK("x")<script>alert(1)</script>', '"><img src=x>'
    entrant.save()
    html = _text(client, board)
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    rows = csv.DictReader(io.StringIO(markup(client.get(reverse("board_csv", args=[site.release.slug])))))
    assert any(row["model"].startswith("'=HYPERLINK") for row in rows)


def test_names_that_a_board_does_not_have_are_dropped(client: Any, board: str) -> None:
    html = _text(client, board + "?utm_source=letter&k=&group=&as_of=")
    assert "utm_source" not in html
    assert _names(html) == _names(_text(client, board))


UNKNOWN = ["track=zzz", "k=9", "k=two", "group=nope", "groups=nope", "groups=sums,nope", "tags=nope", "difficulty=nope",
           "as_of=foo", "as_of=2999-01-01", "weights=x", "verified=yes", "nobase=0", "hide=nope", "sort=-nonsense",
           "page=-3", "page=x"]  # fmt: skip


@pytest.mark.parametrize("query", UNKNOWN)
@pytest.mark.parametrize("page", ["board", "board_csv", "board_json"])
def test_a_value_that_does_not_exist_is_refused_in_words(client: Any, site: Site, page: str, query: str) -> None:
    answer = client.get(reverse(page, args=[site.release.slug]) + f"?{query}")
    assert answer.status_code == 400
    name, _, value = query.partition("=")
    words = markup(answer)
    is_named = f"{name} “" in words and "” is not known." in words
    assert is_named or value in words or "A page is a whole number" in words


def test_a_refusal_says_what_there_is_and_escapes_what_it_repeats(client: Any, site: Site, board: str) -> None:
    words = markup(client.get(board + "?track=<b>zzz</b>"))
    assert f"Known here: {site.track.slug}." in words
    assert "<b>zzz" not in words
    several = markup(client.get(board + "?groups=nope"))
    assert "groups “nope” is not known. Known here: strings, sums." in several


@pytest.mark.parametrize("page", ["problems", "charts", "release_flags"])
def test_other_pages_of_a_release_refuse_an_unknown_track_or_order(client: Any, site: Site, page: str) -> None:
    asked = {"problems": "sort=nope", "charts": "metric=nope", "release_flags": "ruling=nope"}[page]
    assert client.get(reverse(page, args=[site.release.slug]) + f"?{asked}").status_code == 400
    assert client.get(reverse(page, args=[site.release.slug]) + "?utm_source=x").status_code == 200


def test_a_row_is_on_the_board_of_its_date(client: Any, site: Site) -> None:
    """A row's date is the later of two days: its submission finished, and it was chosen to count."""
    stored = site.release.standings.get(entrant=site.cast.entrant).submission
    day = timezone.now() - timedelta(days=3)
    Submission.objects.filter(pk=stored.pk).update(created_at=day - timedelta(days=4), finished_at=day)
    stored.problem_scores.update(last_result_at=day)
    stored.choosings.create(track=site.track, at=day - timedelta(days=4))
    address = reverse("board_json", args=[site.release.slug])

    def dates(query: str) -> dict[str, str]:
        return {row["entrant"]: row["date"] for row in client.get(address + query).json()["rows"]}

    slug = site.cast.entrant.slug
    assert dates("")[slug] == f"{day:%Y-%m-%d}"
    assert dates(f"?as_of={day:%Y-%m-%d}") == {slug: f"{day:%Y-%m-%d}"}
    stored.choosings.create(track=site.track)
    assert dates("")[slug] == f"{timezone.now():%Y-%m-%d}"
    assert dates(f"?as_of={day:%Y-%m-%d}") == {slug: f"{day:%Y-%m-%d}"}


def test_a_release_without_results_says_what_to_do(client: Any, db: Any) -> None:
    made = factories.release()
    assert "not offered on any track yet" in _text(client, reverse("board", args=[made.slug]))
    factories.offer(made)
    assert "Make the first" in _text(client, reverse("board", args=[made.slug]))


def test_an_older_revision_links_to_the_newer(client: Any, db: Any) -> None:
    old = factories.release()
    new = factories.release(n_problems=4)
    assert new.previous == old
    assert reverse("board", args=[new.slug]) in _text(client, reverse("board", args=[old.slug]))


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0, "0"), (0.0123456, "0.0123"), (12345.6, "12,346"), (1e-9, "0.00000000100"), (99.96, "100.0")],
)
def test_numbers_keep_their_significant_digits(value: float | None, text: str) -> None:
    assert numerals.significant(value) == text


@pytest.mark.parametrize(("ms", "text"), [(0.01234, "12.34 µs"), (3.5, "3.500 ms"), (12_345.0, "12.35 s"), (None, "–")])
def test_times_choose_their_unit(ms: float | None, text: str) -> None:
    assert numerals.milliseconds(ms) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(5, "5 s"), (200, "3 min 20 s"), (3900, "1 h 5 min"), (90_000, "1 d 1 h")]
)
def test_durations_use_two_units(seconds: int, text: str) -> None:
    assert numerals.duration(seconds) == text
