"""While the blob store is down, a submission is refused with words and can be repeated, and pages go on."""

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.models import Submission, Track, Trial
from problems.models import Release
from tests import factories
from tests.api import calls
from tests.blob_stores import Break, mend_folder, no_folder, on_each_store
from tests.factories import Cast
from tests.markup import markup

WORDS = "The site cannot read or store files now."


@pytest.fixture
def release(cast: Cast) -> Release:
    return factories.release(1)


@pytest.fixture
def track(release: Release) -> Track:
    return factories.offer(release)


@on_each_store
def test_the_api_refuses_a_submission_with_words(
    cast: Cast, release: Release, track: Track, break_store: Break, settings: Any, blob_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    break_store(settings, blob_folder, monkeypatch)
    answer = calls.upload(cast.owner, release, track)
    assert (answer.status_code, answer.json()["code"]) == (503, "blobs_unavailable")
    assert answer.json()["message"].startswith(WORDS)
    assert not Submission.objects.exists()


def test_a_refused_submission_is_taken_when_the_store_is_back(
    cast: Cast, release: Release, track: Track, settings: Any, blob_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_folder(settings, blob_folder, monkeypatch)
    assert calls.upload(cast.owner, release, track).status_code == 503
    mend_folder(blob_folder)
    assert calls.upload(cast.owner, release, track).status_code == 201


@pytest.fixture
def down(settings: Any, blob_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_folder(settings, blob_folder, monkeypatch)


@pytest.mark.usefixtures("down")
def test_a_trial_is_refused_with_words(cast: Cast, release: Release, track: Track) -> None:
    files = [{"path": "solution.sh", "content": "exit 0"}]
    order = {"release": release.slug, "task_id": "Shell/0", "track": track.slug, "files": files}
    answer = calls.post("trials", order, cast.owner)
    assert (answer.status_code, answer.json()["code"]) == (503, "blobs_unavailable")
    assert not Trial.objects.exists()


@pytest.mark.usefixtures("down")
def test_the_form_of_an_upload_is_shown_again_with_words(
    client: Any, cast: Cast, release: Release, track: Track
) -> None:
    client.force_login(cast.owner)
    pack = calls.pack_file(release)
    fields = {"release": release.slug, "entrant": "alpha", "tracks": [track.slug], "counted": "on", "file": pack}
    answer = client.post(reverse("submit"), fields)
    assert answer.status_code == 503
    assert WORDS in markup(answer)
    assert not Submission.objects.exists()


@pytest.mark.usefixtures("down")
def test_typed_code_is_not_lost(client: Any, cast: Cast, release: Release, track: Track) -> None:
    client.force_login(cast.owner)
    fields = {"entrant": "alpha", "tracks": [track.slug], "path-0": "solution.sh", "content-0": "exit 0 # my code"}
    answer = client.post(reverse("submit_typed", args=[release.slug, release.problems.get().slug]), fields)
    assert answer.status_code == 503
    assert WORDS in markup(answer)
    assert "# my code" in markup(answer)


def test_pages_go_on_without_the_code_and_downloads_say_why_not(
    client: Any, cast: Cast, release: Release, track: Track, settings: Any, blob_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    submission = factories.submission(cast.entrant, release, track)
    client.force_login(cast.owner)
    no_folder(settings, blob_folder, monkeypatch)
    assert client.get(submission.evaluations.first().get_absolute_url()).status_code == 200
    download = client.get(reverse("download_submission", args=[submission.pk]))
    assert download.status_code == 503
    assert WORDS in markup(download)
    assert client.get("/readyz").status_code == 503
