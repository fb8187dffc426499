"""The results measured elsewhere that `make demo` imports, with a release, entrants and results made up here."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from demo.entrants import DemoEntrant
from demo.measured import MEASURED, seed_measured
from demo.seed_types import BoardName
from leaderboard.models import Entrant, Result, Standing, Submission, Track
from problems.actions.releases import import_release
from problems.formats.compute_eval.directory import read_problem_directory
from problems.formats.graded_rows import lean_file
from problems.models import Release
from runners.fleet.models import Job
from tests import factories, graded

pytestmark = pytest.mark.django_db
SPEC = {
    "type": "cuda_cpp",
    "date": "2026-11-20",
    "prompt": "Write a kernel.",
    "group": "cuda-kernels",
    "build_command": "nvcc -o test.out solution.cu",
    "test_command": "./test.out",
    "metadata": {"difficulty": "easy", "tags": [], "podium": {"flops": 4e9, "bytes": 8e6, "build_only": []}},
    "compute_capability": None,
}


def write_yaml(path: Path, fields: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(fields), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A showcase with two problems and two entrants, of whom one has results."""
    write_yaml(tmp_path / "release.yaml", {"release": "showcase-test-1", "profile": "podium/1", "ks": [1]})
    for name in ("add", "scan"):
        write_problem(tmp_path, name)
    for name in ("tuned", "flawed"):
        fields = {"name": f"demo-{name}", "title": f"Demo: {name.title()}", "kind": "model", "organisation": "Podium"}
        expected = {"description": "Made up.", "expected": {"show-add": ["passed"], "show-scan": ["passed"]}}
        write_yaml(tmp_path / "entrants" / f"demo-{name}" / "entrant.yaml", fields | expected)
    return tmp_path


def write_problem(folder: Path, name: str, **changes: str) -> None:
    write_yaml(folder / "problems" / name / "problem-spec.yaml", SPEC | {"task_id": f"Show/{name}"} | changes)


def write_results(folder: Path, entrant: str, gpu: str = graded.H200) -> None:
    """Lean, as they are committed, of every problem that is there; made of a release that is gone again."""
    release = import_release(read_problem_directory(folder), f"whole-{Release.objects.count()}").release
    where = graded.provenance(gpu=gpu).model_dump(mode="json")
    whole = graded.write(folder / "whole.jsonl", graded.rows(release, n_samples=1, provenance=where))
    (folder / "results").mkdir(exist_ok=True)
    (folder / "results" / f"{entrant}.jsonl.gz").write_bytes(lean_file(whole))
    release.problems.all().delete()
    release.delete()


def seed(folder: Path, cast: factories.Cast) -> BoardName | None:
    def make_entrant(one: DemoEntrant) -> Entrant:
        made, _ = Entrant.objects.get_or_create(slug=one.slug, defaults={"name": one.title, "owner": cast.owner})
        return made

    return seed_measured(cast.organiser, make_entrant, folder)


def test_a_visitor_without_a_gpu_finds_a_ranked_gpu_board(folder: Path, cast: factories.Cast) -> None:
    write_results(folder, "demo-tuned")
    board = seed(folder, cast)
    assert board == BoardName("showcase-test-1", "nvidia-h200-cuda13.0")
    standing = Standing.objects.get()
    assert (standing.entrant.slug, standing.rank, standing.pass_at_1) == ("demo-tuned", 1, 1.0)
    assert standing.submission.measured_where["machines"] == ["NVIDIA H200 (driver 580.82.07, CUDA 13.0)"]
    track = Track.objects.get(slug=board.track)
    assert (track.hardware_name, track.splits_jobs, track.peaks["gbps"]) == ("NVIDIA H200", True, 4000.0)
    release = Release.objects.get()
    assert (release.is_public, release.unverified_reason) == (True, "results measured elsewhere")
    assert not Job.objects.exists()


