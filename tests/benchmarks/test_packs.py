"""The problems drawn from a release, and the files written of them."""

import random
from pathlib import Path

import pytest

from benchmarks.compute_eval_gpu.packs import Packs, drawn, named, release_pack, write
from benchmarks.compute_eval_gpu.refused import BenchmarkRefused
from problems.formats.compute_eval.packs import read_every_solution, read_problem_pack, read_solution_pack
from tests.benchmarks.checkout import RELEASE, make_checkout, some_problems
from tests.packs import problem


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    others = [
        problem("t/tile", group="cutile"),
        problem("t/ten", compute_capability="10.0"),
        problem("t/nine", compute_capability="9.0"),
        problem("t/bare", baseline_solution=None),
    ]
    return make_checkout(tmp_path / "checkout", [*others, *some_problems(20)])


def test_a_seed_draws_what_python_draws_from_the_usable(checkout: Path) -> None:
    usable = ["t/nine", *(f"t/{index}" for index in range(20))]
    random.seed(2026)
    expected = random.sample(usable, 12)
    found = drawn(release_pack(checkout, RELEASE), 12, 2026)
    assert [record.problem.task_id for record in found] == expected


@pytest.mark.parametrize("number", [0, 22])
def test_more_than_there_are_cannot_be_drawn(checkout: Path, number: int) -> None:
    with pytest.raises(BenchmarkRefused, match="the release has 21 without group cutile"):
        drawn(release_pack(checkout, RELEASE), number, 2026)


def test_a_release_that_is_not_there_is_named(checkout: Path) -> None:
    with pytest.raises(BenchmarkRefused, match=r"no release 2030-1; it has 2026-1\."):
        release_pack(checkout, "2030-1")


def test_a_release_that_is_no_archive_is_refused(checkout: Path) -> None:
    (checkout / "data" / "releases" / "2026-2-problems.tar.gz").write_text("not a pack")
    with pytest.raises(BenchmarkRefused, match="cannot be read"):
        release_pack(checkout, "2026-2")


@pytest.fixture
def written(checkout: Path, tmp_path: Path) -> Packs:
    pack = release_pack(checkout, RELEASE)
    packs = Packs(RELEASE, tmp_path / "packs")
    write(packs, pack.metadata_bytes, drawn(pack, 5, 2026))
    return packs


def test_each_problem_is_solved_by_its_own_baseline(written: Packs) -> None:
    problems = [record.problem for record in read_problem_pack(written.problems).records]
    solutions = read_every_solution(read_solution_pack(written.solutions, written.solutions.name))
    assert [one.baseline_solution for one in problems] == solutions
    assert len(solutions) == 5


def test_problems_can_be_chosen_by_name(checkout: Path) -> None:
    found = named(release_pack(checkout, RELEASE), {"t/12", "t/3"})
    assert [record.problem.task_id for record in found] == ["t/3", "t/12"]
