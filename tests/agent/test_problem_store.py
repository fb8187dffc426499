"""A kept problem is used only if it is whole; otherwise it is fetched again."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from problems.spec.profile import Profile
from runners.agent.link.problem_store import ProblemStore
from tests.agent.machine import shell_problem

LINE = shell_problem().to_line()
SHA256 = hashlib.sha256(LINE).hexdigest()


def change_it(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"true", b"exit"))


def cut_it_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def make_it_a_folder(path: Path) -> None:
    path.unlink()
    (path / "inside").mkdir(parents=True)


def make_it_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


class Site:
    """Sends the problem and counts how often."""

    n_fetched = 0

    def fetch(self) -> bytes:
        self.n_fetched += 1
        return LINE


def test_a_problem_is_fetched_once_though_the_node_starts_again(tmp_path: Path) -> None:
    site = Site()
    for _ in range(2):
        assert ProblemStore(tmp_path).get(SHA256, Profile.PODIUM, site.fetch).problem.task_id == "t"
    assert site.n_fetched == 1


@pytest.mark.parametrize("damage", [change_it, cut_it_short, make_it_a_folder, make_it_a_pipe])
def test_a_damaged_problem_is_fetched_again_and_kept(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    site = Site()
    ProblemStore(tmp_path).get(SHA256, Profile.PODIUM, site.fetch)
    damage(tmp_path / SHA256)
    assert ProblemStore(tmp_path).get(SHA256, Profile.PODIUM, site.fetch).problem.to_line() == LINE
    assert site.n_fetched == 2
    assert (tmp_path / SHA256).read_bytes() == LINE


def test_a_problem_that_cannot_be_kept_is_still_used(tmp_path: Path) -> None:
    store = ProblemStore(tmp_path / "problems")
    (tmp_path / "problems").rmdir()
    (tmp_path / "problems").write_bytes(b"no folder: as on a full disk, no file can be made")
    assert store.get(SHA256, Profile.PODIUM, Site().fetch).problem.task_id == "t"
