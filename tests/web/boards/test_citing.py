"""A board is cited with its address, author, track and day; CSV and JSON say what they are of."""

import csv
import io
import re
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.urls import reverse

from leaderboard.boards.columns import column_of
from leaderboard.boards.problem_choice import ProblemChoice
from leaderboard.boards.query import BoardQuery
from leaderboard.web.boards import snippets
from problems.models import Release
from scoring.metrics import SHOWN
from tests.markup import markup
from tests.web.conftest import Site

DAY = datetime(2026, 11, 23, tzinfo=UTC).date()


def _of(made: Release, **changes: Any) -> Release:
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def test_a_citation_names_address_author_track_and_day(site: Site) -> None:
    made = _of(site.release, authors="Ada Lovelace and Grace Hopper")
    query = BoardQuery(track="h200", k=4, default_k=4, search="words", sort="-speedup", page=2).cited(DAY)
    text = snippets.board_citation(made, query)
    assert text.startswith(f"@misc{{podium-{made.slug}-h200-2026-11-23,\n")
    assert re.search(r"author +\= \{Ada Lovelace and Grace Hopper\}", text)
    address = f"{settings.SITE_URL}/releases/{made.slug}/?track=h200&k=4&as_of=2026-11-23"
    assert f"= {{{address}}}" in text
    assert "words" not in text
    assert "sort=" not in text
    assert made.digest in text
    assert "track h200, ranked by pass@1, as of 2026-11-23 UTC" in text


def test_a_citation_says_over_which_problems_the_board_is_ranked(site: Site) -> None:
    query = BoardQuery(track="h200", choice=ProblemChoice(groups=("sums",))).cited(DAY)
    assert "over group sums, as of" in snippets.board_citation(site.release, query)


def test_a_citation_escapes_what_tex_would_run(site: Site) -> None:
    text = snippets.release_citation(_of(site.release, title=r"50% \input{/etc/passwd} & $x_1^2$ ~#", authors=""))
    assert r"50\% \textbackslash{}input\{/etc/passwd\} \& \$x\_1\textasciicircum{}2\$ \textasciitilde{}\#" in text
    assert re.search(r"author +\= \{\{Podium at [^}]+\}\}", text)
    opened = len(re.findall(r"(?<!\\)\{", text))
    assert opened == len(re.findall(r"(?<!\\)\}", text))


def test_the_page_cites_the_board_that_it_shows(client: Any, site: Site) -> None:
    path = reverse("board", args=[site.release.slug])
    today = datetime.now(UTC).date()
    newest = markup(client.get(path)).split('id="citation"')[1]
    assert f"as_of={today}" in newest.split("</code>")[0]
    past = markup(client.get(f"{path}?as_of=2026-01-02")).split('id="citation"')[1]
    assert "as_of=2026-01-02" in past.split("</code>")[0]


def test_csv_and_json_describe_themselves(client: Any, site: Site) -> None:
    made, query = site.release, "?as_of=2999-01-01"
    assert client.get(reverse("board_csv", args=[made.slug]) + query).status_code == 400
    query = f"?as_of={datetime.now(UTC).date()}"
    rows = list(csv.DictReader(io.StringIO(markup(client.get(reverse("board_csv", args=[made.slug]) + query)))))
    told = client.get(reverse("board_json", args=[made.slug]) + query).json()
    api = client.get(f"/api/v1/releases/{made.slug}/board{query}").json()
    facts = {
        "release": made.slug, "revision": made.revision, "digest": made.digest, "track": site.track.slug,
        "metric": made.primary_metric, "timing_policy": made.timing_policy, "as_of": query[7:],
    }  # fmt: skip
    for name, value in facts.items():
        assert told[name] == api[name] == value, name
        assert {row[name] for row in rows} == {str(value)}, name
    assert told["address"].endswith(f"/releases/{made.slug}/?track={site.track.slug}&k=4&as_of={query[7:]}")
    newest = client.get(reverse("board_json", args=[made.slug])).json()
    assert datetime.fromisoformat(newest["ranked_at"]).tzinfo is not None


def test_every_column_of_a_metric_has_an_interval_or_says_why_not(client: Any, site: Site) -> None:
    for metric in SHOWN:
        column = column_of(metric)
        assert (column.bounds is None) == bool(column.no_interval), metric.name
    told = client.get(reverse("board_json", args=[site.release.slug])).json()
    for column in told["columns"]:
        if column["unit"] in ("%", "×") and column["key"] != "unwitnessed":
            has = any(f"{column['key']}_low" in row for row in told["rows"])
            assert has != bool(column["no_interval"]), column["key"]
    page = markup(client.get(reverse("board", args=[site.release.slug])))
    assert "No interval: It is a point of the curve of fast_p" in page


def test_the_about_page_cites_the_problems(client: Any, site: Site) -> None:
    text = markup(client.get(reverse("release_about", args=[site.release.slug])))
    assert f"@misc{{podium-{site.release.slug}," in text.split('id="citation"')[1]
