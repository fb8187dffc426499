"""Verify a draft on a node; carry results that still hold to the next revision."""

import pytest

from leaderboard.actions.curation import curate
from leaderboard.actions.curation.carry import carry
from leaderboard.actions.curation.tracks import offer
from leaderboard.actions.curation.verify import verify
from leaderboard.actions.problems import drafts
from leaderboard.curation.checklist import checklist
from leaderboard.curation.verification import traffic_lines, verification_report, verified_lines
from leaderboard.errors import NotAllowed
from leaderboard.models import AuditEntry, Counted, Evaluation, ProblemTrack, Result, Standing, Track
from problems.actions.releases import import_release, publish
from problems.models import Problem, Release
from problems.spec.kinds import Kind
from runners.fleet.models import Job
from runners.wire.protocol import (
    JUDGE_VERSIONS,
    CaseReport,
    Clock,
    MeasurementReport,
    Provenance,
    Report,
    Role,
    Verdict,
    Witness,
)
from tests.fleet.site import Site, WireNode
from tests.packs import problem, problem_pack

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

KNOWN_BAD = [{"name": "fails", "expect": "test_failed", "files": [{"path": "solution.sh", "content": "exit 3"}]}]


@pytest.fixture
def site() -> Site:
    return Site.make()


def draft(site: Site, **podium: object) -> Release:
    pack = problem_pack([problem("b/1", podium=podium)], release="test-2")
    release = import_release(pack).release
    offer(site.organiser, release, site.track)
    return release


def work_off(verdicts: dict[str, Verdict], **changes: object) -> None:
    """Report each piece of work by its script."""
    node = WireNode()
    fields = {"witness": Witness.SEEN, "provenance": Provenance()} | changes
    while (answer := node.claim()).status_code == 200:
        work = answer.json()
        script = b"".join(node.blob(work, work["solution"]["sha256"]).streaming_content).decode()
        verdict = next(v for text, v in verdicts.items() if text in script)
        node.report(work, Report(verdict=verdict, **fields))


EXPECTED = {"exit 0": Verdict.PASSED, "exit 3": Verdict.TEST_FAILED, '"content":""': Verdict.TEST_FAILED}


def test_a_release_is_verified_when_the_reference_passes_and_the_rest_fails(site: Site) -> None:
    release = draft(site, build_only=[], known_bad=KNOWN_BAD)
    assert len(verify(site.organiser, release, site.track)) == 3
    assert verification_report(release, site.track).pending == 3
    work_off(EXPECTED)
    report = verification_report(release, site.track)
    assert (report.passed, report.pending) == (True, 0)
    assert not Standing.objects.exists()


def test_an_empty_solution_that_passes_is_named(site: Site) -> None:
    release = draft(site, build_only=[])
    verify(site.organiser, release, site.track)
    work_off(EXPECTED | {'"content":""': Verdict.PASSED})
    report = verification_report(release, site.track)
    assert not report.passed
    assert any("b/1: its empty solution is passed, expected anything but passed" in line for line in report.lines)


def test_verifying_twice_makes_no_second_submission(site: Site) -> None:
    release = draft(site, build_only=[])
    first, second = (verify(site.organiser, release, site.track) for _ in range(2))
    assert first == second


def test_only_organisers_verify(site: Site) -> None:
    with pytest.raises(NotAllowed):
        verify(site.owner, draft(site), site.track)


def test_verifying_settles_which_files_a_run_can_do_without(site: Site) -> None:
    release = draft(site)
    before = Problem.objects.get(release=release)
    assert before.build_only is None
    verify(site.organiser, release, site.track)
    work_off(EXPECTED, withheld=["test/t.sh"])
    after = Problem.objects.get(release=release)
    assert after.build_only == ["test/t.sh"]
    assert after.grading_digest != before.grading_digest


COUNTED = {"l2_written_bytes": 9e9, "dram_read_bytes": 2.5e6, "downloaded_bytes": 1e8, "power_w": 500.0}


