"""The node API: what a node may do, and that everything delivered twice, late or by a stranger is harmless."""

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.submissions.cancel import cancel
from leaderboard.actions.submissions.rerun import rerun
from leaderboard.models import Evaluation, EvaluationState, Result, SubmissionState
from runners.fleet.models import Attempt, AttemptState, Job, JobState, Node
from runners.fleet.worker.sweep import sweep
from runners.wire.protocol import BlobRef, LogText, Provenance, Report, Stage, StepReport, Verdict, Witness
from tests.fleet.site import NODE_TOKEN, Site, WireNode, add_node, passed
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def site() -> Site:
    return Site.make()


@pytest.fixture
def node() -> WireNode:
    return WireNode()


def faulted(words: str) -> Report:
    return Report(verdict=Verdict.PLATFORM_ERROR, fault=words, provenance=Provenance())


def test_hello_tells_the_node_its_grants_and_its_rhythm(site: Site, node: WireNode) -> None:
    reply = node.hello().json()
    assert reply["grants"] == [{"track": "cpu-test", "stage": "both"}]
    assert reply["lease_seconds"] > reply["heartbeat_seconds"] > 0
    assert Node.objects.get().capabilities["cpu_cores"] == 2


def test_a_node_tells_why_it_takes_no_work(site: Site, node: WireNode, client: Any) -> None:
    page = reverse("node", args=[site.node.slug])
    node.hello(obstacle="its disk is too full: less than 1,024 MiB are free")
    assert "Takes no work: its disk is too full: less than 1,024 MiB are free." in markup(client.get(page))
    assert "paused" in markup(client.get(reverse("nodes")))
    (told,) = client.get("/api/v1/nodes").json()["results"]
    assert told["obstacle"] == "its disk is too full: less than 1,024 MiB are free"
    node.hello()
    assert "Takes no work" not in markup(client.get(page))


def test_an_evaluation_costs_a_bounded_number_of_statements(
    site: Site, node: WireNode, django_assert_max_num_queries: Any
) -> None:
    site.submit({"a/1": ["exit 0", "exit 1"], "a/2": ["exit 0"]})
    node.report(node.begin(node.take()))
    with django_assert_max_num_queries(13):
        work = node.take()
    with django_assert_max_num_queries(4):
        node.begin(work)
    with django_assert_max_num_queries(24):
        node.report(work)


def test_only_work_of_a_rerun_is_marked_as_such(site: Site, node: WireNode) -> None:
    submission = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    first = node.take_up_to(2)
    assert [work["rules"]["purpose"] for work in first] == ["grade", "grade"]
    for work in first:
        node.report(work)
    rerun(site.organiser, list(submission.evaluations.all()), "the node's disk was full")
    assert [work["rules"]["purpose"] for work in node.take_up_to(2)] == ["rerun", "rerun"]


def test_a_stranger_gets_nothing(site: Site) -> None:
    stranger = WireNode(token="wrong")
    for answer in (stranger.hello(), stranger.claim()):
        assert answer.status_code == 401
        assert answer.json()["code"] == "unknown_node"


def test_another_protocol_version_is_refused_with_words(site: Site) -> None:
    answer = WireNode(version=99).claim()
    assert answer.status_code == 426
    assert "Update the older one" in answer.json()["message"]


def test_a_malformed_body_is_refused_by_field(site: Site, node: WireNode) -> None:
    answer = node._post("claim", f'{{"protocol_version": {node.version}}}')
    assert answer.status_code == 400
    assert answer.json()["code"] == "malformed"


def test_an_empty_queue_answers_204(site: Site, node: WireNode) -> None:
    assert node.claim().status_code == 204


def test_a_submission_is_worked_through_to_done(site: Site, node: WireNode) -> None:
    submission = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    for _ in range(2):
        assert node.report(node.take()).status_code == 200
    assert node.claim().status_code == 204
    submission.refresh_from_db()
    assert submission.state == SubmissionState.DONE
    assert {one.verdict for one in Result.objects.all()} == {"passed"}


