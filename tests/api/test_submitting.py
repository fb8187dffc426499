"""Sending, following, cancelling and rerunning submissions through the API."""

import io
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from leaderboard.models import Counted, Evaluation, Sample, Submission
from problems.models import Release
from runners.fleet.models import Job, JobState
from runners.wire.protocol import Verdict
from tests import factories, packs
from tests.api import calls

pytestmark = pytest.mark.django_db


@pytest.fixture
def offered(cast: Any) -> tuple[Release, Any]:
    made = factories.release(3)
    return made, factories.offer(made)


def test_a_pack_becomes_a_submission_that_counts(cast: Any, offered: Any) -> None:
    answer = calls.upload(cast.owner, *offered, note="first try")
    assert answer.status_code == 201, answer.content
    said = answer.json()
    assert (said["entrant"], said["is_full"], said["note"]) == ("alpha", True, "first try")
    assert said["counted_on"] == ["cpu-test"]
    assert said["page"].endswith(f"/submissions/{said['id']}/")
    assert Evaluation.objects.filter(submission=said["id"], state="queued").count() == 3


def test_the_same_pack_again_is_the_same_submission(cast: Any, offered: Any) -> None:
    first, again = calls.upload(cast.owner, *offered), calls.upload(cast.owner, *offered)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    assert Submission.objects.count() == 1


def test_a_finished_submission_is_chosen_to_count(cast: Any, offered: Any) -> None:
    first, second = (factories.judged_submission(cast.entrant, *offered, script=f"exit 0 # {n}") for n in range(2))
    assert calls.get(f"submissions/{second.pk}").json()["counted_on"] == ["cpu-test"]
    answer = calls.post(f"submissions/{first.pk}/choose", {}, cast.teammate)
    assert (answer.status_code, answer.json()["counted_on"]) == (200, ["cpu-test"])
    assert calls.get(f"submissions/{second.pk}").json()["counted_on"] == []
    answer = calls.post(f"submissions/{second.pk}/choose", {"tracks": ["cpu-test"]}, cast.stranger)
    assert (answer.status_code, answer.json()["code"]) == (403, "not_your_submission")
    answer = calls.post(f"submissions/{second.pk}/choose", {"tracks": ["nowhere"]}, cast.owner)
    assert answer.status_code == 404
    running = factories.submission(cast.entrant, *offered, script="exit 0 # runs")
    answer = calls.post(f"submissions/{running.pk}/choose", {}, cast.owner)
    assert (answer.status_code, answer.json()["code"]) == (409, "not_finished")


def test_an_equal_pack_is_told_where_it_may_be_chosen(cast: Any, offered: Any) -> None:
    sent = calls.upload(cast.owner, *offered).json()
    factories.judge(Submission.objects.get())
    factories.judged_submission(cast.entrant, *offered, script="exit 0 # later")
    again = calls.upload(cast.owner, *offered)
    assert again.status_code == 200
    assert f"by `podium choose {sent['id']}`, to let it count on cpu-test." in again.json()["notices"][0]


def test_one_may_ask_that_it_does_not_count(cast: Any, offered: Any) -> None:
    assert calls.upload(cast.owner, *offered, counted="false").json()["counted_on"] == []
    assert not Counted.objects.exists()


def test_a_teammate_may_submit_and_a_stranger_may_not(cast: Any, offered: Any) -> None:
    assert calls.upload(cast.teammate, *offered).status_code == 201
    answer = calls.upload(cast.stranger, *offered)
    assert (answer.status_code, answer.json()["code"]) == (403, "not_your_entrant")
    assert calls.upload(None, *offered).status_code == 401


def zip_of(*task_folders: str) -> SimpleUploadedFile:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for folder in task_folders:
            archive.writestr(f"{folder}/0/solution.sh", "exit 0")
    return SimpleUploadedFile("mine.zip", file.getvalue())


def test_a_zip_of_all_problems_is_full(cast: Any, offered: Any) -> None:
    answer = calls.upload(cast.owner, *offered, zip_of("Shell_0", "Shell_1", "Shell_2"))
    assert answer.status_code == 201, answer.content
    assert answer.json()["is_full"] is True