def timed_report(**device: object) -> MeasurementReport:
    return MeasurementReport(
        role=Role.CANDIDATE, median_ms=1.0, runs_ms=[1.0], clock=Clock.IN_PROCESS, witness=Witness.SEEN, device=device
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("yes", "its samples' writes are checked"),
        ("no: there is no program `ncu`", "writes are not checked (there is no program `ncu`)"),
    ],
)
def test_verifying_tells_what_the_reference_moves(site: Site, answer: str, words: str) -> None:
    release = draft(site, build_only=[])
    verify(site.organiser, release, site.track)
    assert traffic_lines(release) == []
    work_off(EXPECTED, measurements=[timed_report(**COUNTED, writes_checked=answer)])
    (line,) = traffic_lines(release)
    moved = "the reference writes 9000 MB to L2, reads 2.5 MB from DRAM, has 100 MB copied to the host"
    assert line == f"problem b/1 on {site.track.slug}: {moved}; {words}"


def test_a_reference_that_was_not_counted_has_no_line(site: Site) -> None:
    release = draft(site, build_only=[])
    verify(site.organiser, release, site.track)
    work_off(EXPECTED, measurements=[timed_report(power_w=500.0)])
    assert traffic_lines(release) == []


def next_revision(site: Site) -> Release:
    """The same problems in other words."""
    pack = problem_pack([problem("a/1", prompt="Said better."), problem("a/2", prompt="Said better.")])
    release = import_release(pack).release
    offer(site.organiser, release, site.track)
    publish(release)
    return release


def test_a_carried_result_keeps_its_cases(site: Site) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work_off(EXPECTED, cases=[CaseReport(name="small", verdict=Verdict.PASSED)])
    (new,) = carry(site.organiser, next_revision(site))
    for result in Result.objects.filter(evaluation__submission=new):
        assert [case.name for case in result.cases.all()] == ["small"]


def test_a_result_that_holds_never_enters_the_queue(site: Site) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work_off(EXPECTED)
    (new,) = carry(site.organiser, next_revision(site))
    new.refresh_from_db()
    assert new.state == "done"
    assert not Job.objects.filter(evaluation__submission=new).exists()


def test_a_carried_submission_keeps_its_wish_to_count_and_its_audit_entry_names_the_old_one(site: Site) -> None:
    old = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work_off(EXPECTED)
    (new,) = carry(site.organiser, next_revision(site))
    assert (new.asks_to_count, new.is_full, new.submitted_through) == (True, True, "site")
    entry = AuditEntry.objects.get(action="carry", detail__previous=old.pk)
    assert (entry.actor, entry.detail["reused"]) == (site.organiser, 2)


def test_what_verifies_a_release_never_counts(site: Site) -> None:
    for made in verify(site.organiser, site.release, site.track):
        assert not made.asks_to_count
    assert not Counted.objects.exists()


def test_only_organisers_carry(site: Site) -> None:
    with pytest.raises(NotAllowed):
        carry(site.owner, next_revision(site))


def test_results_of_an_earlier_judge_are_run_again(site: Site) -> None:
    old = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    old.evaluations.update(judge_version="1")
    work_off(EXPECTED)
    (new,) = carry(site.organiser, next_revision(site))
    assert set(new.evaluations.values_list("state", "judge_version")) == {("queued", JUDGE_VERSIONS[Kind.COMMAND])}


TIMED = MeasurementReport(role=Role.CANDIDATE, median_ms=1.0, runs_ms=[1.0], clock=Clock.OUTSIDE)


@pytest.mark.parametrize(("measured", "state"), [([TIMED], "queued"), ([], "done")])
def test_only_quick_times_are_measured_again_for_a_revision_that_promises_ranked_ones(
    measured: list[MeasurementReport], state: str
) -> None:
    site = Site.make(timing_policy="quick")
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work_off(EXPECTED, measurements=measured, provenance=Provenance(timing_policy="quick"))
    (new,) = carry(site.organiser, next_revision(site))
    assert set(new.evaluations.values_list("state", flat=True)) == {state}


