"""`podium submit` and function problems: a single file under its right name, checked before it is sent, and packs."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from leaderboard import blobs
from leaderboard.models import Sample, Submission
from problems.spec.solution import FileSolution, parse_solution
from tests import factories, function_site, packs
from tests.podium_cli.test_remote import Place, Shell, submit

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def place(live_server: Any, cast: Any, tmp_path: Path) -> Place:
    made = function_site.mixed_release()
    track = factories.offer(made)
    token = factories.token(cast.owner)
    variables = {"PODIUM_SITE_URL": live_server.url, "PODIUM_TOKEN": token}
    return Place(Shell(tmp_path, variables), made, track, token, live_server.url)


def written(place: Place, name: str, content: str) -> Path:
    path = place.shell.home / name
    path.write_text(content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "stored"),
    [("my_kernel.cpp", function_site.CPP, "solution.cpp"), ("solution.py", function_site.PYTHON, "solution.py")],
)
def test_one_file_is_sent_under_the_name_of_its_language(place: Place, name: str, content: str, stored: str) -> None:
    done = submit(place, written(place, name, content), "--task", "row-softmax")
    assert done.returncode == 0, done.stderr
    sample = Sample.objects.get()
    solution = parse_solution(blobs.read(sample.solution_sha256))
    assert sample.invalid_reason == ""
    assert isinstance(solution, FileSolution)
    assert [(file.path, file.content) for file in solution.files] == [(stored, content)]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("solution.cpp", function_site.WRONG_SIGNATURE, "solution.cpp line 1: `solution` takes 2 parameters"),
        ("kernel.cu", function_site.CPP, "solution.cu is cuda; this problem allows cpp, python"),
    ],
)
def test_what_would_be_invalid_is_never_sent(place: Place, name: str, content: str, words: str) -> None:
    done = submit(place, written(place, name, content), "--task", "row-softmax")
    assert (done.returncode, done.stdout) == (1, "")
    assert words in done.stderr
    assert not Submission.objects.exists()


def test_a_pack_may_answer_problems_of_both_kinds(place: Place) -> None:
    path = place.shell.home / "mine-solutions.tar.gz"
    lines = [function_site.solution(text=function_site.WRONG_SIGNATURE), packs.solution("Shell/0", "exit 0")]
    path.write_bytes(packs.solution_pack(lines, "mixed-1").getvalue())
    done = submit(place, path)
    assert done.returncode == 0, done.stderr
    assert "row-softmax sample 1 is invalid: solution.cpp line 1: `solution` takes 2 parameters" in done.stderr
    assert Submission.objects.get().is_full


def test_a_zip_may_answer_problems_of_both_kinds(place: Place) -> None:
    path = place.shell.home / "mine.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("row-softmax/0/solution.cpp", function_site.CPP)
        archive.writestr("row-softmax/1/solution.py", function_site.PYTHON)
        archive.writestr("Shell_0/solution.sh", "exit 0\n")
    done = submit(place, path)
    assert done.returncode == 0, done.stderr
    assert Sample.objects.filter(problem__task_id="row-softmax", invalid_reason="").count() == 2
