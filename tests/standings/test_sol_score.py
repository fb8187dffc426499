"""sol_score on a board: from declared work, measured peaks, the baseline's time and each sample's times by case."""

import importlib
from typing import Any

import pytest
from django.apps import apps
from django.urls import reverse

from leaderboard.actions.intake.submit import submit
from leaderboard.actions.submissions.record_result import record_result
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import ProblemTrack, Standing, Submission, Track
from leaderboard.models.boards.estimates import part_of
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.rows.origin import Origin
from leaderboard.rows.submissions import SubmissionMetadata
from leaderboard.standings import rank
from leaderboard.standings.scores import touch
from problems.actions import releases
from problems.formats.submission import read_submission
from problems.models import Release
from problems.spec.case import Case
from runners.wire.protocol import (
    Clock,
    FlagReport,
    FlagScope,
    MeasurementReport,
    Provenance,
    Report,
    Role,
    Verdict,
    Witness,
)
from tests import factories, packs
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
PEAKS = {"gbps": 1000.0, "gflops": {"fp32": 1000.0, "tf32": 4000.0}}
CASES = [
    Case(name="1k", flops=4e9, bytes=1e6, fastest_dtype="tf32"),  # 1 ms at the peak of tf32, 4 ms at that of fp32
    Case(name="1m", flops=4e6, bytes=2e9, fastest_dtype="tf32"),  # 2 ms at the peak of the memory
]
REFERENCE = {"1k": 5.0, "1m": 4.0}


@pytest.fixture
def made() -> Release:
    """Two problems of two cases each, ranked by sol_score on a track with peaks."""
    made = factories.release(2, publish=False, primary_metric="sol_score")
    made.problems.update(cases=[case.model_dump(mode="json") for case in CASES])
    releases.publish(made)
    return made


@pytest.fixture
def track(made: Release) -> Track:
    track = factories.TrackFactory(peaks=PEAKS)
    factories.track_actions.offer(None, made, track)
    return track


@pytest.fixture
def submission(cast: factories.Cast, made: Release, track: Track) -> Submission:
    return factories.submission(cast.entrant, made, track, n_samples=2)


def measured(role: Role, case: str, median_ms: float, clock: Clock) -> MeasurementReport:
    return MeasurementReport(
        role=role, case=case, median_ms=median_ms, runs_ms=[median_ms], clock=clock, witness=Witness.SEEN
    )


def recorded(
    submission: Submission, position: int, index: int, own_ms: dict[str, float], *, self_timed: str = "",
    flags: tuple[FlagReport, ...] = (), baseline_ms: dict[str, float] = REFERENCE,
) -> None:  # fmt: skip
    """Record a sample: passed with these times by case, or failed without any."""
    measurements = [measured(Role.BASELINE, case, ms, Clock.OUTSIDE) for case, ms in baseline_ms.items()] + [
        measured(Role.CANDIDATE, case, ms, Clock.SELF if case == self_timed else Clock.OUTSIDE)
        for case, ms in own_ms.items()
    ]
    report = Report(
        verdict=Verdict.PASSED if own_ms else Verdict.TEST_FAILED, witness=Witness.SEEN, provenance=Provenance(),
        measurements=measurements if own_ms else [], flags=list(flags),
    )  # fmt: skip
    evaluation = submission.evaluations.get(problem__position=position, sample__index=index)
    record_result(evaluation, report, Origin(ResultOrigin.FLEET))


def standing() -> Standing:
    rank.rank_touched()
    assert rank.rebuild(check=True) == []
    return Standing.objects.get()


def _parts(found: Standing) -> tuple[int, ...]:
    return tuple(part_of(found.estimates, "sol_score", part) for part in ("problems", "left_out"))


def test_scores_are_means_over_cases_then_samples_then_problems(submission: Submission) -> None:
    recorded(submission, 0, 0, {"1k": 2.0, "1m": 6.0})  # 4 / (4 + 1) and 2 / (2 + 4)
    recorded(submission, 0, 1, {"1k": 0.5, "1m": 4.0})  # below the bound, and at the baseline
    recorded(submission, 1, 0, {"1k": 5.0, "1m": 2.0})  # at the baseline, and at the bound
    recorded(submission, 1, 1, {})
    found = standing()
    first, second = ((0.8 + 1 / 3) / 2 + (1 + 0.5) / 2) / 2, ((0.5 + 1) / 2 + 0) / 2
    assert found.figure("sol_score")[0] == found.primary_value == pytest.approx((first + second) / 2)
    assert (_parts(found), found.rank) == ((2, 0), 1)
    assert found.figure("sol_score")[1] is not None


