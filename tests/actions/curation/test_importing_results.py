"""An organiser brings in results measured elsewhere: all or nothing, harmless again, and never a job."""

from pathlib import Path
from typing import Any

import pytest

from leaderboard import blobs
from leaderboard.actions.submissions.rerun import rerun
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.imports.import_results import ImportedResults, ImportTarget, import_results
from leaderboard.models import (
    AuditEntry,
    Counted,
    Evaluation,
    Measurement,
    ProblemScore,
    ProblemTrack,
    Result,
    Standing,
    Submission,
    Track,
)
from leaderboard.standings.rank import rebuild
from problems.formats.errors import PackRefused
from problems.formats.graded_rows import lean_file
from problems.models import Release
from runners.fleet.models import Job
from tests import factories, graded, packs

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def gpu_problem(n: int, **changes: Any) -> dict[str, Any]:
    podium = {"build_only": [], "flops": 4e9, "bytes": 8e6, "title": f"Kernel {n}"}
    return packs.problem(f"Kernel/{n}", type="cuda_cpp", podium=podium, **changes)


@pytest.fixture
def track() -> Track:
    return factories.TrackFactory(
        slug="nvidia-h200-cuda13.0", device="gpu", hardware_name=graded.H200, compute_capability="9.0", toolkit="13.0"
    )


@pytest.fixture
def release(track: Track) -> Release:
    made = factories.release(2, "gpu-1", problem=gpu_problem)
    factories.track_actions.offer(None, made, track)
    return made


@pytest.fixture
def place(cast: factories.Cast, release: Release, track: Track) -> ImportTarget:
    return ImportTarget(cast.entrant, release, track)


class Importer:
    """Writes rows to a file and imports it."""

    def __init__(self, place: ImportTarget, folder: Path) -> None:
        self.place, self.path = place, folder / "alpha-graded-solutions.jsonl"

    def __call__(self, *rows: dict[str, Any], user: Any = None) -> ImportedResults:
        return import_results(user, self.place, graded.write(self.path, rows), self.path.name)


@pytest.fixture
def bring(place: ImportTarget, tmp_path: Path) -> Importer:
    return Importer(place, tmp_path)


def first(release: Release) -> Any:
    return release.problems.order_by("position").first()


def test_rows_become_a_counted_submission_with_imported_results_and_no_job(bring: Importer, release: Release) -> None:
    done = bring(*graded.rows(release))
    assert (done.n_stored, done.n_known) == (4, 0)
    submission = done.submission
    assert (submission.state, submission.is_full, submission.submitted_through) == ("done", True, "import")
    assert (submission.name, submission.n_samples_per_problem) == ("alpha", 2)
    assert {one.origin for one in Result.objects.all()} == {"imported"}
    assert {one.attempt for one in Result.objects.all()} == {None}
    assert not Job.objects.exists()
    assert Counted.objects.get().submission == submission


def test_measurements_provenance_and_device_are_as_in_the_row(bring: Importer, release: Release) -> None:
    bring(*graded.rows(release, n_samples=1))
    result = Result.objects.first()
    assert result.provenance["gpu"] == graded.H200
    assert result.provenance["peaks"]["gbps"] == 4000.0
    one = result.measurements.get()
    assert (one.median_ms, one.clock, one.work_checked, one.ranks) == (2.0, "in_process", True, True)
    assert one.device["sm_clock_mhz"] == 1980.0
    assert one.measured_at.isoformat() == graded.MEASURED
    assert result.speedup == pytest.approx(4.0)


def test_a_baseline_that_all_rows_share_is_stored_once_a_problem(bring: Importer, release: Release) -> None:
    bring(*graded.rows(release, n_samples=3))
    assert Measurement.objects.filter(role="baseline").count() == 2
    assert ProblemTrack.objects.filter(has_rankable_baseline=True, baseline_median_ms=8.0).count() == 2


def test_another_baseline_under_the_same_name_is_not_taken_for_it(bring: Importer, release: Release) -> None:
    other = graded.measurement(graded.Role.BASELINE, 4.0, shared=True, key="fingerprint@here@1")
    second = graded.row(first(release), 1)
    second["podium"]["measurements"][0] = other.model_dump(mode="json")
    bring(graded.row(first(release), 0), second)
    assert sorted(one.speedup for one in Result.objects.all()) == pytest.approx([2.0, 4.0])


def test_the_same_file_again_stores_nothing(bring: Importer, release: Release) -> None:
    before = bring(*graded.rows(release)).submission
    again = bring(*graded.rows(release))
    assert (again.submission, again.n_stored, again.n_known) == (before, 0, 4)
    assert (Submission.objects.count(), Result.objects.count()) == (1, 4)
    assert AuditEntry.objects.filter(action="import results").count() == 1


def test_a_lean_file_is_the_same_file(bring: Importer, release: Release, place: ImportTarget, tmp_path: Path) -> None:
    bring(*graded.rows(release))
    lean = tmp_path / "alpha.jsonl.gz"
    lean.write_bytes(lean_file(bring.path))
    again = import_results(None, place, lean, lean.name)
    assert (again.n_stored, again.n_known) == (0, 4)