@pytest.mark.parametrize("name", ["mine.zip", "mine.jsonl"])
def test_a_file_that_lacks_problems_is_refused_until_it_is_said_what_it_is(cast: Any, offered: Any, name: str) -> None:
    def send(**more: Any) -> Any:
        line = packs.line(packs.solution("Shell/0", "exit 0"))
        file = zip_of("Shell_0") if name == "mine.zip" else SimpleUploadedFile(name, line)
        return calls.upload(cast.owner, *offered, file, **more)

    answer = send()
    assert (answer.status_code, answer.json()["code"]) == (422, "incomplete")
    assert "samples of 1 of 3 problems" in answer.json()["message"]
    assert not Submission.objects.exists()
    assert send(coverage="all").status_code == 400
    partial = send(coverage="partial").json()
    assert (partial["is_full"], partial["counted_on"]) == (False, [])


def test_what_a_full_zip_lacks_counts_as_failed(cast: Any, offered: Any) -> None:
    answer = calls.upload(cast.owner, *offered, zip_of("Shell_0"), coverage="full").json()
    assert (answer["is_full"], answer["counted_on"]) == (True, ["cpu-test"])
    lines = b"".join(calls.get(f"submissions/{answer['id']}/results.jsonl", cast.owner).streaming_content)
    assert lines.count(b'"missing"') == 2


def test_a_licence_is_kept_and_shown(cast: Any, offered: Any) -> None:
    said = calls.upload(cast.owner, *offered, licence="Apache-2.0 OR MIT").json()
    assert said["licence"] == "Apache-2.0 OR MIT"
    lines = b"".join(calls.get(f"submissions/{said['id']}/results.jsonl", cast.owner).streaming_content)
    assert lines.count(b'"licence": "Apache-2.0 OR MIT"') == 3
    odd = calls.upload(cast.owner, *offered, licence="<b>mine</b>")
    assert (odd.status_code, odd.json()["pointer"]) == (400, "/licence")


def test_typed_code_is_a_partial_submission(cast: Any, offered: Any) -> None:
    body = {
        "release": offered[0].slug, "entrant": "alpha", "tracks": ["cpu-test"], "task_id": "Shell/1",
        "files": [{"path": "solution.sh", "content": "exit 0"}],
    }  # fmt: skip
    answer = calls.post("submissions", body, cast.owner)
    assert answer.status_code == 201, answer.content
    assert answer.json()["is_full"] is False
    assert Sample.objects.get().problem.task_id == "Shell/1"


def test_a_bad_path_is_an_invalid_sample_and_is_told(cast: Any, offered: Any) -> None:
    rows = [packs.solution("Shell/0", "x", "../escape.sh"), packs.solution("Shell/1", "exit 0")]
    file = SimpleUploadedFile("a-solutions.tar.gz", packs.solution_pack(rows).getvalue())
    answer = calls.upload(cast.owner, *offered, file)
    assert answer.status_code == 201, answer.content
    notices = answer.json()["notices"]
    assert notices[0].endswith("problems have no sample.")
    assert any(notice.startswith("Shell/0 sample 1 is invalid: ") for notice in notices)
    assert Sample.objects.get(problem__task_id="Shell/0").invalid_reason


def test_an_unreadable_line_refuses_the_pack_with_its_number(cast: Any, offered: Any) -> None:
    text = packs.line(packs.solution("Shell/0", "exit 0")) + b"{broken\n"
    answer = calls.upload(cast.owner, *offered, SimpleUploadedFile("mine.jsonl", text))
    assert (answer.status_code, answer.json()["line"]) == (422, 2)
    assert not Submission.objects.exists()


def test_an_unknown_task_refuses_the_pack_with_words(cast: Any, offered: Any) -> None:
    text = packs.line(packs.solution("Shell/0", "exit 0")) + packs.line(packs.solution("CUDA/999", "exit 0"))
    answer = calls.upload(cast.owner, *offered, SimpleUploadedFile("mine.jsonl", text))
    assert answer.status_code == 422
    assert answer.json()["message"].startswith("Line 2: task_id `CUDA/999` is not in release test-1.")


def test_a_draft_is_unknown_to_its_submitters_and_a_frozen_release_closed(cast: Any, offered: Any) -> None:
    draft = factories.release(1, "draft-1", publish=False)
    assert calls.upload(cast.owner, draft, offered[1]).status_code == 404
    from problems.actions.releases import freeze

    freeze(offered[0])
    answer = calls.upload(cast.owner, *offered)
    assert (answer.status_code, answer.json()["code"]) == (409, "release_closed")


