"""How many samples a submission may have; its absent ones count as invalid everywhere, and cost no rows."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions.curation.carry import carry
from leaderboard.actions.intake.submit import submit
from leaderboard.errors import Refused
from leaderboard.intake import submission_rules
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import Entrant, Evaluation, ProblemScore, ProblemTrack, Result, Sample, Standing, Submission
from leaderboard.rows.submissions import SubmissionMetadata
from leaderboard.standings.rank import rebuild
from problems.actions.releases import import_release, publish
from problems.formats.submission import PackRefused, read_submission
from problems.models import Release
from tests import factories, packs
from tests.admin.pages import opened
from tests.api import calls
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
IDENTITY = {"id", "entrant_id", "submission_id", "submission", "best_evaluation_id", "best_speedup_evaluation_id",
            "last_result_at", "updated_at", "rank", "rank_low", "rank_high"}  # fmt: skip


class Shop:
    """A release of three problems on one track, and people who submit packs to it."""

    def __init__(self, cast: factories.Cast) -> None:
        self.cast = cast
        self.release = factories.release(3, ks=[1, 2])
        self.track = factories.offer(self.release)

    def send(self, entrant: Entrant, rows: Sequence[dict[str, Any]]) -> Submission:
        file = packs.solution_pack(rows, self.release.datapack_release)
        draft = read_submission(file, "x-solutions.tar.gz", catalogue_of(self.release))
        metadata = SubmissionMetadata(entrant, self.release, [self.track])
        return submit(factories.submitter(entrant), metadata, draft).submission

    def judged(self, entrant: Entrant, rows: Sequence[dict[str, Any]]) -> Submission:
        stored = self.send(entrant, rows)
        factories.judge(stored)
        factories.rank(self.release, self.track)
        stored.refresh_from_db()
        return stored


@pytest.fixture
def shop(cast: factories.Cast) -> Shop:
    return Shop(cast)


def good(task: int, n: int = 0) -> dict[str, Any]:
    return packs.solution(f"Shell/{task}", f"exit 0 # {n}")


def bad(task: int) -> dict[str, Any]:
    return packs.solution(f"Shell/{task}", "exit 0", path="../escape.sh")


GIVEN = [good(0), good(0, 1), good(1)]
"""Two samples of problem 0 and one of problem 1: one sample of problem 1 and both of problem 2 are absent."""


def figures(row: Any) -> dict[str, Any]:
    return {f.attname: getattr(row, f.attname) for f in row._meta.concrete_fields if f.attname not in IDENTITY}


def test_they_have_no_rows(shop: Shop) -> None:
    stored = shop.judged(shop.cast.entrant, GIVEN)
    assert stored.n_samples_per_problem == 2
    assert (Sample.objects.count(), Evaluation.objects.count(), Result.objects.count()) == (3, 3, 3)


def test_scores_and_standings_are_those_of_invalid_samples_in_their_place(shop: Shop) -> None:
    absent = shop.judged(shop.cast.entrant, GIVEN)
    invalid = shop.judged(shop.cast.strangers_entrant, [*GIVEN, bad(1), bad(2), bad(2)])
    for one, other in zip(_scores(absent), _scores(invalid), strict=True):
        assert figures(one) == figures(other)
    first, second = Standing.objects.get(submission=absent), Standing.objects.get(submission=invalid)
    assert figures(first) == figures(second)
    assert (first.n_samples, first.n_problems, first.n_solved) == (6, 3, 2)
    assert first.pass_at_1 == pytest.approx((1 + 0.5 + 0) / 3)
    assert first.figure("pass@2")[0] == pytest.approx((1 + 1 + 0) / 3)


def _scores(submission: Submission) -> Sequence[ProblemScore]:
    return submission.problem_scores.order_by("problem__position")


def test_stored_scores_equal_recomputed_ones(shop: Shop) -> None:
    shop.judged(shop.cast.entrant, GIVEN)
    assert rebuild(check=True) == []
    ProblemScore.objects.filter(problem__task_id="Shell/2").update(n_samples=1)
    assert len(rebuild(check=True)) == 3, "the aggregate, the standing and the problem's sums differ"


def test_a_skipped_problem_is_skipped_for_absent_samples_too(shop: Shop) -> None:
    ProblemTrack.objects.filter(problem__task_id="Shell/2").update(skip_reason="needs CUDA 13.1")
    stored = shop.judged(shop.cast.entrant, GIVEN)
    score = stored.problem_scores.get(problem__task_id="Shell/2")
    assert (score.n_samples, score.n_skipped) == (2, 2)
    standing = Standing.objects.get(submission=stored)
    assert (standing.n_problems, standing.n_skipped) == (2, 1)
    last = _lines(stored, shop.cast.owner)[-1]
    assert (last["verdict"], last["reason"], last["skipped"]) == ("skipped", "needs CUDA 13.1", True)


def test_results_have_a_line_for_each_in_the_releases_order(shop: Shop) -> None:
    stored = shop.judged(shop.cast.entrant, GIVEN)
    lines = _lines(stored, shop.cast.owner)
    assert [(line["task_id"], line["sample"]) for line in lines] == [
        (f"Shell/{task}", sample) for task in range(3) for sample in range(2)
    ]
    absent = [line for line in lines if line["evaluation"] is None]
    assert [(line["task_id"], line["sample"]) for line in absent] == [("Shell/1", 1), ("Shell/2", 0), ("Shell/2", 1)]
    for line in absent:
        assert (line["state"], line["passed"], line["skipped"]) == ("done", False, False)
        assert (line["verdict"], line["reason"]) == ("invalid", "missing")
        assert line.keys() == lines[0].keys(), "every line has the same keys"
    assert {line["reason"] for line in _lines(stored, None)} == {""}, "reasons are the team's"


def _lines(submission: Submission, user: Any) -> list[dict[str, Any]]:
    answer = calls.get(f"submissions/{submission.pk}/results.jsonl", user, track="cpu-test")
    return [json.loads(line) for line in answer.getvalue().splitlines()]


def test_progress_counts_them_as_done(shop: Shop) -> None:
    stored = shop.send(shop.cast.entrant, GIVEN)
    said = calls.get(f"submissions/{stored.pk}/progress", shop.cast.owner).json()
    assert (said["total"], said["done"], said["states"]) == (6, 3, {"done": 3, "queued": 3})
    assert said["verdicts"] == {"invalid": 3}


def test_the_submissions_page_shows_them(client: Any, shop: Shop) -> None:
    stored = shop.send(shop.cast.entrant, GIVEN)
    client.force_login(shop.cast.owner)
    page = markup(client.get(stored.get_absolute_url()))
    assert page.count("invalid (missing)") == 2 * 3, "a title and a label for each"
    assert "3 of 6 evaluations done" in page
    part = markup(client.get(reverse("submission_samples", args=[stored.pk])))
    assert "sample 2: invalid (missing)" in part


def test_a_partial_submission_has_none(shop: Shop) -> None:
    stored = shop.send(shop.cast.entrant, GIVEN)
    Submission.objects.filter(pk=stored.pk).update(is_full=False)
    assert calls.get(f"submissions/{stored.pk}/progress", shop.cast.owner).json()["total"] == 3


def _next_revision(of: Release) -> Release:
    problems = [factories.example_problem(n, **({"timeout_seconds": 9.0} if n == 1 else {})) for n in range(3)]
    made = import_release(packs.problem_pack(problems, of.datapack_release, ks=[1, 2])).release
    factories.track_actions.offer(None, made, factories.TrackFactory())
    publish(made)
    return made


def test_carrying_keeps_them_absent(shop: Shop) -> None:
    shop.judged(shop.cast.entrant, GIVEN)
    (carried,) = carry(shop.cast.organiser, _next_revision(shop.release))
    assert (carried.samples.count(), carried.n_samples_per_problem) == (3, 2)
    assert carried.problem_scores.get(problem__task_id="Shell/2").n_samples == 2


def test_rows_that_an_earlier_version_stored_for_them_count_once(shop: Shop) -> None:
    """Submissions from before have a sample, an evaluation and a result for each absent sample."""
    stored = shop.judged(shop.cast.entrant, [*GIVEN, bad(1), bad(2), bad(2)])
    Sample.objects.exclude(invalid_reason="").update(invalid_reason="missing")
    assert rebuild(check=True) == []
    assert len(_lines(stored, shop.cast.owner)) == 6
    (carried,) = carry(shop.cast.organiser, _next_revision(shop.release))
    assert (carried.samples.count(), carried.n_samples_per_problem) == (3, 2)


def test_one_line_repeated_costs_a_refusal(shop: Shop) -> None:
    """Thirty thousand equal lines unpack from a few kB."""
    with pytest.raises(PackRefused) as refusal:
        shop.send(shop.cast.entrant, [good(0)] * 30_000)
    assert (refusal.value.code, refusal.value.line) == ("too_many_samples", 21)
    assert "more than 20 samples" in refusal.value.message
    assert not Submission.objects.exists()


def test_an_organiser_may_allow_more(client: Any, shop: Shop) -> None:
    assert calls.get("releases/test-1").json()["max_samples"] == 20
    client.force_login(shop.cast.organiser)
    address = reverse("admin:problems_release_change", args=[shop.release.pk])
    form = {"title": "T", "is_public": "on", "max_samples": "1"}
    assert "pass@2 needs as many" in markup(client.post(address, form))
    assert client.post(address, form | {"max_samples": "21"} | opened(client, address)).status_code == 302
    shop.release.refresh_from_db()
    assert shop.send(shop.cast.entrant, [good(0, n) for n in range(21)]).samples.count() == 21


def test_a_release_allows_as_many_as_its_pass_at_k_needs() -> None:
    assert factories.release(1, "large-k", ks=[1, 50]).max_samples == 50


def test_more_evaluations_than_one_transaction_should_store_are_refused(shop: Shop, monkeypatch: Any) -> None:
    monkeypatch.setattr(submission_rules, "MAX_EVALUATIONS", 2)
    with pytest.raises(Refused) as refusal:
        shop.send(shop.cast.entrant, GIVEN)
    assert refusal.value.code == "too_many_evaluations"
    assert not Submission.objects.exists()


def test_a_draft_cannot_promise_more_samples_than_it_takes(client: Any, cast: factories.Cast) -> None:
    draft = factories.release(1, "draft-1", publish=False)
    client.force_login(cast.organiser)
    address = reverse("admin:problems_release_change", args=[draft.pk])
    form = {"title": "T", "slug": "draft-1", "primary_metric": "pass@50", "timing_policy": "ranked", "ks": "[1, 2]",
            "weights": "{}", "max_samples": "20", "question_samples": "1"}  # fmt: skip
    assert "pass@50 needs as many" in markup(client.post(address, form))
    client.post(address, form | {"max_samples": "50"} | opened(client, address))
    draft.refresh_from_db()
    assert (draft.primary_metric, draft.max_samples) == ("pass@50", 50)