def test_measured_again_the_newer_result_is_current_and_the_old_one_stays(bring: Importer, release: Release) -> None:
    bring(graded.row(first(release), 0, time_ms=2.0))
    again = bring(graded.row(first(release), 0, time_ms=1.0))
    assert again.n_stored == 1
    evaluation = Evaluation.objects.get()
    assert [one.speedup for one in evaluation.results.all()] == pytest.approx([8.0, 4.0])
    assert evaluation.current_result.speedup == pytest.approx(8.0)
    assert ProblemScore.objects.get().best_ms == pytest.approx(1.0)


def test_flags_come_along_and_keep_the_time_from_ranking(bring: Importer, release: Release) -> None:
    flag = {"code": "busy_disagrees", "scope": "time", "detail": "The device was at work twice as long."}
    bring(graded.row(first(release), 0, flags=[flag]))
    assert Result.objects.get().flags.get().code == "busy_disagrees"
    score = ProblemScore.objects.get()
    assert (score.n_passed, score.n_timed, score.n_time_flagged) == (1, 0, 1)


def test_a_board_of_imported_results_ranks_and_can_be_recomputed(
    bring: Importer, release: Release, track: Track
) -> None:
    bring(*graded.rows(release))
    factories.rank(release, track)
    standing = Standing.objects.get()
    assert (standing.rank, standing.pass_at_1, standing.speedup) == (1, 1.0, pytest.approx(4.0))
    assert rebuild(check=True) == []


def test_the_first_peaks_become_the_tracks(bring: Importer, release: Release, track: Track) -> None:
    bring(*graded.rows(release))
    track.refresh_from_db()
    assert track.peaks["gflops"]["fp32"] == 50_000.0


def test_where_it_was_measured_is_kept_with_the_submission(bring: Importer, release: Release) -> None:
    submission = bring(*graded.rows(release)).submission
    assert submission.measured_where == {
        "machines": ["NVIDIA H200 (driver 580.82.07, CUDA 13.0)"], "first_day": "2026-11-20", "last_day": "2026-11-20",
    }  # fmt: skip


def test_logs_and_problems_are_not_kept_but_solutions_are(bring: Importer, release: Release) -> None:
    row = graded.row(first(release))
    row["podium"]["steps"][0]["log"] = {"blob": {"sha256": "0" * 64, "size_bytes": 1}}
    bring(row)
    assert Result.objects.get().steps[0]["log"]["blob"] is None
    sample = Submission.objects.get().samples.get(invalid_reason="")
    assert b"datapack_name" not in blobs.read(sample.solution_sha256)


def test_rows_of_compute_eval_pass_unwitnessed_and_their_times_are_flagged(bring: Importer, release: Release) -> None:
    one, other = release.problems.order_by("position")
    bring(graded.compute_evals_row(one, "exit 0"), graded.compute_evals_row(other, "exit 1", passed=False))
    passed, failed = Result.objects.order_by("evaluation__problem__position")
    assert (passed.verdict, passed.witness, passed.evaluation.judge_version) == (
        "passed",
        "unavailable",
        "compute-eval",
    )
    assert [flag.code for flag in passed.flags.all()] == ["no_provenance"]
    assert [(row.clock, row.ranks) for row in Measurement.objects.all()] == [("in_process", False)] * 2
    assert not ProblemTrack.objects.filter(has_rankable_baseline=True).exists()
    assert failed.verdict == "test_failed"


@pytest.mark.parametrize(
    ("build", "test", "verdict"),
    [
        ("error: …", None, "build_failed"),
        ("[TIMEOUT EXPIRED after 60.0 seconds]", None, "timed_out"),
        (None, "[VALIDATION ERROR] Solution does not include required source references.", "source_reference_missing"),
        ("built", "[TIMEOUT EXPIRED after 60.0 seconds]", "timed_out"),
    ],
)
def test_compute_evals_outputs_tell_what_failed(
    bring: Importer, release: Release, build: str | None, test: str | None, verdict: str
) -> None:
    row = graded.compute_evals_row(first(release), "exit 1", passed=False)
    bring(row | {"build_output": build, "test_output": test})
    assert Result.objects.get().verdict == verdict


def test_a_solution_that_this_site_would_not_run_is_invalid_whatever_the_row_says(
    bring: Importer, release: Release
) -> None:
    row = graded.compute_evals_row(first(release), "exit 0")
    row["solution"]["files"] = [{"path": "test/../test/t.sh", "content": "exit 0"}]
    done = bring(row)
    assert done.n_stored == 0
    assert Result.objects.get().verdict == "invalid"


def test_a_problem_that_the_track_skips_is_skipped(bring: Importer, track: Track, cast: factories.Cast) -> None:
    made = factories.release(1, "gpu-2", problem=lambda n: gpu_problem(n, min_cuda_toolkit="13.1"))
    factories.track_actions.offer(None, made, track)
    bring.place = ImportTarget(cast.entrant, made, track)
    bring(graded.row(first(made), verdict="skipped"))
    result = Result.objects.get()
    assert (result.verdict, result.origin, result.reason) == (
        "skipped", "site", "needs CUDA toolkit 13.1 or newer, here is 13.0",
    )  # fmt: skip


