"""An organiser calibrates a draft's weights from submissions, sees them beside today's, and stores them."""

import io
from html import unescape
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions.curation import curate
from leaderboard.actions.curation.decide import void_problem
from leaderboard.actions.problems import drafts
from leaderboard.curation.calibration import CalibrationBases
from leaderboard.models import AuditEntry, ProblemScore, Submission
from problems.actions.drafts import fields_of
from problems.formats.compute_eval.packs import read_problem_pack
from problems.models import Release
from problems.spec.pack import parse_problem_metadata
from runners.wire.protocol import Verdict
from scoring.weights import group_weights
from tests import factories
from tests.admin.pages import opened, signed_in, text
from tests.admin.sent_form import sent_by

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def judge_but(*lost: str) -> Any:
    return lambda one: factories.report(Verdict.TEST_FAILED if one.problem.task_id in lost else Verdict.PASSED)


@pytest.fixture
def draft(cast: Any) -> Release:
    """The next revision of a release of Shell/0 and Shell/2 (strings) and Shell/1 and Shell/3 (sums)."""
    first = factories.release(4)
    track = factories.offer(first)
    factories.judged_submission(cast.entrant, first, track, judge_but("Shell/0"))
    factories.judged_submission(cast.strangers_entrant, first, track, judge_but("Shell/0", "Shell/2", "Shell/1"))
    return drafts.next_revision(cast.organiser, first)


def address(release: Release) -> str:
    return reverse("admin:problems_release_draft_weights", args=[release.pk])


def keys() -> list[str]:
    rows = Submission.objects.order_by("pk").values_list("pk", "tracks")
    return [f"{submission}-{track}" for submission, track in rows]


def shown(user: Any, release: Release, *chosen: str, epsilon: str = "0.05") -> Any:
    return signed_in(user).post(address(release), {"sources": chosen, "epsilon": epsilon, "show": "1"})


def store(user: Any, release: Release, page: Any, *chosen: str, epsilon: str = "0.05") -> Any:
    token = sent_by(text(page), "draft-form")["opened"]
    said = {"sources": chosen, "epsilon": epsilon, "store": "1", "opened": token}
    return signed_in(user).post(address(release), said)


def test_the_weights_are_shown_before_they_are_stored_and_audited(cast: Any, draft: Release) -> None:
    Release.objects.filter(pk=draft.pk).update(weights={"strings": 3.0, "sums": 1.0}, weights_note="Old note.")
    browser = signed_in(cast.organiser)
    page = text(browser.get(address(draft)))
    assert "Alpha" in page
    assert 'name="store"' not in page
    answer = shown(cast.organiser, draft, *keys())
    table = unescape(text(answer)).split("The weights that follow")[1]
    # strings: the mean of 1/2 and 0; sums: the mean of 1 and 1/2
    expected = group_weights([0.25, 0.75], [2, 2], 0.05)
    for words in ("1.500000", "0.500000", "0.2500", "0.7500", *(f"{value:.6f}" for value in expected)):
        assert words in table
    draft.refresh_from_db()
    assert draft.weights == {"strings": 3.0, "sums": 1.0}
    done = store(cast.organiser, draft, answer, *keys())
    assert done.url == reverse("admin:problems_release_change", args=[draft.pk])
    draft.refresh_from_db()
    assert draft.weights == pytest.approx({"strings": expected[0], "sums": expected[1]}, abs=1e-6)
    assert "with epsilon 0.05 from the submissions #" in draft.weights_note
    assert parse_problem_metadata(draft.pack_metadata.encode()).weights == draft.weights
    entry = AuditEntry.objects.get(action="calibrate weights")
    assert (entry.actor, entry.detail["epsilon"]) == (cast.organiser, 0.05)
    assert sorted(entry.detail["submissions"]) == sorted(Submission.objects.values_list("pk", flat=True))
    assert (entry.detail["was"]["weights_note"], "strings" in entry.detail["now"]["weights"]) == ("Old note.", True)


def test_one_submission_and_another_epsilon_give_other_weights(cast: Any, draft: Release) -> None:
    first = keys()[0]
    answer = shown(cast.organiser, draft, first, epsilon="0.5")
    expected = group_weights([0.5, 1.0], [2, 2], 0.5)
    for value in expected:
        assert f"{value:.6f}" in text(answer)
    assert f'value="{first}" id="id_sources_0" checked' in text(answer)
    assert text(answer).count(" checked>") == 1


