"""Results brought in by an organiser, from the admin and from the shell."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from leaderboard.models import AuditEntry, Result, Track
from problems.models import Release
from tests import factories, graded
from tests.admin.pages import act, text
from tests.web.gpu_site import gpu_problem

pytestmark = pytest.mark.django_db
RELEASE = "problems_release"


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
def file(release: Release, tmp_path: Path) -> Path:
    return graded.write(tmp_path / "alpha-graded-solutions.jsonl", graded.rows(release))


def told(*command: Any) -> str:
    out = io.StringIO()
    call_command(*map(str, command), stdout=out)
    return out.getvalue()


def upload(path: Path) -> SimpleUploadedFile:
    return SimpleUploadedFile(path.name, path.read_bytes())


def test_the_admin_imports_and_says_what_came_of_it(
    cast: factories.Cast, release: Release, track: Track, file: Path
) -> None:
    said = {"track": track.pk, "entrant": cast.entrant.pk}
    page = text(act(cast.organiser, RELEASE, "import-results", release, graded=upload(file), **said))
    assert "4 results stored as submission #" in page
    again = text(act(cast.organiser, RELEASE, "import-results", release, graded=upload(file), **said))
    assert "0 results stored" in again
    assert "4 were here already" in again
    assert AuditEntry.objects.get(action="import results").actor == cast.organiser


def test_the_admins_form_shows_the_line_that_is_refused(
    cast: factories.Cast, release: Release, track: Track, file: Path
) -> None:
    bad = upload(file)
    bad.file = io.BytesIO(file.read_bytes() + b"{}\n")
    said = {"track": track.pk, "entrant": cast.entrant.pk, "graded": bad}
    answer = act(cast.organiser, RELEASE, "import-results", release, **said)
    assert answer.status_code == 422
    assert "Line 5: the row&#x27;s field `task_id` is missing" in text(answer)
    assert not Result.objects.exists()


def test_the_shell_imports_file_by_file(cast: factories.Cast, release: Release, track: Track, file: Path) -> None:
    words = told("import_results", "gpu-1", file, "--entrant", "alpha", "--track", track.slug)
    assert "4 results stored as submission #" in words


def test_a_part_of_the_release_is_named_as_such(
    cast: factories.Cast, release: Release, track: Track, tmp_path: Path
) -> None:
    part = graded.write(tmp_path / "part.jsonl.gz", graded.rows(release)[:2])
    words = told("import_results", "gpu-1", part, "--entrant", "alpha", "--track", track.slug)
    assert "It is a part of the release: it feeds per-problem rankings only." in words


def test_the_shells_refusals_name_the_file_and_the_way_out(release: Release, track: Track, file: Path) -> None:
    with pytest.raises(CommandError, match="There is no entrant 'nobody'"):
        told("import_results", "gpu-1", file, "--entrant", "nobody", "--track", track.slug)
    factories.EntrantFactory(slug="one")
    file.write_bytes(b"nonsense\n")
    with pytest.raises(CommandError, match=r"alpha-graded-solutions\.jsonl: Line 1: the row is not valid JSON"):
        told("import_results", "gpu-1", file, "--entrant", "one", "--track", track.slug)