def refused(bring: Importer, *rows: dict[str, Any]) -> str:
    """The words of the refusal, after which nothing may have been stored."""
    with pytest.raises((Refused, PackRefused)) as caught:
        bring(*rows)
    assert not Submission.objects.exists()
    assert not Evaluation.objects.exists()
    return str(caught.value)


def test_a_row_of_another_content_of_the_problem_is_refused_by_line(bring: Importer, release: Release) -> None:
    other = graded.row(first(release), 1, record_md5="0" * 32, grading_digest="0" * 64)
    words = refused(bring, graded.row(first(release), 0), other)
    assert words.startswith("Line 2: Kernel/0 was graded with another content of the problem than gpu-1 has")


def test_a_whole_row_without_fingerprints_is_held_against_the_problem_in_it(bring: Importer, release: Release) -> None:
    row = graded.row(first(release))
    del row["podium"]["record_md5"], row["podium"]["grading_digest"]
    changed = row | {"problem": row["problem"] | {"test_command": "true"}}
    assert "another content" in refused(bring, changed)
    assert bring(row).n_stored == 1


def test_words_for_people_may_have_changed_since(bring: Importer, release: Release) -> None:
    assert bring(graded.row(first(release), 0, record_md5="0" * 32)).n_stored == 1


def test_a_row_of_another_gpu_is_refused_by_line(bring: Importer, release: Release) -> None:
    foreign = graded.provenance(gpu="NVIDIA A100").model_dump(mode="json")
    words = refused(bring, graded.row(first(release), 0, provenance=foreign))
    assert "Line 1: measured on NVIDIA A100, but track nvidia-h200-cuda13.0 is NVIDIA H200" in words
    older = graded.provenance(toolkit="nvcc 12.8.61").model_dump(mode="json")
    assert "built with CUDA 12.8" in refused(bring, graded.row(first(release), 0, provenance=older))


def test_an_unknown_task_a_bad_number_and_a_contradiction_name_their_lines(bring: Importer, release: Release) -> None:
    unknown = graded.row(first(release)) | {"task_id": "Kernel/9"}
    assert "Line 1: task_id `Kernel/9` is not in release gpu-1" in refused(bring, unknown)
    endless = graded.row(first(release))
    endless["podium"]["measurements"][1]["median_ms"] = 1e300
    assert "Line 1: the row's field `measurements.1.median_ms`" in refused(bring, endless)
    assert "contradict the verdict" in refused(bring, graded.row(first(release)) | {"passed": False})


def test_a_sample_twice_or_left_out_is_refused(bring: Importer, release: Release) -> None:
    twice = refused(bring, graded.row(first(release), 0), graded.row(first(release), 0))
    assert "Line 2: sample 1 of Kernel/0 was on line 1 already" in twice
    assert "none of sample 1" in refused(bring, graded.row(first(release), 1))


def test_a_row_skipped_elsewhere_does_not_leave_this_tracks_denominator(bring: Importer, release: Release) -> None:
    assert "runs it: grade it" in refused(bring, graded.row(first(release), verdict="skipped"))


def test_what_is_no_graded_row_is_refused(bring: Importer, place: ImportTarget, tmp_path: Path) -> None:
    assert "field `passed` is missing" in refused(bring, {"task_id": "Kernel/0"})
    damaged = tmp_path / "x.jsonl.gz"
    damaged.write_bytes(b"\x1f\x8b\x08 nothing")
    with pytest.raises(PackRefused, match="damaged"):
        import_results(None, place, damaged, damaged.name)


def test_solutions_that_the_fleet_judges_are_not_overwritten(
    bring: Importer, cast: factories.Cast, release: Release, track: Track
) -> None:
    factories.submission(cast.entrant, release, track, script="exit 0 # sample", n_samples=2)
    with pytest.raises(Conflict, match="which this site's own nodes judge"):
        bring(*graded.rows(release))


def test_an_imported_result_can_be_run_again_here_and_shows_both(
    bring: Importer, cast: factories.Cast, release: Release
) -> None:
    bring(graded.row(first(release)))
    evaluation = Evaluation.objects.select_related("submission__entrant", "current_result").get()
    assert rerun(cast.organiser, [evaluation], "see it here") == 1
    with pytest.raises(Conflict, match="under way"):
        bring(graded.row(first(release), time_ms=3.0))
    factories.judge(evaluation.submission)
    assert [one.origin for one in evaluation.results.all()] == ["fleet", "imported"]


def test_only_organisers_import(bring: Importer, cast: factories.Cast, release: Release) -> None:
    with pytest.raises(NotAllowed):
        bring(*graded.rows(release), user=cast.owner)
    assert bring(*graded.rows(release), user=cast.organiser).n_stored == 4
    assert AuditEntry.objects.get(action="import results").actor == cast.organiser
