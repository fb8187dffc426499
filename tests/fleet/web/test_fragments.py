"""The fleet's parts of other pages: drawn with the page, and refreshed by htmx while work is open."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaderboard.models import Evaluation
from problems.models import Release
from runners.fleet.models import Attempt, Node
from runners.wire.protocol import Audience, CaseField, CaseReport, Verdict
from tests import factories
from tests.markup import markup
from tests.web.conftest import Site

pytestmark = pytest.mark.django_db
TAIL = "g++ …"


def _case(name: str, verdict: Verdict, **fields: tuple[Any, Audience]) -> dict[str, Any]:
    """A row of a heartbeat as it is stored."""
    told = [CaseField(name=key, value=value, audience=audience) for key, (value, audience) in fields.items()]
    return CaseReport(name=name, verdict=verdict, fields=told).model_dump(mode="json")


CASES_SO_FAR = [
    _case("1 Mi", Verdict.PASSED, n_calls=(32, Audience.PUBLIC)),
    _case(
        "odd",
        Verdict.WRONG_ANSWER,
        message=("2 of 15 elements", Audience.TEAM),
        hint=("look at row 3", Audience.TEAM),
        prepare_ms=(1.5, Audience.ORGANISER),
        sample_inputs=("secret inputs", Audience.TEAM),
    ),
]


def fragment(client: Client, name: str, *args: Any) -> Any:
    answer = client.get(reverse(name, args=args))
    assert answer.status_code == 200
    return answer


def text(answer: Any) -> str:
    return markup(answer)


@pytest.fixture
def running(site: Site) -> Evaluation:
    return site.running_evaluation


def test_the_home_page_shows_the_fleet_and_refreshes_it_from_the_fleets_address(client: Client, site: Site) -> None:
    facts = text(fragment(client, "fleet_state"))
    assert f'hx-get="{reverse("fleet_state")}"' in facts
    assert "1 of 2" not in facts
    assert "2 of 2" in facts
    home = text(client.get("/"))
    assert " ".join(facts.split()[:2]) in home
    assert "2 of 2" in home


def test_a_submissions_page_refreshes_both_of_its_parts_while_work_is_open(client: Client, site: Site) -> None:
    client.force_login(site.cast.owner)
    addresses = [reverse(name, args=[site.running.pk]) for name in ("submission_progress", "submission_samples")]
    open_page = text(client.get(site.running.get_absolute_url()))
    assert [open_page.count(f'hx-get="{address}') for address in addresses] == [1, 1]
    factories.judge(site.running)
    Evaluation.objects.filter(submission=site.running).exclude(state="done").update(state="cancelled")
    assert "hx-get" not in text(client.get(site.running.get_absolute_url()))
    assert "hx-get" not in text(client.get(addresses[0])) + text(client.get(addresses[1]))


def test_the_progress_fragment_counts_and_names_the_nodes_at_work(client: Client, site: Site) -> None:
    client.force_login(site.cast.owner)
    words = " ".join(text(fragment(client, "submission_progress", site.running.pk)).split())
    assert "0 of 24 evaluations done, 0 passed, 1 running, 23 queued." in words
    assert "1 node of track cpu-test works on 1 job; 0 jobs of others come first" in words
    assert f'<a href="{site.node.get_absolute_url()}">node-a</a>' in words
    assert "1 building" in words


@pytest.mark.parametrize(
    ("who", "sees_log"), [(None, False), ("stranger", False), ("teammate", True), ("organiser", True)]
)
def test_everybody_sees_who_works_and_its_team_the_log(
    who: str | None, sees_log: bool, client: Client, site: Site, running: Evaluation
) -> None:
    if who:
        client.force_login(getattr(site.cast, who))
    for answer in (client.get(running.get_absolute_url()), fragment(client, "evaluation_work", running.pk)):
        assert "Building on <a" in text(answer)
        assert (TAIL in text(answer)) is sees_log


def test_a_tests_output_stays_hidden_from_the_team(client: Client, site: Site, running: Evaluation) -> None:
    Attempt.objects.update(work_stage="testing")
    client.force_login(site.cast.owner)
    assert TAIL not in text(fragment(client, "evaluation_work", running.pk))


@pytest.mark.parametrize(
    ("who", "facts"),
    [
        (None, {"32"}),
        ("stranger", {"32"}),
        ("teammate", {"32", "2 of 15 elements", "Hint: look at row 3"}),
        ("organiser", {"32", "2 of 15 elements", "Hint: look at row 3", "Prepare ms: 1.5"}),
    ],
)
def test_finished_cases_are_shown_as_they_come_each_field_to_its_audience(
    who: str | None, facts: set[str], client: Client, site: Site, running: Evaluation
) -> None:
    Attempt.objects.update(cases=CASES_SO_FAR)
    if who:
        client.force_login(getattr(site.cast, who))
    for answer in (client.get(running.get_absolute_url()), fragment(client, "evaluation_work", running.pk)):
        shown = text(answer)
        for name, verdict in (("1 Mi", "passed"), ("odd", "wrong answer")):
            row = shown.partition(f'<th scope="row" class="one-line">{name}</th>')[2].partition("</tr>")[0]
            assert verdict in row
        told = {"32", "2 of 15 elements", "Hint: look at row 3", "Prepare ms: 1.5", "secret inputs"}
        assert {one for one in told if one in shown.partition("Cases so far")[2].partition("</table>")[0]} == facts


def test_a_team_reads_verdicts_alone_where_the_release_forbids_first_failures(
    client: Client, site: Site, running: Evaluation
) -> None:
    Attempt.objects.update(cases=CASES_SO_FAR)
    Release.objects.update(shows_first_failure=False)
    client.force_login(site.cast.owner)
    shown = text(fragment(client, "evaluation_work", running.pk))
    assert "wrong answer" in shown
    assert "2 of 15 elements" not in shown


def test_the_state_beside_the_title_follows_the_work(client: Client, site: Site, running: Evaluation) -> None:
    client.force_login(site.cast.owner)
    waiting = site.running.evaluations.filter(state="queued").first()
    for evaluation, word in ((waiting, "queued"), (running, "running")):
        page = text(client.get(evaluation.get_absolute_url()))
        refreshed = text(fragment(client, "evaluation_work", evaluation.pk))
        assert f"</i> {word}</span></span>" in page.partition('<span id="state">')[2].partition("</div>")[0]
        assert refreshed.count('id="state"') == 1
        assert f"</i> {word}</span></span>" in refreshed.partition('<span id="state" hx-swap-oob="true">')[2]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, ""),
        ({"disabled_reason": "gone"}, "is disabled (gone)."),
        ({"last_seen_at": None}, "was never seen."),
    ],
)
def test_work_that_no_node_takes_is_said_to_wait_for_one(
    changed: dict[str, Any], words: str, client: Client, site: Site
) -> None:
    client.force_login(site.cast.owner)
    waiting = site.running.evaluations.filter(state="queued").first()
    if changed:
        Node.objects.update(**changed)
    for name, one in (("submission_progress", site.running), ("evaluation_work", waiting)):
        for answer in (client.get(one.get_absolute_url()), fragment(client, name, one.pk)):
            assert ("No node takes track cpu-test now" in text(answer)) is bool(words)
            assert words in text(answer)


def test_a_rerun_is_told_apart_from_the_result_that_it_will_replace(client: Client, site: Site) -> None:
    found = site.evaluation
    for state, word in (("queued", "queued"), ("leased", "running")):
        Evaluation.objects.filter(pk=found.pk).update(state=state)
        page, refresh = text(client.get(found.get_absolute_url())), text(fragment(client, "evaluation_work", found.pk))
        for shown in (page, refresh):
            assert f"A rerun is {word}; this result stays current until the new one lands." in shown
            assert "passed</span></span>" in shown.partition('id="state"')[2]
    Evaluation.objects.filter(pk=found.pk).update(state="cancelled")
    assert "The rerun was cancelled; this result stays current." in text(client.get(found.get_absolute_url()))


@pytest.mark.parametrize(("who", "is_told"), [(None, False), ("owner", True)])
def test_the_cases_of_a_single_sample_are_shown_with_its_submission(
    who: str | None, is_told: bool, client: Client, site: Site, running: Evaluation
) -> None:
    Attempt.objects.update(cases=CASES_SO_FAR)
    if who:
        client.force_login(getattr(site.cast, who))
    assert "Cases so far" not in text(fragment(client, "submission_progress", site.running.pk)), "of 24 samples"
    Evaluation.objects.filter(submission=site.running).exclude(pk=running.pk).update(purpose="shadow")
    for answer in (
        client.get(site.running.get_absolute_url()), fragment(client, "submission_progress", site.running.pk)
    ):  # fmt: skip
        shown = text(answer).partition("Cases so far on <code>cpu-test</code>")[2].partition("</table>")[0]
        assert "1 Mi" in shown
        assert "wrong answer" in shown
        assert ("2 of 15 elements" in shown) is is_told
        assert "secret inputs" not in text(answer)


def test_more_finished_cases_cost_no_more_queries(client: Client, running: Evaluation) -> None:
    path = reverse("evaluation_work", args=[running.pk])
    before = queries(client, path)
    Attempt.objects.update(cases=CASES_SO_FAR * 10)
    assert queries(client, path) == before


def test_an_evaluations_page_is_reloaded_once_its_work_has_ended(
    client: Client, site: Site, running: Evaluation
) -> None:
    client.force_login(site.cast.owner)
    assert "HX-Refresh" not in fragment(client, "evaluation_work", running.pk)
    assert "htmx.min.js" in text(client.get(running.get_absolute_url()))
    Evaluation.objects.filter(pk=running.pk).update(state="done")
    assert fragment(client, "evaluation_work", running.pk)["HX-Refresh"] == "true"
    ended = text(client.get(running.get_absolute_url()))
    assert "htmx" not in ended.partition("<body>")[0].replace("htmx-config", "")
    assert "hx-get" not in ended


@pytest.mark.parametrize("name", ["fleet_state", "submission_progress", "evaluation_work"])
def test_no_cache_keeps_a_fragment(name: str, client: Client, site: Site, running: Evaluation) -> None:
    pk = {"submission_progress": site.running.pk, "evaluation_work": running.pk}.get(name)
    assert "no-store" in fragment(client, name, *([pk] if pk else []))["Cache-Control"]


def test_a_fragment_costs_the_same_however_much_work_there_is(client: Client, site: Site) -> None:
    path = reverse("submission_progress", args=[site.running.pk])
    before = queries(client, path), queries(client, reverse("fleet_state"))
    for n in range(6):
        factories.submission(site.cast.entrant, site.release, site.track, script=f"exit 0 # {n}", counted=False)
        factories.grant(factories.NodeFactory(), site.track)
    assert (queries(client, path), queries(client, reverse("fleet_state"))) == before


def queries(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as made:
        assert client.get(path).status_code == 200
    return len(made)
