"""Two samples line by line, for those who may read both; and code as pages colour it."""

import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from zeal import zeal_context

from leaderboard.models import Entrant, Submission
from leaderboard.web.problems import highlight
from tests import factories
from tests.factories import Cast
from tests.markup import markup

FIRST, SECOND = "exit 0 # one", "exit 0 # two"


@pytest.fixture
def pair(cast: Cast) -> tuple[Submission, Submission]:
    """The owner's submission, which is not published, and the stranger's, which is."""
    made = factories.release()
    track = factories.offer(made)
    Entrant.objects.filter(pk=cast.entrant.pk).update(publishes_code=False)
    Entrant.objects.filter(pk=cast.strangers_entrant.pk).update(publishes_code=True)
    one, other = (
        factories.submission(entrant, made, track, script=script)
        for entrant, script in ((cast.entrant, FIRST), (cast.strangers_entrant, SECOND))
    )
    factories.judge(one)
    factories.judge(other)
    return Submission.objects.get(pk=one.pk), Submission.objects.get(pk=other.pk)


def address(**query: Any) -> str:
    return reverse("compare_code", query=query)


def keys(pair: tuple[Submission, Submission]) -> tuple[str, str]:
    first, second = (one.evaluations.order_by("pk").first() for one in pair)
    return str(first.pk), str(second.pk)


def test_a_team_compares_its_code_with_published_code(
    client: Any, cast: Cast, pair: tuple[Submission, Submission]
) -> None:
    client.force_login(cast.owner)
    a, b = keys(pair)
    text = markup(client.get(address(a=a, b=b)))
    assert FIRST in text
    assert SECOND in text
    assert '<tr class="changed">' in text
    by_sample = f"sample-{pair[0].samples.order_by('problem__position').first().pk}"
    assert FIRST in markup(client.get(address(a=by_sample, b=b)))


def test_more_samples_cost_no_more_queries(
    client: Any, cast: Cast, pair: tuple[Submission, Submission], django_assert_num_queries: Any
) -> None:
    client.force_login(cast.owner)
    a, b = keys(pair)
    with CaptureQueriesContext(connection) as before:
        client.get(address(a=a, b=b))
    n_before = len(before)
    for n in range(4):
        more = factories.submission(
            cast.entrant, pair[0].release, pair[0].tracks.get(), script=f"exit 0 # {n}", n_samples=4
        )
        factories.judge(more)
    with zeal_context():
        client.get(address(a=a))
    with django_assert_num_queries(n_before):
        assert markup(client.get(address(a=a, b=b))).count("<option") > 10


@pytest.mark.parametrize("who", [None, "stranger"])
def test_unpublished_code_is_not_there_for_others(
    client: Any, cast: Cast, pair: tuple[Submission, Submission], who: str | None
) -> None:
    if who:
        client.force_login(getattr(cast, who))
    a, b = keys(pair)
    sample = f"sample-{pair[0].samples.first().pk}"
    for query in ({"a": a, "b": b}, {"a": b, "b": a}, {"a": a}, {"a": sample, "b": b}):
        assert client.get(address(**query)).status_code == 404
    offered = markup(client.get(address(a=b)))
    assert "Alpha, submission" not in offered
    problem = pair[0].release.problems.order_by("position").first()
    form = markup(client.get(address(release=pair[0].release.slug, problem=problem.slug)))
    assert "Alpha, submission" not in form
    assert f'<option value="{b}">' in form


@pytest.mark.parametrize("key", ["x", "sample-", "-1", "9" * 30, "0"])
def test_what_names_no_sample_is_not_there(client: Any, cast: Cast, key: str) -> None:
    assert client.get(address(a=key)).status_code == 404


def test_the_ranking_and_an_evaluation_lead_there(client: Any, cast: Cast, pair: tuple[Submission, Submission]) -> None:
    client.force_login(cast.owner)
    evaluation = pair[0].evaluations.order_by("pk").first()
    assert f'href="/compare/code/?a={evaluation.pk}"' in markup(client.get(evaluation.get_absolute_url()))
    page = reverse("problem", args=[pair[0].release.slug, evaluation.problem.slug])
    assert "Compare two samples line by line" in markup(client.get(page))


def test_code_is_coloured_escaped_and_every_line_has_an_anchor() -> None:
    text = '__global__ void f() { /* <b>\n */ g("</code>"); }\n\n// é\n'
    html = highlight.source("src/a b.cu", text, highlight.Budget())
    assert 'id="src/a_b.cu-L2"' in html
    assert 'href="#src/a_b.cu-L2"' in html
    assert highlight.anchor("src/a b.cu", 2) == "src/a_b.cu-L2"
    assert '<span class="kp">__global__</span>' in html
    assert "<b>" not in html
    assert html.count('class="line"') == 4
    budget = highlight.Budget()
    again = [highlight.source("a.cu", "int a;", budget) for _ in range(2)]
    assert [" id=" in one for one in again] == [True, False], "an id is on a page once"
    plain = unescape(re.sub("<[^>]+>", "", html))
    assert plain == text.removesuffix("\n")


@pytest.mark.parametrize("path", ["a.cu", "a.py", "a.json", "a.txt", "Makefile"])
@pytest.mark.parametrize(
    "text", ["", "\n", "\n\n x", "a\r\nb\rc", "'''\"\"\"\n{\\", "#if 0\n", "\x00\x0b\u2028", "x" * 200]
)
def test_no_line_is_lost_or_added(path: str, text: str) -> None:
    lines = highlight.lines_of(highlight.ending_of(path), text)
    normal = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert [unescape(re.sub("<[^>]+>", "", line)) for line in lines] == normal


def test_a_long_text_and_a_page_of_many_files_stay_plain() -> None:
    long = "int a;\n" * (highlight.MAX_CHARACTERS // 7 + 1)
    assert "kt" not in "".join(highlight.lines_of("cu", long))
    budget = highlight.Budget()
    pages = [highlight.source(f"{n}.cu", "int a;\n" * 9000, budget) for n in range(4)]
    assert ['class="kt"' in page for page in pages] == [True, True, False, False]


def test_colouring_ends_after_its_time_and_numbering_after_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highlight, "MAX_SECONDS", 0.0)
    lines = highlight.lines_of("cu", "int alone;\nint b;\n")
    assert [re.sub("<[^>]+>", "", line) for line in lines] == ["int alone;", "int b;", ""]
    assert "kt" not in lines[1]
    empty_lines = highlight.source("a.txt", "\n" * (highlight.PAGE_LINES + 1), highlight.Budget())
    assert "data-line" not in empty_lines