def test_a_case_or_a_sample_without_a_time_that_ranks_counts_zero(submission: Submission) -> None:
    upheld = FlagReport(code="below_roofline", scope=FlagScope.TIME, detail="too fast")
    recorded(submission, 0, 0, {"1k": 5.0, "1m": 2.0}, self_timed="1m")  # 0.5 and nothing
    recorded(submission, 0, 1, {"1k": 1.0, "1m": 2.0}, flags=(upheld,))
    recorded(submission, 1, 0, {"1k": 1.0}, baseline_ms={"1k": 5.0})  # the other case was too short for a time
    recorded(submission, 1, 1, {})
    found = standing()
    assert found.figure("sol_score")[0] == pytest.approx((0.25 / 2 + 1 / 2) / 2)
    assert found.is_incomplete
    assert found.rank is None


def test_what_was_not_submitted_counts_zero(cast: factories.Cast, made: Release, track: Track) -> None:
    first, second = made.problems.order_by("position").values_list("task_id", flat=True)
    lines = [*(packs.solution(first, f"exit 0 # {n}") for n in range(3)), packs.solution(second, "exit 0")]
    draft = read_submission(packs.solution_pack(lines, made.datapack_release), "x.tar.gz", catalogue_of(made))
    submission = submit(cast.owner, SubmissionMetadata(cast.entrant, made, [track]), draft).submission
    for position, index in ((0, 0), (0, 1), (0, 2), (1, 0)):
        recorded(submission, position, index, {"1k": 1.0, "1m": 2.0})
    assert standing().figure("sol_score")[0] == pytest.approx((1 + 1 / 3) / 2)


def test_problems_whose_baseline_is_at_the_bound_are_left_out_and_counted(submission: Submission, client: Any) -> None:
    at_bound = {"1k": 1.0, "1m": 1.5}
    recorded(submission, 0, 0, {"1k": 5.0, "1m": 4.0})
    recorded(submission, 0, 1, {"1k": 5.0, "1m": 4.0})
    recorded(submission, 1, 0, {"1k": 0.9, "1m": 1.9}, baseline_ms=at_bound)
    recorded(submission, 1, 1, {})
    found = standing()
    assert (found.figure("sol_score")[0], *_parts(found)) == (0.5, 1, 1)
    page = markup(client.get(reverse("board", args=[submission.release.slug])))
    assert "over 1 problem; 1 left out, whose baseline is already at the bound" in page
    board = client.get(f"/api/v1/releases/{submission.release.slug}/board").json()
    assert board["primary_metric"] == "sol_score"
    assert [row["sol_score"] for row in board["standings"]] == [0.5]
    assert {"sol_score_low", "sol_score_high", "sol_score_left_out"} <= board["standings"][0].keys()


def test_a_case_whose_baseline_is_at_the_bound_leaves_the_mean_over_cases(submission: Submission) -> None:
    for position in range(2):
        for index in range(2):
            recorded(submission, position, index, {"1k": 2.0, "1m": 9.0}, baseline_ms={"1k": 5.0, "1m": 2.0})
    assert standing().figure("sol_score")[0] == pytest.approx(0.8)


def test_new_peaks_give_new_scores_and_missing_ones_a_reason(submission: Submission, track: Track) -> None:
    for position in range(2):
        for index in range(2):
            recorded(submission, position, index, {"1k": 3.0, "1m": 2.0})
    assert standing().figure("sol_score")[0] == pytest.approx((4 / 6 + 1) / 2)
    Track.objects.filter(pk=track.pk).update(peaks={"gbps": 2000.0, "gflops": {"tf32": 2000.0}})
    touch(submission.release_id, track.pk)
    assert standing().figure("sol_score")[0] == pytest.approx((3 / 4 + 3 / 4) / 2)  # bounds of 2 and 1 ms
    Track.objects.filter(pk=track.pk).update(peaks={"gbps": 2000.0, "gflops": {"fp32": 2000.0}})
    touch(submission.release_id, track.pk)
    rank.rank_touched()
    (place,) = submission.release.on_tracks.all()
    assert "cannot be ranked by sol_score: it needs the track's measured peaks, those of the" in place.ranking_error


def test_an_upgrade_fills_the_baselines_times_by_case(submission: Submission) -> None:
    recorded(submission, 0, 0, {"1k": 2.0, "1m": 6.0})
    recorded(submission, 0, 1, {"1k": 2.0, "1m": 6.0}, baseline_ms={"1k": 7.0, "1m": 7.0})
    ProblemTrack.objects.update(baseline_cases_ms={})
    importlib.import_module("leaderboard.migrations.0009_sol_score").fill(apps, None)
    filled = ProblemTrack.objects.filter(has_rankable_baseline=True).values_list("baseline_cases_ms", flat=True)
    assert list(filled) == [REFERENCE]
