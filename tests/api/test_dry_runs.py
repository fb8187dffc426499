"""Checking a submission without sending it: every fault at once, what would come of it, and nothing stored."""

import io
import zipfile
from functools import partial
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.models import DailyUse, Submission
from problems.formats.bounded import UploadLimits
from problems.models import Release
from tests import factories, packs
from tests.api import calls

pytestmark = pytest.mark.django_db


@pytest.fixture
def offered(cast: Any) -> tuple[Release, Any]:
    made = factories.release(8, ks=[1, 4])
    return made, factories.offer(made)


def check(user: Any, offered: Any, file: Any = None, **changes: Any) -> Any:
    fields = {"release": offered[0].slug, "entrant": "alpha", "tracks": [offered[1].slug]}
    fields["file"] = file or calls.pack_file(offered[0])
    headers = {"Authorization": f"Bearer {factories.token(user)}"} if user else {}
    return Client().post("/api/v1/submissions/check", fields | changes, headers=headers)


def zip_of(*task_folders: str) -> SimpleUploadedFile:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for folder in task_folders:
            archive.writestr(f"{folder}/solution.sh", "exit 0")
    return SimpleUploadedFile("mine.zip", file.getvalue())


def jsonl(*rows: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("mine.jsonl", b"".join(rows))


def test_a_whole_pack_would_be_ranked_and_nothing_is_stored(cast: Any, offered: Any) -> None:
    said = check(cast.owner, offered).json()
    assert said["accepted"], said
    assert said["summary"] == "8 samples of all 8 problems"
    assert said["effects"][0] == "A full submission: it is ranked on the board once everything is judged."
    assert "pass@4 will be “–”: there is only 1 sample of each problem." in said["effects"]
    assert "On cpu-test it becomes the counted submission of Alpha once it is finished." in said["effects"]
    assert (said["uses"]["evaluations"], said["quota_after"]["used"]["evaluations"]) == (8, 8)
    assert not Submission.objects.exists()
    assert not DailyUse.objects.exists()


def test_two_of_eight_problems_are_neither_full_nor_partial_until_somebody_says_so(cast: Any, offered: Any) -> None:
    def said(**more: Any) -> Any:
        return check(cast.owner, offered, zip_of("Shell_0", "Shell_5"), **more).json()

    unsaid = said()
    assert (unsaid["accepted"], [one["code"] for one in unsaid["faults"]]) == (False, ["incomplete"])
    assert unsaid["summary"] == "2 samples of 2 of 8 problems"
    assert unsaid["contents"]["coverage"] == ""
    assert unsaid["contents"]["absent"] == ["Shell/1", "Shell/2", "Shell/3", "Shell/4", "Shell/6", "Shell/7"]
    partial = said(coverage="partial")
    assert partial["accepted"]
    assert "will not be ranked on the board" in partial["effects"][0]
    full = said(coverage="full")
    assert full["accepted"]
    assert full["effects"][0].endswith("the 6 absent problems count as failed.")


def test_a_pack_that_lacks_problems_is_full_as_ever(cast: Any, offered: Any) -> None:
    said = check(cast.owner, offered, calls.pack_file(offered[0], task_ids=["Shell/0"])).json()
    assert (said["accepted"], said["contents"]["coverage"]) == (True, "full")
    assert "the 7 absent problems count as failed" in said["effects"][0]


def test_every_fault_is_listed_with_its_line_and_its_remedy(cast: Any, offered: Any) -> None:
    rows = [packs.line(packs.solution(one, "x")) for one in ("CUDA/998", "Shell/0", "CUDA/999")]
    said = check(cast.owner, offered, jsonl(*rows), coverage="partial").json()
    assert [(one["code"], one["line"]) for one in said["faults"]] == [("unknown_task", 1), ("unknown_task", 3)]
    assert all("list of problems" in one["remedy"] for one in said["faults"])
    assert said["contents"]["samples"] == {"Shell/0": 1}
    broken = check(cast.owner, offered, jsonl(b"{no\n", rows[1], b"[]\n")).json()
    assert [one["line"] for one in broken["faults"]] == [1, 3]
    assert broken["contents"] is None


def test_a_sample_that_would_be_invalid_is_named_and_does_not_refuse(cast: Any, offered: Any) -> None:
    row = packs.line(packs.solution("Shell/0", "x", "../escape.sh"))
    said = check(cast.owner, offered, jsonl(row), coverage="partial").json()
    assert said["accepted"]
    assert (said["contents"]["n_invalid"], said["contents"]["invalid"][0]["line"]) == (1, 1)
    assert "counts as failed" in said["contents"]["invalid"][0]["remedy"]


def test_a_closed_release_and_a_spent_quota_are_faults_beside_those_of_the_file(
    cast: Any, offered: Any, settings: Any
) -> None:
    from problems.actions.releases import freeze

    settings.DAILY_EVALUATIONS = 1
    freeze(offered[0])
    said = check(cast.owner, offered, zip_of("Shell_0", "Shell_1")).json()
    assert [one["code"] for one in said["faults"]] == ["release_closed", "incomplete", "quota_exceeded"]


def test_what_is_there_already_is_said_and_costs_nothing(cast: Any, offered: Any) -> None:
    stored = calls.upload(cast.owner, *offered).json()["id"]
    said = check(cast.owner, offered).json()
    assert said["contents"]["exists"] == stored
    assert f"#{stored}" in said["effects"][0]
    assert said["quota_after"]["used"]["evaluations"] == 8, "those of the first time"


def test_a_dry_run_refuses_whom_and_what_sending_refuses(cast: Any, offered: Any) -> None:
    for user, changes, status in [
        (None, {}, 401),
        (cast.stranger, {}, 403),
        (cast.owner, {"tracks": ["gpu-9"]}, 404),
        (cast.owner, {"file": "text"}, 400),
    ]:
        checked, sent = check(user, offered, **changes), calls.upload(user, *offered, **changes)
        assert (checked.status_code, checked.json()) == (status, sent.json())
    assert check(cast.owner, offered, release="none").status_code == 404


def test_typed_code_is_checked_too(cast: Any, offered: Any) -> None:
    body = {
        "release": offered[0].slug, "entrant": "alpha", "tracks": ["cpu-test"], "task_id": "Shell/1",
        "files": [{"path": "solution.sh", "content": "exit 0"}],
    }  # fmt: skip
    said = calls.post("submissions/check", body, cast.owner).json()
    assert (said["accepted"], said["contents"]["coverage"]) == (True, "partial")
    odd = calls.post("submissions/check", body | {"task_id": "CUDA/1"}, cast.owner).json()
    assert [one["code"] for one in odd["faults"]] == ["unknown_task"]


def test_dry_runs_share_the_bound_of_submissions(cast: Any, offered: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from rest_framework.throttling import ScopedRateThrottle

    monkeypatch.setattr(ScopedRateThrottle, "THROTTLE_RATES", {"submit": "2/min"})
    assert calls.upload(cast.owner, *offered).status_code == 201
    assert check(cast.owner, offered).status_code == 200
    assert check(cast.owner, offered).status_code == 429
    assert calls.upload(cast.owner, *offered).status_code == 429


def test_a_board_that_needs_more_samples_and_one_that_is_not_asked_to_count_say_so(cast: Any) -> None:
    made = factories.release(2, "picky-1", ks=[1, 4], primary_metric="pass@4")
    place = made, factories.offer(made)
    assert "ranks by pass@4, which needs 4 samples" in check(cast.owner, place).json()["effects"][0]
    quiet = check(cast.owner, place, counted="false").json()["effects"]
    assert "the board does not show it" in quiet[0]
    assert not any("becomes the counted" in words for words in quiet)


def test_skipped_and_voided_problems_do_not_count_as_failed(cast: Any, offered: Any) -> None:
    from leaderboard.actions.curation.decide import void_problem
    from leaderboard.models import ProblemTrack

    made, track = offered
    skipped, voided = made.problems.get(task_id="Shell/3"), made.problems.get(task_id="Shell/4")
    ProblemTrack.objects.update_or_create(problem=skipped, track=track, defaults={"skip_reason": "needs a GPU"})
    void_problem(cast.organiser, voided, "its test was wrong")
    said = check(cast.owner, offered, calls.pack_file(made, task_ids=["Shell/0"])).json()["effects"]
    assert "Of these, 1 is skipped on cpu-test and does not count there." in said
    assert "Of these, 1 is voided and does not count." in said


def test_a_zip_without_any_known_folder_says_only_that(cast: Any, offered: Any) -> None:
    said = check(cast.owner, offered, zip_of("foo", "bar")).json()
    assert ([one["code"] for one in said["faults"]], said["effects"]) == (["unknown_task"] * 2, [])


def test_a_remedy_is_said_once(cast: Any, offered: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaderboard.api.intake.UploadLimits", partial(UploadLimits, total_bytes=1))
    (fault,) = check(cast.owner, offered, zip_of("foo")).json()["faults"]
    assert (fault["code"], fault["remedy"]) == ("too_large", "Send fewer samples at a time.")
    assert "fewer" not in fault["message"]
