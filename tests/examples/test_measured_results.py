"""The committed GPU results belong to the committed problems and solutions, and came out as the entrants say."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from demo.entrants import sample_folder
from demo.packs import problems_of
from problems.formats.graded_rows import GradedRow, read_graded_rows
from problems.spec.digests import grading_digest
from problems.spec.profile import Profile

RELEASES = [Path(__file__).parents[2] / "examples" / name for name in ("showcase", "textbook-gpu", "functions-gpu")]
FILES = [path for folder in RELEASES for path in sorted((folder / "results").glob("*.jsonl.gz"))]
NOT_GRADED_YET: dict[str, set[str]] = {}
"""Problems without results, by release and entrant. A run on the GPU empties this, and the next two."""
MENDED_SINCE: set[str] = set()
"""Problems that were graded with another content than they have now: their results hold no longer."""
CHANGED_SINCE: set[tuple[str, str, int]] = set()
"""(entrant, task, index) of samples that were mended after they were graded."""

pytestmark = pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-3]}-{path.name.partition('.')[0]}")


@cache
def digests(release: Path) -> dict[str, str]:
    problems = [record.problem for record in problems_of(release).records]
    return {problem.task_id: grading_digest(problem, problem.withheld) for problem in problems}


def rows_of(path: Path) -> list[GradedRow]:
    return [one.row for one in read_graded_rows(path)]


def release_of(path: Path) -> Path:
    return path.parent.parent


def folder_of(path: Path) -> Path:
    return release_of(path) / "entrants" / path.name.partition(".")[0]


def entrant_of(path: Path) -> dict[str, Any]:
    fields: dict[str, Any] = yaml.safe_load((folder_of(path) / "entrant.yaml").read_text("utf-8"))
    return fields


def test_every_problem_is_the_one_that_was_graded(path: Path) -> None:
    found = {row.task_id: row.stated_grading_digest(Profile.PODIUM) for row in rows_of(path)}
    now = digests(release_of(path))
    assert now.keys() - found.keys() == not_graded_yet(path), "grade these on the GPU, or take them off the list"
    changed = {task for task, digest in found.items() if now.get(task) != digest}
    assert changed == MENDED_SINCE, "grade these again on the GPU, or take them off the list"


@cache
def is_timed(release: Path) -> bool:
    return any(record.problem.cases for record in problems_of(release).records)


def not_graded_yet(path: Path) -> set[str]:
    return NOT_GRADED_YET.get(f"{release_of(path).name}/{folder_of(path).name}", set())


def changed_since(path: Path) -> set[tuple[str, int]]:
    """(task, index) of this entrant's samples that were mended after they were graded."""
    return {(task, index) for entrant, task, index in CHANGED_SINCE if entrant == folder_of(path).name}


def test_every_solution_is_the_one_that_was_graded(path: Path) -> None:
    changed = set()
    for row in rows_of(path):
        folder = sample_folder(folder_of(path) / row.task_id, row.index)
        stored = {file["path"]: file["content"] for file in row.answer["files"]}
        now = {one.relative_to(folder).as_posix(): one.read_text("utf-8") for one in folder.rglob("*") if one.is_file()}
        if stored != now:
            changed.add((row.task_id, row.index))
    assert changed == changed_since(path), "grade these samples again on the GPU, or take them off the list"


def test_every_verdict_is_the_one_expected(path: Path) -> None:
    """Each sample of each graded problem has its row; what was mended since may come out otherwise next time."""
    found = {(row.task_id, row.index): row.verdict for row in rows_of(path)}
    expected = {
        (task, index): verdict
        for task, verdicts in entrant_of(path)["expected"].items()
        for index, verdict in enumerate(verdicts)
        if task not in not_graded_yet(path)
    }
    assert found.keys() == expected.keys()
    wrong = {one for one, verdict in expected.items() if found[one] != verdict}
    assert wrong <= changed_since(path)


def test_times_count_for_whom_they_should(path: Path) -> None:
    """Every pass but the uncredited ones has a time that nothing is held against, where the release times anything."""
    if not is_timed(release_of(path)):
        assert not any((row.podium or {})["measurements"] for row in rows_of(path))
        return
    uncredited = entrant_of(path).get("uncredited") or {}
    for row in rows_of(path):
        podium = row.podium or {}
        if row.verdict != "passed":
            continue
        timed = [one for one in podium["measurements"] if one["role"] == "candidate"]
        codes = [flag["code"] for flag in podium["flags"]]
        credited = bool(timed) and not codes
        assert credited == (row.index not in uncredited.get(row.task_id, [])), f"{row.task_id} sample {row.index}"


def gpu_of(release: Path) -> str:
    """The GPU on which a release was measured, which every file of it has."""
    return "NVIDIA H100 80GB HBM3" if release.name == "functions-gpu" else "NVIDIA H200"


def test_every_row_says_where_and_when_it_was_measured(path: Path) -> None:
    for row in rows_of(path):
        provenance = (row.podium or {})["provenance"]
        assert (provenance["gpu"], "nvcc 13.0" in provenance["toolkit"]) == (gpu_of(release_of(path)), True)
        assert provenance["driver"]
        assert provenance["finished_at"]