def test_what_was_not_shown_is_not_stored(cast: Any, draft: Release) -> None:
    answer = shown(cast.organiser, draft, *keys())
    refused = store(cast.organiser, draft, answer, keys()[0])
    assert refused.status_code == 422
    assert "are not what you were shown" in text(refused)
    assert 'name="store"' in text(refused)
    refused = store(cast.organiser, draft, answer, *keys(), epsilon="0.5")
    assert refused.status_code == 422
    ProblemScore.objects.filter(problem__task_id="Shell/3").update(n_passed=0)
    assert "are not what you were shown" in text(store(cast.organiser, draft, answer, *keys()))
    ProblemScore.objects.filter(problem__task_id="Shell/3").update(n_passed=2)
    Release.objects.filter(pk=draft.pk).update(weights={"strings": 1.0, "sums": 2.0})
    assert "are not what you were shown" in text(store(cast.organiser, draft, answer, *keys()))
    draft.refresh_from_db()
    assert draft.weights == {"strings": 1.0, "sums": 2.0}
    assert store(cast.organiser, draft, shown(cast.organiser, draft, *keys()), *keys()).status_code == 302


def test_faults_are_summed_up_and_nothing_chosen_is_lost(cast: Any, draft: Release) -> None:
    answer = shown(cast.organiser, draft)
    assert (answer.status_code, "Choose the submissions" in text(answer)) == (422, True)
    answer = shown(cast.organiser, draft, keys()[0], epsilon="-1")
    assert 'href="#id_epsilon"' in text(answer)
    assert text(answer).count(" checked>") == 1
    assert shown(cast.organiser, draft, "0-0").status_code == 422
    ProblemScore.objects.update(n_passed=2)
    answer = shown(cast.organiser, draft, *keys(), epsilon="0")
    assert "every weight is 0" in text(answer).lower()
    ProblemScore.objects.filter(problem__task_id="Shell/3").update(n_passed=0)
    answer = shown(cast.organiser, draft, *keys(), epsilon="0")
    assert "The weight of strings would be 0" in text(answer)
    assert 'name="store"' not in text(answer)


def test_results_of_changed_and_voided_problems_do_not_count(cast: Any, draft: Release) -> None:
    row = draft.problems.select_related("release").get(task_id="Shell/1")
    fields = fields_of(row.spec)
    fields["test_files"][0]["content"] += "# other\n"
    drafts.change_problem(cast.organiser, row, fields, row.record_md5)
    void_problem(cast.organiser, draft.previous.problems.get(task_id="Shell/0"), "Wrong.")
    found = CalibrationBases(draft).calibrated({(int(a), int(b)) for a, b in (one.split("-") for one in keys())})
    assert {one.name: (one.n_problems, one.n_with_results, one.pass_rate) for one in found.groups} == {
        "strings": (2, 1, 0.5), "sums": (2, 1, 1.0),
    }  # fmt: skip


def test_a_group_without_results_is_named_and_nothing_can_be_stored(cast: Any, draft: Release) -> None:
    drafts.add_problem(cast.organiser, draft, factories.example_problem(9, group="matrices"))
    answer = shown(cast.organiser, draft, *keys())
    assert "No chosen submission has results for matrices." in text(answer)
    assert 'name="store"' not in text(answer)


def test_only_drafts_with_coding_problems_are_calibrated_and_strangers_find_nothing(cast: Any, draft: Release) -> None:
    published, browser = draft.previous, signed_in(cast.organiser)
    assert browser.get(address(published)).status_code == 404
    assert "Calibrate its weights" in text(browser.get(reverse("admin:problems_release_change", args=[draft.pk])))
    page = text(browser.get(reverse("admin:problems_release_change", args=[published.pk])))
    assert "Calibrate its weights" not in page
    for user in (cast.stranger, cast.owner):
        assert signed_in(user).get(address(draft)).status_code == 302  # to the sign-in page
        assert shown(user, draft, *keys()).status_code == 302
    assert opened(browser, address(draft)) == {}


def test_a_site_without_results_says_how_else_weights_are_made(cast: Any) -> None:
    made = factories.release(2, "fresh-1", publish=False)
    assert "podium weights calibrate" in text(signed_in(cast.organiser).get(address(made)))


def test_the_page_makes_a_constant_number_of_queries(
    cast: Any, draft: Release, django_assert_max_num_queries: Any
) -> None:
    browser = signed_in(cast.organiser)
    browser.get(address(draft))
    with django_assert_max_num_queries(25):
        browser.post(address(draft), {"sources": keys(), "epsilon": "0.05", "show": "1"})


def test_what_is_typed_on_a_drafts_page_is_in_its_export(cast: Any, draft: Release) -> None:
    address = reverse("admin:problems_release_change", args=[draft.pk])
    said = sent_by(text(signed_in(cast.organiser).get(address)), "release_form")
    changes = {"title": "Another title", "weights": '{"strings": 2.0, "sums": 1.0}'}
    assert signed_in(cast.organiser).post(address, said | changes).status_code == 302
    file = io.BytesIO()
    curate.export(cast.organiser, Release.objects.get(pk=draft.pk), file)
    head = read_problem_pack(io.BytesIO(file.getvalue())).metadata
    assert (head.title, head.weights) == ("Another title", {"strings": 2.0, "sums": 1.0})
