"""Imported results are marked on every page that shows them, with where and when they were measured."""

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.imports.import_results import ImportTarget, import_results
from leaderboard.models import Evaluation, EvaluationState, Submission
from leaderboard.models.submissions.submission import IMPORT
from problems.actions import releases as release_actions
from tests import factories, graded
from tests.markup import markup
from tests.web.gpu_site import GpuSite, make_gpu_site

pytestmark = pytest.mark.django_db
WORDS = "measured on NVIDIA H200 (driver 580.82.07, CUDA 13.0) on 2026-11-20"


@pytest.fixture
def gpu(cast: factories.Cast, tmp_path: Path) -> GpuSite:
    return make_gpu_site(cast, tmp_path)


def page(client: Any, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return markup(answer)


def test_a_board_of_imported_results_says_so_above_and_in_every_row(client: Any, gpu: GpuSite) -> None:
    text = page(client, reverse("board", args=[gpu.release.slug]))
    assert f"All results on this track are imported: {WORDS}, not by this site's nodes." in text
    assert text.count(">imported</span>") == 2


def test_a_board_that_is_imported_and_unverified_says_both_in_one_notice(client: Any, cast: factories.Cast) -> None:
    made = factories.release(name="unverified-1", publish=False)
    release_actions.publish(made, "No node here has this GPU.")
    factories.judged_submission(cast.entrant, made, factories.offer(made))
    Submission.objects.update(measured_where={"machines": [], "first_day": "", "last_day": "2026-11-20"})
    said = "Published without verification on this site: No node here has this GPU."
    board = page(client, reverse("board", args=[made.slug]))
    assert board.count(said) == 1
    assert f"They cannot be measured anew. {said}" in board
    assert f'<p class="notice warning">{said}</p>' in page(client, reverse("charts", args=[made.slug]))


def test_an_imported_row_has_the_date_from_which_it_counts_and_the_day_of_measuring(client: Any, gpu: GpuSite) -> None:
    address = reverse("board_json", args=[gpu.release.slug])
    today = f"{timezone.now():%Y-%m-%d}"
    rows = client.get(address).json()["rows"]
    assert {(row["date"], row["measured_until"]) for row in rows} == {(today, "2026-11-20")}
    assert client.get(f"{address}?as_of=2026-11-20").json()["rows"] == []
    assert len(client.get(f"{address}?as_of={today}").json()["rows"]) == len(rows)
    Submission.objects.update(measured_where={"machines": [], "first_day": "", "last_day": ""})
    rows = client.get(address).json()["rows"]
    assert {(row["date"], row["measured_until"]) for row in rows} == {(today, None)}


def test_once_a_node_has_judged_something_the_board_itself_is_no_import(
    client: Any, gpu: GpuSite, cast: factories.Cast
) -> None:
    factories.judged_submission(factories.EntrantFactory(owner=cast.owner), gpu.release, gpu.track)
    text = page(client, reverse("board", args=[gpu.release.slug]))
    assert "All results on this track are imported" not in text
    assert text.count(">imported</span>") == 2


def test_entrant_submission_and_evaluation_say_where_and_when(client: Any, gpu: GpuSite, cast: factories.Cast) -> None:
    submission = Submission.objects.filter(entrant=cast.entrant).get()
    assert f"Imported: {WORDS}" in page(client, submission.get_absolute_url())
    assert f"Imported: {WORDS}" in page(client, gpu.timed.get_absolute_url())
    assert f"nodes: {WORDS}" in page(client, cast.entrant.get_absolute_url())
    assert f"nodes: {WORDS}" in page(client, reverse("release_submissions", args=[gpu.release.slug]))


@pytest.mark.parametrize("unverified_reason", ["", "No node here has this GPU."])
def test_imported_results_are_run_again_only_where_the_release_is_verified(
    client: Any, cast: factories.Cast, unverified_reason: str
) -> None:
    made = factories.release(name="elsewhere-1", publish=False)
    release_actions.publish(made, unverified_reason)
    stored = factories.judged_submission(cast.entrant, made, factories.offer(made))
    Submission.objects.update(submitted_through=IMPORT)
    client.force_login(cast.owner)
    words = f"The results of submission #{stored.pk} were imported and cannot be rerun here: no node of this site has"
    addresses = [stored.get_absolute_url(), stored.evaluations.first().get_absolute_url()]
    for address in addresses:
        text = page(client, address)
        assert (f'action="{address}rerun/"' in text, words in text) == (not unverified_reason, bool(unverified_reason))
    for address in reversed(addresses):
        answer = markup(client.post(f"{address}rerun/", {"reason": "see it here"}, follow=True))
        assert (f'role="status">{words}' in answer) == bool(unverified_reason)
    assert Evaluation.objects.filter(state=EvaluationState.QUEUED).exists() == (not unverified_reason)


def test_the_home_page_marks_them_too(client: Any, gpu: GpuSite) -> None:
    assert f"All results here are imported: {WORDS}" in page(client, reverse("home"))


def test_rows_without_provenance_are_marked_as_such(
    client: Any, gpu: GpuSite, cast: factories.Cast, tmp_path: Path
) -> None:
    entrant = factories.EntrantFactory(owner=cast.owner)
    problem = gpu.release.problems.order_by("position").first()
    path = graded.write(tmp_path / "theirs.jsonl", [graded.compute_evals_row(problem, "exit 0")])
    import_results(None, ImportTarget(entrant, gpu.release, gpu.track), path, path.name)
    evaluation = Evaluation.objects.get(submission__entrant=entrant)
    text = page(client, evaluation.get_absolute_url())
    assert "Imported: where and when it was measured is not recorded" in text
    assert "No provenance" in text
    assert "unwitnessed" in text


def test_exports_and_the_api_carry_the_words(client: Any, gpu: GpuSite) -> None:
    rows = client.get(reverse("board_json", args=[gpu.release.slug])).json()["rows"]
    assert {row["imported"] for row in rows} == {WORDS}
    board = client.get(f"/api/v1/releases/{gpu.release.slug}/board").json()
    assert board["imported"] == WORDS
