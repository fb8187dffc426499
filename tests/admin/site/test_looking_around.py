"""The administration's home, navigation and lists: what each shows, to whom, and at what cost."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from zeal import zeal_context

from leaderboard.actions.curation.verify import verify
from leaderboard.admin import dashboard, navigation
from leaderboard.models import AuditEntry, Evaluation, Submission
from runners.fleet.models import Job
from runners.wire.protocol import FlagReport, FlagScope
from tests import factories
from tests.admin.pages import signed_in, text

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

LISTS = [f"{model._meta.app_label}_{model._meta.model_name}" for model in admin.site._registry]


def flagged(_: Evaluation) -> Any:
    return factories.report(flags=[FlagReport(code="clock_disagrees", scope=FlagScope.TIME, detail="3 % longer.")])


def panel(user: User, title: str) -> dashboard.Panel:
    answer = signed_in(user).get(reverse("admin:index"))
    return next(one for one in answer.context["panels"] if one.title == title)


def test_home_shows_what_waits_with_its_count(cast: Any) -> None:
    made = factories.release(3)
    factories.judged_submission(cast.entrant, made, factories.offer(made), flagged, n_samples=2)
    found = panel(cast.organiser, "To decide")
    assert found.count == "6"
    assert len(found.lines) == dashboard.SHOWN_LINES
    assert signed_in(cast.organiser).get(found.url).context["page"].paginator.count == 6
    assert "clock_disagrees" in text(signed_in(cast.organiser).get(found.lines[0].url))


def test_a_release_stays_unverified_until_its_references_have_passed(cast: Any) -> None:
    made = factories.release(2, publish=False)
    track = factories.offer(made)
    found = panel(cast.organiser, "Unverified releases")
    assert (found.count, found.lines[0].note) == ("1", "draft, 0 of 2 references passed")
    assert made in signed_in(cast.organiser).get(found.url).context["cl"].queryset
    verify(cast.organiser, made, track)
    factories.judge(Submission.objects.get(entrant__slug="_reference"))
    assert panel(cast.organiser, "Unverified releases").count == "0"


def test_work_that_waits_too_long_is_stuck(cast: Any) -> None:
    made = factories.release(2)
    stored = factories.submission(cast.entrant, made, factories.offer(made))
    assert panel(cast.organiser, "Stuck evaluations").count == "0"
    late = stored.evaluations.order_by("pk").first()
    Evaluation.objects.filter(pk=late.pk).update(queued_at=timezone.now() - timedelta(hours=7))
    found = panel(cast.organiser, "Stuck evaluations")
    assert (found.count, found.lines[0].note) == ("1", "queued on cpu-test, 7 h")
    assert list(signed_in(cast.organiser).get(found.url).context["cl"].queryset) == [late]


def test_a_queue_without_a_node_and_an_ill_node_are_shown(cast: Any) -> None:
    made = factories.release(1)
    track = factories.offer(made)
    factories.submission(cast.entrant, made, track)
    found = panel(cast.organiser, "Tracks without a node")
    assert (found.count, found.lines[0].text) == ("1", track.slug)
    node = factories.NodeFactory(last_seen_at=timezone.now())
    factories.grant(node, track)
    assert panel(cast.organiser, "Tracks without a node").count == "0"
    assert panel(cast.organiser, "Ill nodes").count == "0"
    node.obstacle = "no space left"
    node.save()
    found = panel(cast.organiser, "Ill nodes")
    assert (found.count, found.lines[0].note) == ("1", "takes no work: no space left")
    assert list(signed_in(cast.organiser).get(found.url).context["cl"].queryset) == [node]
    assert panel(cast.organiser, "Tracks without a node").count == "1"


def test_home_costs_the_same_with_more_rows(cast: Any) -> None:
    browser = signed_in(cast.organiser)

    def cost() -> int:
        with CaptureQueriesContext(connection) as queries, zeal_context():
            assert browser.get(reverse("admin:index")).status_code == 200
        return len(queries)

    def more(n: int) -> None:
        made = factories.release(2, f"made-{n}")
        track = factories.offer(made, factories.TrackFactory(slug=f"track-{n}"))
        factories.judged_submission(cast.entrant, made, track, flagged)
        factories.submission(cast.entrant, made, track, script="exit 2")
        factories.NodeFactory(disabled_reason="noisy")
        AuditEntry.objects.create(actor_name="system", action="import", target=f"release made-{n}")
        Evaluation.objects.filter(state="queued").update(queued_at=timezone.now() - timedelta(days=1))

    more(0)
    few = cost()
    for n in range(1, 8):
        more(n)
    assert cost() == few <= 26


@pytest.mark.parametrize("name", LISTS)
def test_every_table_is_an_organisers_alone(cast: Any, name: str) -> None:
    path = reverse(f"admin:{name}_changelist")
    for user in (None, cast.stranger, cast.owner):
        answer = (signed_in(user) if user else Client()).get(path)
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith("/admin/login/")
    helper = factories.UserFactory(is_staff=True)
    assert signed_in(helper).get(path).status_code == 403
    assert signed_in(cast.organiser).get(path, {"q": "#1"}).status_code == 200


@pytest.mark.parametrize("path", ["/admin/", "/admin/more/"])
def test_pages_of_the_site_are_an_organisers_alone(cast: Any, path: str) -> None:
    for user in (None, cast.stranger, cast.owner):
        assert (signed_in(user) if user else Client()).get(path).status_code == 302
    assert signed_in(cast.organiser).get(path).status_code == 200


def test_staff_see_the_tasks_and_panels_of_their_rights(cast: Any) -> None:
    helper = factories.UserFactory(is_staff=True)
    helper.user_permissions.add(Permission.objects.get(codename="view_flag"))
    answer = signed_in(helper).get("/admin/")
    assert [task.title for task in answer.context["tasks"]] == ["Decide"]
    assert [entry.title for entry in answer.context["tasks"][0].entries] == ["Flags"]
    assert [one.title for one in answer.context["panels"]] == ["To decide"]


def test_every_table_is_in_the_navigation_or_on_the_page_of_the_others(cast: Any) -> None:
    answer = signed_in(cast.organiser).get("/admin/more/")
    named = {name for _, tables in navigation.TASKS for _, name in tables}
    shown = {entry.url for task in answer.context["tasks"] for entry in task.entries}
    assert len(shown) == len(named)
    others = {entry.url for entry in answer.context["tables"]}
    assert shown | others == {reverse(f"admin:{name}_changelist") for name in LISTS}
    assert reverse("admin:auth_group_changelist") in others


def test_a_row_leads_to_its_page_on_the_site_and_to_its_history(cast: Any) -> None:
    made = factories.release(1)
    stored = factories.judged_submission(cast.entrant, made, factories.offer(made), flagged, n_samples=1)
    evaluation = stored.evaluations.get()
    rows: dict[str, Any] = {
        "problems_release": made,
        "problems_problem": made.problems.get(),
        "leaderboard_submission": stored,
        "leaderboard_entrant": cast.entrant,
        "leaderboard_evaluation": evaluation,
        "leaderboard_result": evaluation.current_result,
        "leaderboard_flag": evaluation.current_result.flags.get(),
        "leaderboard_standing": made.standings.get(),
    }
    for name, row in rows.items():
        page = text(signed_in(cast.organiser).get(reverse(f"admin:{name}_change", args=[row.pk])))
        assert f'href="{row.get_absolute_url()}"' in page
        assert signed_in(cast.organiser).get(row.get_absolute_url()).status_code == 200
    page = text(signed_in(cast.organiser).get(reverse("admin:leaderboard_submission_history", args=[stored.pk])))
    assert "<td>submit</td>" in page
    assert signed_in(cast.stranger).get(reverse("admin:leaderboard_submission_history", args=[1])).status_code == 302
    assert signed_in(cast.organiser).get("/admin/leaderboard/submission/999/history/").status_code == 404


@pytest.mark.parametrize(
    ("asked", "n"),
    [("", 4), ("Alpha", 2), ("Shell/0", 2), ("{pk}", 1), ("#{submission}", 2), ("nothing", 0), ("#", 0), ("9" * 40, 0)],
)  # fmt: skip
def test_evaluations_are_found_by_what_has_an_index(cast: Any, asked: str, n: int) -> None:
    made = factories.release(2)
    track = factories.offer(made)
    mine = factories.judged_submission(cast.entrant, made, track, n_samples=1)
    factories.judged_submission(cast.strangers_entrant, made, track, n_samples=1)
    words = asked.format(pk=mine.evaluations.order_by("pk")[0].pk, submission=mine.pk)
    answer = signed_in(cast.organiser).get(reverse("admin:leaderboard_evaluation_changelist"), {"q": words})
    assert answer.status_code == 200
    assert answer.context["cl"].result_count == n


def test_a_long_list_is_counted_no_further_than_it_is_shown(cast: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaderboard.admin.base.COUNTED_ROWS", 3)
    factories.submission(cast.entrant, (made := factories.release(5)), factories.offer(made), n_samples=1)
    assert Job.objects.count() == 5
    page = text(signed_in(cast.organiser).get(reverse("admin:fleet_job_changelist")))
    assert "The first 3 jobs" in page