def test_an_unknown_track_is_named(cast: Any, offered: Any) -> None:
    answer = calls.upload(cast.owner, *offered, tracks=["gpu-9"])
    assert answer.status_code == 404
    assert "gpu-9" in answer.json()["message"]


def test_an_unknown_entrant_is_told_the_own_ones(cast: Any, offered: Any) -> None:
    for user, remedy in ((cast.owner, "Yours: alpha."), (factories.UserFactory(), "Make one on your account page.")):
        answer = calls.upload(user, *offered, entrant="mine")
        assert (answer.status_code, answer.json()["pointer"]) == (404, "/entrant")
        assert answer.json()["message"] == f"There is no entrant 'mine'. {remedy}"


def test_a_form_without_a_file_says_so(cast: Any, offered: Any) -> None:
    answer = calls.upload(cast.owner, *offered, file="text")
    assert answer.status_code == 400
    assert answer.json()["message"].startswith("file: ")


def test_progress_counts_what_is_done_and_what_waits(cast: Any, offered: Any) -> None:
    earlier = factories.submission(cast.strangers_entrant, *offered, n_samples=1)
    mine = factories.submission(cast.entrant, *offered, n_samples=1)
    progress = calls.get(f"submissions/{mine.pk}/progress").json()
    assert (progress["total"], progress["done"], progress["states"]) == (3, 0, {"queued": 3})
    assert progress["queue"] == [{"track": "cpu-test", "stage": "both", "ahead": 1}]
    factories.judge(earlier)
    factories.judge(mine, lambda one: factories.report(Verdict.PASSED if one.problem.position else Verdict.TEST_FAILED))
    progress = calls.get(f"submissions/{mine.pk}/progress").json()
    assert (progress["state"], progress["verdicts"]) == ("done", {"passed": 2, "test_failed": 1})


def test_the_team_cancels_and_strangers_do_not(cast: Any, offered: Any) -> None:
    made = factories.submission(cast.entrant, *offered)
    assert calls.post(f"submissions/{made.pk}/cancel", {}, cast.stranger).status_code == 403
    answer = calls.post(f"submissions/{made.pk}/cancel", {"reason": "a slip"}, cast.teammate)
    assert (answer.status_code, answer.json()) == (200, {"evaluations": 6})
    again = calls.post(f"submissions/{made.pk}/cancel", {}, cast.teammate)
    assert (again.status_code, again.json()["code"]) == (409, "already_ended")


def test_a_rerun_needs_a_reason_and_queues_again(cast: Any, offered: Any) -> None:
    made = factories.judged_submission(cast.entrant, *offered)
    assert calls.post(f"submissions/{made.pk}/rerun", {}, cast.owner).status_code == 400
    Job.objects.update(state=JobState.DONE)  # as the node's report would have left them
    one = Evaluation.objects.filter(submission=made).order_by("pk")[0]
    answer = calls.post(f"submissions/{made.pk}/rerun", {"reason": "drift", "evaluations": [one.pk]}, cast.owner)
    assert (answer.status_code, answer.json()) == (200, {"evaluations": 1})
    one.refresh_from_db()
    assert (one.state, one.current_result is not None) == ("queued", True)


def test_a_rerun_of_another_submissions_evaluation_is_refused(cast: Any, offered: Any) -> None:
    mine = factories.judged_submission(cast.entrant, *offered)
    theirs = factories.judged_submission(cast.strangers_entrant, *offered)
    other = Evaluation.objects.filter(submission=theirs).values_list("pk", flat=True)[0]
    answer = calls.post(f"submissions/{mine.pk}/rerun", {"reason": "x", "evaluations": [other]}, cast.owner)
    assert answer.status_code == 400
    assert str(other) in answer.json()["message"]


def test_submissions_are_filtered(cast: Any, offered: Any) -> None:
    mine = factories.submission(cast.entrant, *offered)
    theirs = factories.submission(cast.strangers_entrant, *offered)

    def ids(**query: Any) -> list[int]:
        return [row["id"] for row in calls.get("submissions", cast.owner, **query).json()["results"]]

    assert ids() == [theirs.pk, mine.pk]
    assert ids(mine=1) == ids(entrant="alpha") == [mine.pk]
    assert ids(release="none") == ids(state="done") == []