def test_a_carried_result_keeps_the_times_of_its_baseline_by_case(site: Site) -> None:
    baseline = TIMED.model_copy(update={"role": Role.BASELINE, "median_ms": 4.0})
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work_off(EXPECTED, measurements=[baseline, TIMED], provenance=Provenance(timing_policy="ranked"))
    (new,) = carry(site.organiser, next_revision(site))
    on_track = ProblemTrack.objects.filter(problem__release=new.release)
    assert list(on_track.values_list("has_rankable_baseline", "baseline_cases_ms")) == [(True, {"": 4.0})] * 2


def test_results_that_hold_are_carried_and_the_rest_is_queued(site: Site) -> None:
    old = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work_off(EXPECTED)
    pack = problem_pack([problem("a/1", prompt="Said better."), problem("a/2", timeout_seconds=9.0)])
    release = import_release(pack).release
    offer(site.organiser, release, site.track)
    publish(release)
    (new,) = carry(site.organiser, release)
    assert new.pk != old.pk
    reused = Result.objects.get(evaluation__submission=new)
    assert reused.reused_from == Result.objects.get(evaluation__submission=old, evaluation__problem__task_id="a/1")
    assert reused.evaluation.problem.task_id == "a/1"
    assert new.evaluations.get(problem__task_id="a/2").state == "queued"
    assert Counted.objects.get(release=release).submission == new
    assert carry(site.organiser, release) == [new]
    work_off(EXPECTED)
    new.refresh_from_db()
    assert new.state == "done"


def verified_first(site: Site) -> Release:
    """`test-2`: b/1 and b/2, verified and published."""
    pack = problem_pack(
        [problem(f"b/{n}", podium={"build_only": [], "known_bad": KNOWN_BAD}) for n in (1, 2)], "test-2"
    )
    release = import_release(pack).release
    offer(site.organiser, release, site.track)
    verify(site.organiser, release, site.track)
    work_off(EXPECTED)
    curate.publish(site.organiser, release)
    return release


def test_unchanged_problems_of_the_next_revision_are_not_verified_again(site: Site) -> None:
    first = verified_first(site)
    second = drafts.next_revision(site.organiser, first)
    row = second.problems.get(task_id="b/2")
    other = problem("b/2", timeout_seconds=9.0, podium={"build_only": [], "known_bad": KNOWN_BAD})
    drafts.change_problem(site.organiser, row, other, row.record_md5)
    made = verify(site.organiser, second, site.track)
    queued = Job.objects.filter(state="queued", evaluation__submission__in=made)
    assert set(queued.values_list("evaluation__problem__task_id", flat=True)) == {"b/2"}
    work_off(EXPECTED)
    report = verification_report(second, site.track)
    assert report.passed
    assert "Reference solutions: 2 as expected, 0 not, 0 to come; 1 reused from test-2" in report.lines
    first_line, second_line = verified_lines(second)
    assert first_line.endswith(", reused from test-2")
    assert "reused" not in second_line
    (line,) = [one for one in checklist(second) if one.title == "Verification"]
    assert line.detail.startswith("1 on cpu-test, 1 on cpu-test by results of test-2; the last at")
    curate.publish(site.organiser, second)


def test_a_problem_that_was_not_verified_is_verified_in_the_next_revision(site: Site) -> None:
    pack = problem_pack([problem("b/1")], "test-2")
    first = import_release(pack).release
    offer(site.organiser, first, site.track)
    verify(site.organiser, first, site.track)
    work_off(EXPECTED | {'"content":""': Verdict.PASSED})
    curate.publish(site.organiser, first, "In haste.")
    second = drafts.next_revision(site.organiser, first)
    verify(site.organiser, second, site.track)
    assert Job.objects.filter(state="queued").count() == 2


@pytest.mark.parametrize("what", ["judge", "track"])
def test_another_judge_or_track_verifies_again(site: Site, what: str) -> None:
    first = verified_first(site)
    second = drafts.next_revision(site.organiser, first)
    if what == "judge":
        Evaluation.objects.update(judge_version="1")
    else:
        other = Track.objects.create(slug="other", title="Other", device="cpu")
        offer(site.organiser, second, other)
    verify(site.organiser, second, site.track if what == "judge" else other)
    assert Job.objects.filter(state="queued").count() == 6
