"""Conditions of publishing a release: its metric can rank it, and its problems are verified."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from leaderboard.actions.curation import curate
from leaderboard.actions.curation.tracks import offer
from leaderboard.actions.curation.verify import verify
from leaderboard.curation.verification import missing_lines, verifications
from leaderboard.errors import Refused
from leaderboard.models import AuditEntry, Track
from problems.actions.releases import ReleaseRefused, import_release
from problems.formats.errors import PackRefused
from problems.models import Release
from runners.wire.protocol import Provenance, Report, StepReport, Verdict, Witness
from tests import factories
from tests.markup import markup
from tests.packs import problem, problem_pack

pytestmark = pytest.mark.django_db
PEAKS = {"gbps": 40.0, "gflops": {"fp32": 900.0}}
TIMED = {"benchmark_command": "sh solution.sh"}
UNVERIFIED = "tested by hand"
KNOWN_BAD = [{"name": "fails", "expect": "test_failed", "files": [{"path": "solution.sh", "content": "exit 3"}]}]


def draft(*, track: Track | None = None, problems: list[dict[str, Any]] | None = None, **metadata: Any) -> Release:
    made = import_release(problem_pack(problems or [problem("a/1")], **metadata)).release
    offer(None, made, track or factories.TrackFactory())
    return made


def work(**podium: Any) -> dict[str, Any]:
    return problem("a/1", **TIMED, podium={"build_only": [], **podium})


def refusal(release: Release, reason: str = UNVERIFIED) -> str:
    with pytest.raises(Refused) as refused:
        curate.publish(None, release, reason)
    release.refresh_from_db()
    assert release.is_draft
    return str(refused.value)


@pytest.mark.parametrize(
    ("metric", "one", "words"),
    [
        ("speedup", problem("a/1"), "test-1 on cpu-test cannot be ranked by speedup: it needs problems with a bench"),
        ("speedup", problem("a/1", **TIMED, baseline_solution=None), "Give a problem `benchmark_command`"),
        ("speedup", problem("a/1", **TIMED, timing_mode={"type": "custom"}), "a `timing_mode` other than custom"),
        ("speedup", problem("a/1", **TIMED, timing_mode={"type": "gpu"}), "a clock that ranks"),
        ("gflops", work(bytes=8.0), "it needs timed problems that declare `flops`"),
        ("roofline", work(), "it needs timed problems that declare `flops` or `bytes`"),
        ("roofline", work(flops=1e6), "needs the track's measured peaks. Start a node on the track"),
        ("sol_score", work(), "it needs timed problems that declare `flops` or `bytes`"),
        ("sol_score", work(flops=1e6), "those of the fastest arithmetic that the tolerances admit. Start a node on"),
        ("weighted", problem("a/1"), "test-1 has no weight for the groups shell"),
    ],
)
def test_a_metric_without_what_it_needs_is_refused_in_words(metric: str, one: dict[str, Any], words: str) -> None:
    assert words in refusal(draft(problems=[one], primary_metric=metric))


def test_a_weight_for_a_group_that_is_not_there_is_refused() -> None:
    made = draft()
    Release.objects.filter(pk=made.pk).update(weights={"sell": 2.0})  # a problem of the group was left out since
    made.refresh_from_db()
    assert "a weight, but no coding problem, for the groups sell" in refusal(made)


def test_values_that_were_never_checked_are_refused() -> None:
    made = draft()
    Release.objects.filter(pk=made.pk).update(ks=[0, "x"])
    made.refresh_from_db()
    assert "`ks`" in refusal(made)


@pytest.mark.parametrize(
    ("metric", "one"),
    [
        ("pass@10", problem("a/1")),
        ("speedup", work()),
        ("gflops", work(flops=1e6)),
        ("roofline", work(bytes=1e6)),
        ("sol_score", work(flops=1e6)),
        ("weighted", problem("a/1")),
    ],
)
def test_a_metric_with_what_it_needs_is_published(metric: str, one: dict[str, Any]) -> None:
    track = factories.TrackFactory(peaks=PEAKS)
    made = draft(track=track, problems=[one], primary_metric=metric, weights={"shell": 2.0})
    curate.publish(None, made, UNVERIFIED)
    assert made.state == "published"


def test_sol_score_needs_the_peak_of_the_fastest_arithmetic_and_the_roofline_that_of_the_declared_one() -> None:
    track, one = factories.TrackFactory(peaks=PEAKS), work(flops=1e6, flops_dtype="tf32")
    assert "needs the track's measured peaks, those" in refusal(
        draft(track=track, problems=[one], primary_metric="sol_score")
    )
    made = draft(track=track, problems=[one | {"task_id": "a/2"}], primary_metric="roofline")
    curate.publish(None, made, UNVERIFIED)
    assert made.state == "published"


def test_each_track_must_have_what_the_metric_needs() -> None:
    made = draft(track=factories.TrackFactory(peaks=PEAKS), problems=[work(flops=1e6)], primary_metric="roofline")
    offer(None, made, Track.objects.create(slug="bare", title="Bare", device="cpu"))
    assert "test-1 on bare cannot be ranked by roofline" in refusal(made)


def test_a_published_release_is_not_offered_where_it_cannot_be_ranked() -> None:
    made = draft(track=factories.TrackFactory(peaks=PEAKS), problems=[work(flops=1e6)], primary_metric="roofline")
    curate.publish(None, made, UNVERIFIED)
    with pytest.raises(Refused, match="test-1 on bare cannot be ranked by roofline"):
        offer(None, made, Track.objects.create(slug="bare", title="Bare", device="cpu"))
    assert made.on_tracks.count() == 1


def verified(made: Release, verdicts: dict[str, Verdict] | None = None) -> None:
    """Run the checks; `verdicts` are those of the system entrants."""
    ends = {"_reference": Verdict.PASSED, "_empty": Verdict.TEST_FAILED, "_known-bad": Verdict.TEST_FAILED}
    ends |= verdicts or {}
    (place,) = made.on_tracks.all()
    for one in verify(None, made, place.track):
        factories.judge(one, lambda _, it=ends[one.entrant.slug]: factories.report(it))


def test_a_release_that_no_node_has_verified_is_refused() -> None:
    words = refusal(draft(), reason="")
    assert "test-1 is not verified: problem a/1: its reference has not been run on cpu-test." in words
    assert "Verify it on a node of one of its tracks" in words
    assert "manage.py" not in words, "an organiser reads it on a page"


def test_the_command_says_how_a_command_verifies() -> None:
    draft()
    ways = r"`manage\.py verify_release SLUG --track TRACK`, with --why-it-ranks PROBLEM .*or --unverified REASON"
    with pytest.raises(CommandError, match=ways):
        call_command("publish_release", "test-1")


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        ({"_reference": Verdict.TEST_FAILED}, "its reference is test_failed, expected passed"),
        ({"_reference": Verdict.PLATFORM_ERROR}, "its reference is platform_error, expected passed"),
        ({"_empty": Verdict.PASSED}, "its empty solution is passed, expected anything but passed"),
        ({"_empty": Verdict.PLATFORM_ERROR}, "its empty solution is platform_error"),
        ({"_known-bad": Verdict.PASSED}, "its known-bad solution fails is passed, expected test_failed"),
    ],
)
def test_a_check_that_ends_otherwise_than_it_must_is_named(verdicts: dict[str, Verdict], words: str) -> None:
    made = draft(problems=[problem("a/1", podium={"build_only": [], "known_bad": KNOWN_BAD})])
    verified(made, verdicts)
    assert f"problem a/1: {words}" in refusal(made, reason="")


def test_a_problem_without_a_reference_is_named() -> None:
    made = draft(problems=[problem("a/1", baseline_solution=None)])
    assert "problem a/1: it has no reference solution" in refusal(made, reason="")


def test_a_verified_release_is_published_and_its_results_are_the_proof() -> None:
    made = draft(problems=[problem("a/1", podium={"build_only": [], "known_bad": KNOWN_BAD})])
    verified(made)
    curate.publish(None, made, "not needed")
    (found,) = verifications(made)
    assert (made.state, made.unverified_reason) == ("published", "")
    assert (found.track.slug, len(found.results), found.missing) == ("cpu-test", 3, "")


def test_one_track_that_verifies_a_problem_is_enough() -> None:
    made = draft()
    verified(made)
    offer(None, made, Track.objects.create(slug="another", title="Another", device="cpu"))
    assert missing_lines(made) == []


def test_a_problem_that_every_track_skips_needs_no_verification() -> None:
    made = draft(problems=[problem("a/1"), problem("b/1", type="cuda_cpp")])
    verified(made)
    assert missing_lines(made) == []


def test_a_question_needs_no_verification() -> None:
    made = draft()
    made.problems.update(kind="choice")
    curate.set_question_policy(None, made, "practice", None)
    curate.publish(None, made)
    assert (made.state, made.unverified_reason) == ("published", "")


# ---- promises ------------------------------------------------------------------------------------------------------

SAME = {"benchmark_command": "sh  test/t.sh", "timing_mode": {"type": "process"}}
SEPARATE = {"build_only": [], "harness": "separate"}


@pytest.mark.parametrize(
    ("promise", "good", "bad", "words"),
    [
        ("one_command", problem("a/1", **SAME), problem("b/1", **TIMED), "every problem times its test command"),
        ("separate_harness", problem("a/1", podium=SEPARATE), problem("b/1"), "every problem has `harness: separate`"),
    ],
)
def test_a_promise_that_some_problem_breaks_is_refused_with_its_name(
    promise: str, good: dict[str, Any], bad: dict[str, Any], words: str
) -> None:
    kept = draft(problems=[good], **{promise: True})
    assert getattr(kept, promise) is True
    curate.publish(None, kept, UNVERIFIED)
    broken = draft(problems=[good, bad], release="test-2", **{promise: True})
    with pytest.raises(ReleaseRefused, match=rf"test-2 promises that {words}; not so: b/1\."):
        curate.publish(None, broken, UNVERIFIED)
    setattr(broken, promise, False)
    broken.save()
    curate.publish(None, broken, UNVERIFIED)


def test_a_promise_is_fixed_by_publication() -> None:
    made = draft(problems=[problem("a/1", podium=SEPARATE)], separate_harness=True)
    curate.publish(None, made, UNVERIFIED)
    with pytest.raises(IntegrityError), transaction.atomic():
        Release.objects.filter(pk=made.pk).update(separate_harness=False)


def test_a_promise_of_the_pack_must_be_yes_or_no() -> None:
    with pytest.raises(PackRefused, match="one_command"):
        draft(one_command="perhaps")


def early(status: int, verdict: Verdict = Verdict.TEST_FAILED) -> Report:
    step = StepReport(name="test", exit_code=status, wall_ms=3.0)
    return Report(verdict=verdict, witness=Witness.SEEN, steps=[step], provenance=Provenance())


def verified_with_early_end(made: Release, ending: Report) -> None:
    ends = {"_reference": Verdict.PASSED, "_empty": Verdict.TEST_FAILED}
    (place,) = made.on_tracks.all()
    submissions = verify(None, made, place.track)
    assert [one.entrant.slug for one in submissions] == [*ends, "_early-end"]
    for one in submissions:
        slug = one.entrant.slug
        report = factories.report(ends[slug]) if slug in ends else ending
        factories.judge(one, lambda _, it=report: it)


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (early(0), "its solution that ends at once ends the test with status 0: the harness is not `separate`"),
        (early(0, Verdict.PASSED), "its solution that ends at once is passed, expected anything but passed"),
        (
            Report(verdict=Verdict.BUILD_FAILED, provenance=Provenance()),
            "its solution that ends at once is build_failed before its test ran",
        ),
        (early(1), ""),
    ],
)
def test_a_separate_harness_is_tried_by_a_solution_that_ends_its_process(ending: Report, words: str) -> None:
    made = draft(problems=[problem("a/1", podium=SEPARATE)])
    verified_with_early_end(made, ending)
    assert (words in refusal(made, reason="")) if words else missing_lines(made) == []


def test_a_reason_stands_on_the_releases_pages_and_in_the_log(client: Any) -> None:
    made = draft()
    curate.publish(None, made, "No node with this GPU.")
    curate.make_public(None, made)
    page = markup(client.get(f"/releases/{made.slug}/"))
    assert "Published without verification on this site: No node with this GPU." in page
    assert client.get(f"/api/v1/releases/{made.slug}").json()["unverified_reason"] == "No node with this GPU."
    assert AuditEntry.objects.get(action="publish").reason == "No node with this GPU."
