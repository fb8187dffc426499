"""Links for organisers: a public page to the editor, a failed check to its logs, an error to its field."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from leaderboard.actions.curation import curate
from leaderboard.actions.curation.verify import verify
from leaderboard.actions.problems import drafts
from leaderboard.models import AuditEntry, Decision, Evaluation, Flag
from problems.actions.drafts import fields_of
from runners.fleet.nodes import service
from runners.wire.protocol import FlagReport, FlagScope, Verdict
from tests import factories
from tests.admin.pages import opened, signed_in, text

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def cast() -> factories.Cast:
    return factories.Cast.make()


def _flagged(verdict: Verdict = Verdict.PASSED) -> Any:
    return factories.report(verdict, flags=[FlagReport(code="left_early", scope=FlagScope.VERDICT, detail="seen")])


def test_flags_of_system_entrants_are_not_to_decide(cast: Any) -> None:
    made = factories.release(1)
    track = factories.offer(made)
    factories.judged_submission(cast.entrant, made, track, lambda _: _flagged(), n_samples=1)
    for one in verify(cast.organiser, made, track):
        factories.judge(one, lambda _: _flagged())
    assert Flag.objects.count() == 3
    browser = signed_in(cast.organiser)
    panel = text(browser.get(reverse("admin:index"))).split("To decide")[1].split("</section>")[0]
    assert "Alpha" in panel and "_reference" not in panel and "_empty" not in panel
    queue = reverse("admin:leaderboard_flag_changelist")
    assert "_reference" not in text(browser.get(queue))
    assert "_reference" in text(browser.get(queue, {"state": "all"}))


@pytest.mark.parametrize("publish", [False, True])
def test_a_failed_check_leads_to_its_evaluation_and_to_its_problem(cast: Any, publish: bool) -> None:
    made = factories.release(1, publish=publish)
    for one in verify(cast.organiser, made, factories.offer(made)):
        factories.judge(one, lambda _: factories.report(Verdict.TEST_FAILED))
    failed = Evaluation.objects.get(submission__entrant__slug="_reference")
    problem = made.problems.get()
    page = text(signed_in(cast.organiser).get(reverse("admin:problems_release_change", args=[made.pk])))
    shown = page.split('id="verification"')[1].split("</section>")[0]
    assert f'href="{reverse("evaluation", args=[failed.pk])}"' in shown
    editor = reverse("admin:problems_release_draft_problem", args=[made.pk, problem.pk])
    assert f'href="{reverse("admin:problems_problem_change", args=[problem.pk]) if publish else editor}"' in shown
    assert shown.count("<li>") == 1, "the empty solution failed as it must"
    assert signed_in(cast.organiser).get(editor).status_code == (404 if publish else 200)


def _pages(cast: factories.Cast) -> dict[str, str]:
    """Public pages, each with the page of the admin that it must lead to."""
    made = factories.release(1)
    track = factories.offer(made)
    stored = factories.judged_submission(cast.entrant, made, track, n_samples=1)
    node: Any = factories.NodeFactory()  # type: ignore[no-untyped-call]
    factories.grant(node, track)
    team: Any = cast.entrant.team
    team.memberships.create(user=cast.organiser, role="reader")
    problem, found = made.problems.get(), stored.evaluations.get()
    release_page = reverse("admin:problems_release_change", args=[made.pk])
    problem_page = reverse("admin:problems_problem_change", args=[problem.pk])
    of_release = (
        "board", "charts", "problems", "release_submissions", "release_failures", "release_about", "release_flags",
        "decisions", "changelog", "coverage", "audit",
    )  # fmt: skip
    entrant_page = reverse("admin:leaderboard_entrant_change", args=[cast.entrant.pk])
    submission_page = reverse("admin:leaderboard_submission_change", args=[stored.pk])
    return {reverse(name, args=[made.slug]): release_page for name in of_release} | {
        reverse("problem", args=[made.slug, problem.slug]): problem_page,
        reverse("entrant", args=[cast.entrant.slug]): entrant_page,
        reverse("submission", args=[stored.pk]): submission_page,
        reverse("rollouts", args=[stored.pk]): submission_page,
        reverse("submission_failures", args=[stored.pk]): submission_page,
        reverse("evaluation", args=[found.pk]): reverse("admin:leaderboard_evaluation_change", args=[found.pk]),
        reverse("team", args=[team.slug]): reverse("admin:leaderboard_team_change", args=[team.pk]),
        reverse("home"): release_page,
        **{reverse(name): reverse("admin:problems_release_changelist") for name in ("releases", "compare_code")},
        reverse("nodes"): reverse("admin:fleet_node_changelist"),
        reverse("node", args=[node.slug]): reverse("admin:fleet_node_change", args=[node.pk]),
    }


def test_every_public_page_leads_its_organiser_to_the_editor_and_nobody_else(cast: Any) -> None:
    reader: Any = factories.UserFactory(is_staff=True)  # type: ignore[no-untyped-call]
    reader.user_permissions.add(Permission.objects.get(codename="view_entrant"))
    for address, target in _pages(cast).items():
        page = text(signed_in(cast.organiser).get(address))
        assert f'href="{target}"' in page, address
        for user in (cast.owner, cast.stranger):
            assert 'class="organiser"' not in text(signed_in(user).get(address)), address
        shown = "/entrants/" in address
        assert ('class="organiser"' in text(signed_in(reader).get(address))) == shown, address
        assert signed_in(cast.organiser).get(target).status_code == 200


def test_a_problem_is_voided_in_two_clicks_from_its_page(cast: Any) -> None:
    made = factories.release(1)
    problem, browser = made.problems.get(), signed_in(cast.organiser)
    address = reverse("problem", args=[made.slug, problem.slug])
    link = re.search(r'<a href="([^"]*)">Void the problem</a>', text(browser.get(address)))
    assert link and browser.get(link[1]).status_code == 200
    assert "is void" in text(browser.post(link[1], {"reason": "Its test is wrong."}))
    assert Decision.objects.get().problem == problem
    assert "Void the problem" not in text(browser.get(address))


def test_the_audit_of_acts_says_old_and_new_values(cast: Any) -> None:
    node: Any = factories.NodeFactory()  # type: ignore[no-untyped-call]
    service.drain(cast.organiser, node, "A fan is loud.")
    told = AuditEntry.objects.get(action="drain").told
    assert "service: in_service → draining" in told and "disabled_reason: nothing → A fan is loud." in told
    made = factories.release(1, publish=False, is_public=False)
    curate.make_public(cast.organiser, made)
    assert AuditEntry.objects.get(action="make public").told == "is_public: no → yes"
    problem = made.problems.get()
    fields = fields_of(problem.spec) | {"group": "other"}
    fields["test_files"][0]["content"] += "\n# the held-out answer is 42"
    drafts.change_problem(cast.organiser, problem, fields, problem.record_md5)
    entry = AuditEntry.objects.get(action="change problem")
    assert f"group: {problem.spec.group} → other" in entry.told
    assert "held-out answer" not in str(entry.detail)


def test_errors_of_a_long_page_lead_to_their_fields(cast: Any) -> None:
    made = factories.release(1)
    browser, address = signed_in(cast.organiser), reverse("admin:problems_release_change", args=[made.pk])
    said = opened(browser, address) | {"title": "", "max_samples": "many"}
    page = text(browser.post(address, said))
    summary = page.split('class="error-summary"')[1].split("</div>")[0]
    assert set(re.findall(r'href="#([^"]+)"', summary)) == {"id_title", "id_max_samples"}
    for target in re.findall(r'href="#([^"]+)"', summary):
        assert page.count(f'id="{target}"') == 1


def test_errors_of_the_sites_forms_lead_to_their_fields(cast: Any) -> None:
    page = text(signed_in(cast.owner).post(reverse("new_entrant"), {"name": "", "kind": "no-kind"}))
    summary = page.split('class="error-summary"')[1].split("</div>")[0]
    assert set(re.findall(r'href="#([^"]+)"', summary)) == {"id_name", "id_kind"}
    made = factories.release(1)
    factories.offer(made)
    address = f"{reverse('submit')}?release={made.slug}"
    page = text(signed_in(cast.owner).post(address, {}))
    summary = page.split('class="error-summary"')[1].split("</div>")[0]
    targets = re.findall(r'href="#([^"]+)"', summary)
    assert targets and all(page.count(f'id="{one}"') == 1 for one in targets), targets


def test_errors_of_a_typed_solution_lead_to_their_fields(cast: Any) -> None:
    made = factories.release(1)
    factories.offer(made)
    address = reverse("submit_typed", args=[made.slug, made.problems.get().slug])
    page = text(signed_in(cast.owner).post(address, {"note": "x" * 100_000}))
    summary = page.split('class="error-summary"')[1].split("</div>")[0]
    targets = re.findall(r'href="#([^"]+)"', summary)
    assert {"id_entrant", "id_tracks_0"} <= set(targets)
    assert all(page.count(f'id="{one}"') == 1 for one in targets), targets


def test_errors_of_a_problem_s_editor_lead_to_their_fields(cast: Any) -> None:
    made = factories.release(1, publish=False)
    problem = made.problems.get()
    address = reverse("admin:problems_release_draft_problem", args=[made.pk, problem.pk])
    page = text(signed_in(cast.organiser).post(address, {"task_id": "", "file-tests-0-path": "../up", "opened": "x"}))
    summary = page.split('class="error-summary"')[1].split("</div>")[0]
    targets = re.findall(r'href="#([^"]+)"', summary)
    assert "id_task_id" in targets and all(page.count(f'id="{one}"') == 1 for one in targets), targets