def test_results_of_another_gpu_have_a_track_of_their_own(folder: Path, cast: factories.Cast) -> None:
    write_results(folder, "demo-tuned", "NVIDIA H100 80GB HBM3")
    board = seed(folder, cast)
    assert board == BoardName("showcase-test-1", "nvidia-h100-cuda13.0")
    assert Standing.objects.get(rank=1).track.hardware_name == "NVIDIA H100 80GB HBM3"


def test_a_second_demo_changes_nothing(folder: Path, cast: factories.Cast) -> None:
    write_results(folder, "demo-tuned")
    first = seed(folder, cast)
    assert seed(folder, cast) == first
    assert (Submission.objects.count(), Result.objects.count(), Standing.objects.count()) == (1, 2, 1)


def test_without_results_there_is_no_showcase(folder: Path, cast: factories.Cast) -> None:
    assert seed(folder, cast) is None
    assert not Release.objects.exists()


def task_ids(release: Release) -> list[str]:
    return list(release.problems.order_by("task_id").values_list("task_id", flat=True))


def test_a_problem_that_nobody_has_results_of_yet_is_left_out_and_the_others_rank(
    folder: Path, cast: factories.Cast
) -> None:
    write_results(folder, "demo-tuned")
    write_problem(folder, "sparse")
    seed(folder, cast)
    assert task_ids(Release.objects.get()) == ["Show/add", "Show/scan"]
    assert (Standing.objects.get().rank, Submission.objects.get().is_full) == (1, True)


def test_a_problem_that_one_of_the_entrants_lacks_is_left_out_and_both_rank(folder: Path, cast: factories.Cast) -> None:
    write_results(folder, "demo-tuned")
    write_problem(folder, "sparse")
    write_results(folder, "demo-flawed")
    seed(folder, cast)
    assert task_ids(Release.objects.get()) == ["Show/add", "Show/scan"]
    assert all(one.is_full for one in Submission.objects.all())
    assert Standing.objects.filter(rank__isnull=False).count() == 2


def test_a_problem_that_changed_since_it_was_graded_is_left_out_too(folder: Path, cast: factories.Cast) -> None:
    write_results(folder, "demo-tuned")
    write_problem(folder, "scan", test_command="./test.out --all")
    seed(folder, cast)
    assert task_ids(Release.objects.get()) == ["Show/add"]
    assert (Standing.objects.get().rank, Result.objects.count()) == (1, 1)


def test_a_problem_whose_words_alone_changed_keeps_its_results(folder: Path, cast: factories.Cast) -> None:
    write_results(folder, "demo-tuned")
    write_problem(folder, "scan", prompt="Write a kernel, please.")
    seed(folder, cast)
    assert (Standing.objects.get().rank, Result.objects.count()) == (1, 2)


def test_a_problem_comes_in_with_its_results(folder: Path, cast: factories.Cast) -> None:
    write_results(folder, "demo-tuned")
    first = seed(folder, cast)
    write_problem(folder, "sparse")
    write_results(folder, "demo-tuned")
    second = seed(folder, cast)
    assert first is not None and second is not None and first.release != second.release
    release = Release.objects.get(slug=second.release)
    assert (task_ids(release), release.revision) == (["Show/add", "Show/scan", "Show/sparse"], 2)
    assert Standing.objects.get(release=release).rank == 1


MEASURED_YET = [folder for folder in MEASURED if (folder / "results").is_dir()]


@pytest.mark.parametrize("folder", MEASURED_YET, ids=lambda folder: folder.name)
def test_committed_results_come_in(folder: Path, cast: factories.Cast) -> None:
    board = seed(folder, cast)
    assert board is not None
    standings = Standing.objects.filter(release__slug=board.release)
    ranked = {slug for slug, rank in standings.values_list("entrant__slug", "rank") if rank}
    assert ranked == {path.name.partition(".")[0] for path in (folder / "results").glob("*.jsonl.gz")}