def test_each_claim_gets_another_job(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0", "exit 1"], "a/2": ["exit 0", "exit 1"]})
    assert len({one["evaluation"] for one in node.take_up_to(9)}) == 4


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_a_node_without_the_grant_gets_no_work(site: Site) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    add_node("builder", site.track, "builder-secret", Stage.BUILD)
    assert refusal(WireNode(token="builder-secret").claim()) == (403, "not_granted")
    assert WireNode(token="builder-secret", stage=Stage.BUILD).claim().status_code == 204


def test_a_disabled_node_gets_no_work(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    Node.objects.update(disabled_reason="fan broken")
    assert refusal(node.claim()) == (403, "node_disabled")
    assert node.hello().json()["disabled_reason"] == "fan broken"


def test_work_carries_what_a_node_needs_and_it_reads_only_that(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 7"]})
    work, other = node.take(), node.take()
    record = node.blob(work, work["problem"]["record"]["sha256"])
    assert hashlib.sha256(record.content).hexdigest() == work["problem"]["record"]["sha256"]
    solution = b"".join(node.blob(work, work["solution"]["sha256"]).streaming_content)
    assert b"exit 0" in solution
    assert node.blob(work, other["solution"]["sha256"]).status_code == 404


def test_an_attempt_answers_only_to_its_own_token(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work, other = node.take(), node.take()
    assert node.report(work | {"attempt_token": other["attempt_token"]}).status_code == 404
    assert node.heartbeat(work | {"attempt_token": ""}).status_code == 404
    assert Result.objects.count() == 0


def test_another_node_cannot_speak_for_an_attempt(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work = node.take()
    add_node("node-2", site.track, "second")
    assert WireNode(token="second").report(work).status_code == 404


def test_the_same_report_twice_is_harmless(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work = node.take()
    first, second = node.report(work), node.report(work)
    assert (first.status_code, second.status_code) == (200, 200)
    assert second.json() == {"result": first.json()["result"], "duplicate": True}
    assert Result.objects.count() == 1


def test_another_report_for_the_same_attempt_conflicts(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work = node.take()
    node.report(work)
    answer = node.report(work, Report(verdict=Verdict.TEST_FAILED, provenance=Provenance()))
    assert answer.status_code == 409
    assert answer.json()["code"] == "conflicting_report"
    assert Result.objects.get().verdict == "passed"


def expire(work: dict) -> None:
    Job.objects.filter(attempts=work["attempt"]).update(lease_expires_at=timezone.now() - timedelta(seconds=1))


def test_a_late_report_counts_while_nobody_has_taken_the_job(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work = node.take()
    expire(work)
    assert sweep() == 1
    assert node.report(work).status_code == 200
    assert Job.objects.filter(state=JobState.QUEUED).count() == 1
    assert Evaluation.objects.get(pk=work["evaluation"]).state == EvaluationState.DONE


@pytest.mark.parametrize("report", [None, faulted("no space left on device")], ids=["verdict", "fault"])
def test_a_late_report_is_superseded_once_another_has_the_job(
    site: Site, node: WireNode, report: Report | None
) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work = node.take()
    expire(work)
    sweep()
    add_node("node-2", site.track, "second")
    again = WireNode(token="second").take_up_to(2)
    assert work["evaluation"] in {one["evaluation"] for one in again}
    answer = node.report(work, report)
    assert answer.status_code == 409
    assert answer.json()["code"] == "superseded"


def test_three_lost_leases_are_a_platform_error(site: Site, node: WireNode) -> None:
    submission = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    Job.objects.exclude(pk=Job.objects.first().pk).update(state=JobState.DONE)
    for _ in range(3):
        expire(node.begin(node.take()))
        sweep()
    assert node.claim().status_code == 204
    result = Result.objects.get()
    assert (result.verdict, result.origin) == ("platform_error", "site")
    assert "sent no more heartbeats" in result.reason
    assert submission.problem_scores.filter(n_unresolved=1).count() == 1


def test_a_fault_sends_the_job_to_another_node_first(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work = node.take()
    assert node.report(work, faulted("no space left on device")).json() == {"result": None, "duplicate": False}
    add_node("node-2", site.track, "second")
    assert node.take()["evaluation"] != work["evaluation"]
    assert WireNode(token="second").take()["evaluation"] == work["evaluation"]
    assert Attempt.objects.get(pk=work["attempt"]).state == AttemptState.FAULTED


def test_missing_blobs_are_listed_and_then_taken(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work, content = node.take(), b"a long log\n" * 100
    sha256 = hashlib.sha256(content).hexdigest()
    step = StepReport(name="build", exit_code=0, log=LogText(blob=BlobRef(sha256=sha256, size_bytes=len(content))))
    answer = node.report(work, passed(steps=[step]))
    assert (answer.status_code, answer.json()["missing"]) == (422, [sha256])
    assert node.blob(work, sha256, b"something else").status_code == 422
    assert node.blob(work, sha256, content).status_code == 201
    assert node.blob(work, sha256, content).status_code == 200
    assert node.report(work, passed(steps=[step])).status_code == 200


def test_a_contradicted_witness_is_a_failed_test_whatever_the_node_says(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    report = Report(verdict=Verdict.PASSED, witness=Witness.CONTRADICTED, provenance=Provenance())
    node.report(node.take(), report)
    assert Result.objects.get().verdict == "test_failed"


def test_heartbeats_extend_the_lease_and_bring_back_a_cancel(site: Site, node: WireNode) -> None:
    submission = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work = node.take()
    before = Job.objects.get(attempts=work["attempt"]).lease_expires_at
    assert node.heartbeat(work, tail="g++ …").json()["cancel"] is False
    assert Job.objects.get(attempts=work["attempt"]).lease_expires_at > before
    assert cancel(site.owner, submission) == 2
    assert node.heartbeat(work).json()["cancel"] is True
    answer = node.report(work)
    assert (answer.status_code, answer.json()["code"]) == (409, "cancelled")
    assert Result.objects.count() == 0


def test_a_node_gives_a_job_back_without_loss(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work = node.take()
    assert node.release(work).status_code == 204
    assert node.release(work).status_code == 204
    assert Job.objects.filter(state=JobState.QUEUED, n_attempts=0).count() == 2


def test_a_node_that_starts_anew_ends_what_it_held(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    node.hello()
    node.take()
    node.hello()
    assert Attempt.objects.get().state == AttemptState.LEASED, "the same life"
    again = WireNode()
    again.hello()
    assert len(again.take_up_to(5)) == 2
    assert Attempt.objects.filter(state=AttemptState.EXPIRED).count() == 1


def test_no_two_attempts_at_a_job_have_the_same_number(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    Job.objects.exclude(pk=Job.objects.first().pk).update(state=JobState.DONE)
    numbers = []
    for end in (node.release, expire, node.release):
        work = node.begin(node.take())
        numbers.append(work["number"])
        end(work)
        sweep()
    assert numbers == [1, 2, 3]
    assert Job.objects.first().n_attempts == 1, "a lease given back does not count"


def test_a_rerun_keeps_the_old_result_until_the_new_one_lands(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    for _ in range(2):
        node.report(node.take(), Report(verdict=Verdict.TEST_FAILED, provenance=Provenance()))
    evaluation = Evaluation.objects.first()
    old = evaluation.current_result
    assert rerun(site.owner, [evaluation], "the node was hot") == 1
    evaluation.refresh_from_db()
    assert (evaluation.state, evaluation.current_result) == (EvaluationState.QUEUED, old)
    node.report(node.take())
    evaluation.refresh_from_db()
    assert (evaluation.state, evaluation.current_result.verdict) == (EvaluationState.DONE, "passed")
    assert evaluation.results.count() == 2


def test_a_split_track_builds_first_and_runs_with_the_artefact(site: Site) -> None:
    from leaderboard.models import Track
    from runners.wire.protocol import ArtefactRef

    Track.objects.update(splits_jobs=True)
    site.track.refresh_from_db()
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    add_node("builder", site.track, "builder-secret", Stage.BUILD)
    add_node("runner", site.track, "runner-secret", Stage.RUN)
    builder, runner = WireNode("builder-secret", stage=Stage.BUILD), WireNode("runner-secret", stage=Stage.RUN)
    assert runner.claim().status_code == 204
    work, artefact = builder.take(), b"artefact"
    sha256 = hashlib.sha256(artefact).hexdigest()
    builder.blob(work, sha256, artefact)
    ref = ArtefactRef(key="0" * 64, blob=BlobRef(sha256=sha256, size_bytes=len(artefact)), node="builder")
    evaluation = Evaluation.objects.get(pk=work["evaluation"])
    assert evaluation.state == EvaluationState.LEASED
    assert builder.report(work, passed(artefact=ref)).json()["result"] is None
    evaluation.refresh_from_db()
    assert evaluation.state == EvaluationState.QUEUED, "nobody works on it"
    run = runner.take()
    assert run["evaluation"] == work["evaluation"]
    evaluation.refresh_from_db()
    assert evaluation.state == EvaluationState.LEASED
    assert b"".join(runner.blob(run, run["artefact"]["blob"]["sha256"]).streaming_content) == artefact
    assert runner.report(run).json()["result"] is not None
    assert NODE_TOKEN not in str(run)


def test_a_failed_build_on_a_split_track_needs_no_run(site: Site) -> None:
    from leaderboard.models import Track

    Track.objects.update(splits_jobs=True)
    site.track.refresh_from_db()
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    add_node("builder", site.track, "builder-secret", Stage.BUILD)
    builder = WireNode("builder-secret", stage=Stage.BUILD)
    builder.report(builder.take(), Report(verdict=Verdict.BUILD_FAILED, provenance=Provenance()))
    assert Result.objects.get().verdict == "build_failed"
    assert not Job.objects.filter(stage=Stage.RUN).exists()
