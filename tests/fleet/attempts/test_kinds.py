"""Agreement of the site and its nodes on a problem's kind, its files, its cases and an evaluation's purpose."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test import Client

from leaderboard import blobs
from leaderboard.models import Evaluation, ProblemScore, ProblemTrack, Result, ResultCase
from leaderboard.signals import evaluations_queued
from problems import triggers
from problems.models import Problem, ProblemBlob
from problems.spec.kinds import Kind
from runners.fleet.models import Attempt, Job
from runners.wire.protocol import (
    JUDGE_VERSIONS,
    MAX_CASES,
    Audience,
    CaseField,
    CaseReport,
    Clock,
    MeasurementReport,
    Purpose,
    Role,
    Verdict,
    Witness,
)
from tests.fleet.site import Site, WireNode, passed
from tests.markup import markup
from tests.packs import problem

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

CASES = [
    CaseReport(
        name="n = 1024",
        verdict=Verdict.PASSED,
        fields=[
            CaseField(name="size", value=1024, audience=Audience.PUBLIC),
            CaseField(name="largest_difference", value=0.5, audience=Audience.TEAM),
            CaseField(name="seed", value="seed words", audience=Audience.ORGANISER),
        ],
    ),
    CaseReport(name="n = 4096", verdict=Verdict.WRONG_ANSWER),
]


@pytest.fixture
def site() -> Site:
    return Site.make([problem("a/1")])


@pytest.fixture
def node(site: Site) -> WireNode:
    return WireNode()


def with_files(site: Site, **files: bytes) -> None:
    """Give the first problem files that do not lie in its record, as an import does before publication."""
    owner = site.release.problems.get(task_id="a/1")
    with triggers_off():
        for name, content in files.items():
            sha256 = blobs.store().put(content)
            ProblemBlob.objects.create(problem=owner, name=name, sha256=sha256, size_bytes=len(content))


@contextmanager
def triggers_off() -> Iterator[None]:
    """The release of `Site` is published; a draft could be changed freely."""
    triggers.remove(connection)
    yield
    triggers.install(connection)


def test_work_names_the_kind_and_the_judges_version(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"]})
    work = node.take()
    assert work["problem"]["kind"] == "command"
    assert work["problem"]["profile"] == site.release.profile
    assert work["judge_version"] == JUDGE_VERSIONS[Kind.COMMAND] == Evaluation.objects.get().judge_version
    assert work["rules"]["purpose"] == "grade"


def test_a_node_reads_the_further_files_of_its_problem_by_name() -> None:
    site, node = Site.make(), WireNode()
    with_files(site, weights=b"1 2 3")
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    first, second = node.take(), node.take()
    ref = first["problem"]["blobs"]["weights"]
    assert ref == {"sha256": hashlib.sha256(b"1 2 3").hexdigest(), "size_bytes": 5}
    assert b"".join(node.blob(first, ref["sha256"]).streaming_content) == b"1 2 3"
    assert second["problem"]["blobs"] == {}
    assert node.blob(second, ref["sha256"]).status_code == 404


def test_the_files_of_a_published_problem_never_change(site: Site) -> None:
    with_files(site, weights=b"1 2 3")
    stored = ProblemBlob.objects.get()
    for change in (
        lambda: ProblemBlob.objects.update(name="other"),
        lambda: ProblemBlob.objects.all().delete(),
        lambda: ProblemBlob.objects.create(problem=stored.problem, name="x", sha256="0" * 64, size_bytes=1),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


def test_a_judge_names_its_stages_freely(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"]})
    work = node.take()
    assert node.heartbeat(work, "checking").status_code == 200
    assert Attempt.objects.get().work_stage == "checking"
    assert node.heartbeat(work, "<b>Checking</b>").status_code == 400


def test_heartbeats_bring_the_cases_finished_so_far(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"]})
    work = node.take()
    case = {"name": "n = 1", "verdict": "passed"}
    assert node.heartbeat(work, cases=[case]).status_code == 200
    assert [row["name"] for row in Attempt.objects.get().cases] == ["n = 1"]
    assert node.heartbeat(work, cases=[case] * (MAX_CASES + 1)).status_code == 400


def test_a_report_leaves_its_cases_with_the_result_for_good(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"]})
    node.report(node.take(), passed(cases=CASES))
    rows = list(Result.objects.get().cases.values_list("position", "name", "verdict"))
    assert rows == [(0, "n = 1024", "passed"), (1, "n = 4096", "wrong_answer")]
    for change in (lambda: ResultCase.objects.update(verdict="passed"), lambda: ResultCase.objects.all().delete()):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


@pytest.mark.parametrize(
    ("who", "facts"),
    [
        (None, {"size"}),
        ("owner", {"size", "largest_difference"}),
        ("organiser", {"size", "largest_difference", "seed"}),
    ],
)
def test_each_field_of_a_case_is_shown_to_its_audience(site: Site, node: WireNode, who: str | None, facts: Any) -> None:
    site.submit({"a/1": ["exit 0"]})
    node.report(node.take(), passed(cases=CASES))
    browser = Client()
    if who:
        browser.force_login(getattr(site, who))
    pk = Evaluation.objects.get().pk
    told = browser.get(f"/api/v1/evaluations/{pk}").json()["result"]["cases"]
    assert [(case["name"], case["verdict"]) for case in told] == [("n = 1024", "passed"), ("n = 4096", "wrong_answer")]
    assert set(told[0]["facts"]) == facts
    page = markup(browser.get(f"/evaluations/{pk}/"))
    assert "n = 4096" in page
    assert ("seed words" in page) == (who == "organiser")


def shadow_of(evaluation: Evaluation) -> Evaluation:
    """The same work once more, to try the judge."""
    evaluation.pk, evaluation.purpose, evaluation.state = None, Purpose.SHADOW, "queued"
    evaluation.current_result = None
    evaluation.save(force_insert=True)
    evaluations_queued.send(Evaluation, evaluation_ids=[evaluation.pk], priority=0)
    return evaluation


def test_a_shadow_evaluation_changes_no_score_and_no_baseline(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"]})
    node.report(node.take(), passed())
    before = ProblemScore.objects.values_list("n_samples", "n_passed", "n_pending").get()
    shadow = shadow_of(Evaluation.objects.get())
    work = node.take()
    assert work["rules"]["purpose"] == "rerun"
    times = {"median_ms": 5.0, "runs_ms": [5.0], "clock": Clock.OUTSIDE, "witness": Witness.SEEN}
    measurements = [MeasurementReport(role=role, **times) for role in Role]
    node.report(work, passed(measurements=measurements).model_copy(update={"verdict": Verdict.TEST_FAILED}))
    shadow.refresh_from_db()
    assert shadow.current_result is not None
    assert shadow.current_result.verdict == "test_failed"
    assert ProblemScore.objects.values_list("n_samples", "n_passed", "n_pending").get() == before
    assert not ProblemTrack.objects.filter(baseline_median_ms__isnull=False).exists()


def test_only_organisers_see_a_shadow_evaluation(site: Site, node: WireNode) -> None:
    submission = site.submit({"a/1": ["exit 0"]})
    node.report(node.take(), passed())
    pk = shadow_of(Evaluation.objects.get()).pk
    browser = Client()
    browser.force_login(site.owner)
    assert browser.get(f"/evaluations/{pk}/").status_code == 404
    assert browser.get(f"/api/v1/evaluations/{pk}").status_code == 404
    assert browser.get(f"/api/v1/submissions/{submission.pk}/progress").json()["total"] == 1
    browser.force_login(site.organiser)
    assert browser.get(f"/evaluations/{pk}/").status_code == 200


def test_one_live_evaluation_of_a_sample_track_and_judge(site: Site) -> None:
    site.submit({"a/1": ["exit 0"]})
    twin = Evaluation.objects.get()
    twin.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        twin.save(force_insert=True)


def test_a_job_belongs_to_an_evaluation_or_to_a_trial(site: Site) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Job.objects.create(track=site.track, stage="both")


def test_no_job_is_made_for_a_problem_that_the_site_settles(site: Site) -> None:
    site.submit({"a/1": ["exit 0"]})
    Job.objects.all().delete()
    with triggers_off():
        Problem.objects.update(kind=Kind.CHOICE)
    evaluations_queued.send(Evaluation, evaluation_ids=[Evaluation.objects.get().pk], priority=0)
    assert not Job.objects.exists()
