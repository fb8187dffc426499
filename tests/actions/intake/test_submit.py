"""Submit, cancel, count: one action with the same rules for everybody, harmless when repeated."""

import io

import pytest
from django.contrib.auth.models import AnonymousUser, User

from leaderboard.actions.curation.tracks import offer
from leaderboard.actions.intake.submit import submit
from leaderboard.actions.submissions.cancel import cancel
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import (
    AuditEntry,
    Counted,
    Evaluation,
    ProblemTrack,
    Result,
    Submission,
    SubmissionState,
    Track,
)
from leaderboard.rows.store_once import Receipt
from leaderboard.rows.submissions import SubmissionMetadata
from problems.actions.releases import freeze
from problems.formats.submission import IncomingSubmission, PackRefused, read_submission, single_solution
from runners.fleet.models import Job, JobState
from tests import factories
from tests.fleet.site import Site, WireNode
from tests.packs import solution, solution_pack

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def site() -> Site:
    return Site.make()


def incoming(site: Site, *rows: dict) -> IncomingSubmission:
    return read_submission(solution_pack(rows), "test-1-one-solutions.tar.gz", catalogue_of(site.release))


def both(script: str = "exit 0") -> tuple[dict, dict]:
    return solution("a/1", script), solution("a/2", script)


def send(site: Site, *rows: dict, user: object = None, **fields: object) -> Receipt:
    metadata = SubmissionMetadata(site.entrant, site.release, [site.track], **fields)
    return submit(user or site.owner, metadata, incoming(site, *rows))


def test_a_full_submission_queues_every_sample(site: Site) -> None:
    receipt = send(site, *both())
    assert receipt.created
    assert receipt.submission.is_full
    assert Job.objects.filter(state=JobState.QUEUED).count() == 2


def test_the_same_submission_again_stores_nothing(site: Site) -> None:
    first, second = send(site, *both()), send(site, *both())
    assert (second.created, second.submission) == (False, first.submission)
    assert (Submission.objects.count(), Job.objects.count()) == (1, 2)


def test_after_a_cancel_the_same_submission_is_new(site: Site) -> None:
    first = send(site, *both()).submission
    cancel(site.owner, first)
    assert send(site, *both()).created


def test_a_bad_path_makes_that_sample_invalid_and_grades_the_rest(site: Site) -> None:
    send(site, solution("a/1", "exit 0", path="../escape.sh"), solution("a/2", "exit 0"))
    bad = Result.objects.get()
    assert bad.verdict == "invalid"
    assert "../escape.sh" in bad.reason
    assert Job.objects.get().evaluation.problem.task_id == "a/2"


def test_a_submission_of_nothing_valid_is_done_at_once(site: Site) -> None:
    submission = send(site, *[solution(t, "x", path="/etc/passwd") for t in ("a/1", "a/2")]).submission
    submission.refresh_from_db()
    assert submission.state == SubmissionState.DONE
    assert Job.objects.count() == 0


def test_an_unknown_task_refuses_the_pack_with_its_line(site: Site) -> None:
    with pytest.raises(PackRefused) as refusal:
        incoming(site, *both(), solution("a/999", "exit 0"))
    assert refusal.value.line == 3
    assert "a/999" in refusal.value.message
    assert "2 other samples are fine" in refusal.value.message


def test_an_unreadable_line_refuses_the_pack(site: Site) -> None:
    with pytest.raises(PackRefused) as refusal:
        read_submission(io.BytesIO(b'{"task_id": \n'), "x.jsonl", catalogue_of(site.release))
    assert refusal.value.line == 1


def test_a_track_skips_what_it_cannot_run(site: Site) -> None:
    ProblemTrack.objects.filter(problem__task_id="a/1").update(skip_reason="needs CUDA 13.1")
    send(site, *both())
    skipped = Result.objects.get()
    assert (skipped.verdict, skipped.reason) == ("skipped", "needs CUDA 13.1")
    assert Job.objects.count() == 1


def test_a_track_that_skips_everything_does_not_end_the_submission_for_the_next_track(site: Site) -> None:
    skipping = Track.objects.create(slug="skipping", title="Skipping", device="cpu")
    offer(site.organiser, site.release, skipping)
    ProblemTrack.objects.filter(track=skipping).update(skip_reason="needs CUDA 13.1")
    metadata = SubmissionMetadata(site.entrant, site.release, [skipping, site.track])
    submission = submit(site.owner, metadata, incoming(site, *both())).submission
    submission.refresh_from_db()
    assert submission.state == SubmissionState.ACCEPTED
    assert Job.objects.count() == 2


def test_a_stranger_may_not_submit_for_an_entrant(site: Site) -> None:
    stranger = User.objects.create_user("stranger")
    for user in (stranger, AnonymousUser()):
        with pytest.raises(NotAllowed, match="You may not submit for One"):
            send(site, *both(), user=user)
    assert Submission.objects.count() == 0


def test_a_teammate_may(site: Site) -> None:
    teammate = User.objects.create_user("teammate")
    site.entrant.team, site.entrant.owner = factories.team_of("The lab", site.owner, teammate), None
    site.entrant.save()
    assert send(site, *both(), user=teammate).created


def test_a_frozen_release_takes_nothing_more(site: Site) -> None:
    freeze(site.release)
    with pytest.raises(Conflict, match="frozen"):
        send(site, *both())


def test_a_track_that_is_not_offered_is_refused_with_those_that_are(site: Site) -> None:
    other = Track.objects.create(slug="other", title="Other", device="cpu")
    metadata = SubmissionMetadata(site.entrant, site.release, [other])
    with pytest.raises(Refused, match=r"not offered on other\. It is on: cpu-test"):
        submit(site.owner, metadata, incoming(site, *both()))


def test_typed_code_is_partial_goes_first_and_never_counts(site: Site) -> None:
    typed = single_solution("a/1", {"solution.sh": "exit 0"}, catalogue_of(site.release))
    submission = submit(site.owner, SubmissionMetadata(site.entrant, site.release, [site.track]), typed).submission
    assert not submission.is_full
    assert Job.objects.get().priority > 0
    assert not Counted.objects.exists()


def test_the_latest_that_asks_to_count_counts_and_each_change_is_logged(site: Site) -> None:
    first = send(site, *both("exit 0")).submission
    send(site, *both("exit 1"), asks_to_count=False)
    assert Counted.objects.get().submission == first
    third = send(site, *both("exit 2")).submission
    assert Counted.objects.get().submission == third
    change = AuditEntry.objects.filter(action="count").first()
    assert (change.detail["counted"], change.detail["replaced"]) == (third.pk, first.pk)


def test_cancelling_the_counted_one_brings_back_the_one_before(site: Site) -> None:
    first = send(site, *both("exit 0")).submission
    second = send(site, *both("exit 1")).submission
    cancel(site.owner, second)
    assert Counted.objects.get().submission == first


def test_cancelling_keeps_what_is_done_and_withdraws_the_rest(site: Site) -> None:
    submission = send(site, *both()).submission
    node = WireNode()
    node.report(node.take())
    assert cancel(site.owner, submission) == 1
    assert sorted(Evaluation.objects.values_list("state", flat=True)) == ["cancelled", "done"]
    with pytest.raises(Conflict, match="cancelled already"):
        cancel(site.owner, submission)


def test_a_stranger_may_not_cancel(site: Site) -> None:
    submission = send(site, *both()).submission
    with pytest.raises(NotAllowed):
        cancel(User.objects.create_user("stranger"), submission)
