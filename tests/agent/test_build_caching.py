"""The same key is never built twice, and only what the contestant's code decides is remembered."""

import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runners.agent.ground.events import Progress
from runners.agent.job.build_cache import Build, BuildCache, build_key
from runners.agent.job.building import BuildOrder, printed_by
from runners.agent.job.building import build as build_here
from runners.agent.job.job import Author
from runners.wire.protocol import Verdict
from tests.agent.machine import Machine, job_of, shell_problem

KEY = "k" * 64


def build(**changes: Any) -> Build:
    return Build(**{"key": KEY, "exit_code": 0, "stdout": "printed", "limits": "60", "product": b"made", **changes})


def key(**changes: Any) -> str:
    parts: dict[str, Any] = {
        "toolchain": "gcc",
        "command": "g++ a.cpp",
        "environment": {},
        "files": {"a.cpp": b"int main() {}"},
        "architecture": "x86_64",
    }
    return build_key(**parts | changes)


@pytest.mark.parametrize(
    "change",
    [
        {"toolchain": "gcc 13"},
        {"command": "g++ -O2 a.cpp"},
        {"environment": {"A": "1"}},
        {"files": {"a.cpp": b"int main() { }"}},
        {"files": {"b.cpp": b"int main() {}"}},
        {"files": {"a.cpp": b"int main() {}", "b.h": b""}},
        {"architecture": "aarch64"},
    ],
)
def test_everything_that_goes_into_a_build_changes_its_key(change: dict[str, Any]) -> None:
    assert key(**change) != key()


def test_the_order_of_files_does_not_matter() -> None:
    assert key(files={"a": b"1", "b": b"2"}) == key(files={"b": b"2", "a": b"1"})


def test_a_kept_build_survives_a_restart(tmp_path: Path) -> None:
    BuildCache(tmp_path).put(build())
    found = BuildCache(tmp_path).get(KEY, limits="other")
    assert found is not None
    assert (found.product, found.stdout, found.cached) == (b"made", "printed", True)


def test_a_compile_error_is_kept_for_the_same_limits_only(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    cache.put(build(exit_code=1, stderr="error: no", product=b""))
    found = cache.get(KEY, limits="60")
    assert found is not None
    assert found.stderr == "error: no"
    assert cache.get(KEY, limits="120") is None


@pytest.mark.parametrize(
    "end",
    [
        {"exit_code": None, "signal": 9, "timed_out": True},
        {"exit_code": 1, "memory_exceeded": True},
        {"exit_code": None, "signal": 11},
        {"exit_code": 137},
    ],
)
def test_ends_that_came_from_outside_are_never_kept(tmp_path: Path, end: dict[str, Any]) -> None:
    cache = BuildCache(tmp_path)
    cache.put(build(**end))
    assert cache.get(KEY, limits="60") is None


def test_a_file_cut_short_is_a_miss(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    cache.put(build())
    (path,) = (path for path in tmp_path.glob("*/*"))
    path.write_bytes(path.read_bytes()[:-2])
    assert cache.get(KEY, limits="60") is None
    assert not path.exists()


def test_the_least_recently_used_go_when_the_bound_is_reached(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path, max_bytes=98_000)
    keys = [letter * 64 for letter in "abcd"]
    for age, one in enumerate(keys[:3]):
        cache.put(build(key=one, product=bytes(25_000)))
        os.utime(tmp_path / one[:2] / one, (age, age))
    assert cache.get(keys[0], limits="60") is not None  # used now: the second is the oldest from here on
    cache.put(build(key=keys[3], product=bytes(25_000)))
    assert [cache.get(one, limits="60") is not None for one in keys] == [True, False, True, True]


def test_two_threads_with_the_same_key_build_once(fresh_machine: Machine) -> None:
    problem = shell_problem(build_command="sleep 0.3; echo made > product", test_command="cat product")
    reports = []

    def run() -> None:
        reports.append(fresh_machine.judge(problem, {"solution.sh": "x"}).report)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [report.verdict for report in reports] == [Verdict.PASSED, Verdict.PASSED]
    assert sorted(report.provenance.build_cached for report in reports) == [False, True]


class OtherNodes:
    """The fleet as a node sees it; `made` is what another node has built."""

    def __init__(self, made: dict[str, bytes] | None = None) -> None:
        self.made, self.asked = made, list[str]()
        self.settled = list[tuple[str, bool]]()

    def find(self, key: str, cancelled: threading.Event, longest_seconds: float) -> Build | None:
        assert not cancelled.is_set()
        assert longest_seconds > 0
        self.asked.append(key)
        return build(key=key, product=self.made[key], cached=True) if self.made and key in self.made else None

    def settle(self, key: str, made: Build | None) -> None:
        self.settled.append((key, made is not None and made.succeeded))


def orders(machine: Machine, elsewhere: OtherNodes, author: Author, shell: str) -> Build:
    problem = shell_problem(build_command=shell)
    order = BuildOrder(job_of(problem, {"solution.sh": "x"}), author, shell, {"solution.sh": b"x"}, ("solution.sh",), 5)
    return build_here(replace(machine.environment, elsewhere=elsewhere), order, Progress())


def test_a_reference_is_built_once_in_a_fleet_and_a_solution_on_its_own_node(fresh_machine: Machine) -> None:
    fleet = OtherNodes()
    first = orders(fresh_machine, fleet, Author.PROBLEM, "echo made > product")
    assert fleet.asked == [first.key]
    assert fleet.settled == [(first.key, True)]
    orders(fresh_machine, fleet, Author.CONTESTANT, "echo another > product")
    orders(fresh_machine, fleet, Author.PROBLEM, "echo made > product")  # kept here by now
    assert len(fleet.asked) == 1


def test_another_node_s_build_of_a_reference_is_taken_and_kept(fresh_machine: Machine) -> None:
    key = orders(fresh_machine, OtherNodes(), Author.CONTESTANT, "echo once > product").key
    shutil.rmtree(fresh_machine.builds_folder)
    fleet = OtherNodes({key: b"from elsewhere"})
    for _ in range(2):
        found = orders(fresh_machine, fleet, Author.PROBLEM, "echo once > product")
        assert (found.product, found.cached) == (b"from elsewhere", True)
    assert (fleet.asked, fleet.settled) == ([key], [])


def test_a_reference_that_does_not_build_is_given_up_for_the_fleet(fresh_machine: Machine) -> None:
    fleet = OtherNodes()
    failed = orders(fresh_machine, fleet, Author.PROBLEM, "exit 3")
    assert fleet.settled == [(failed.key, False)]


def test_a_cached_compile_error_reads_as_the_first_one_did(machine: Machine) -> None:
    problem = shell_problem(build_command="echo some words; echo more >&2; exit 1")
    first, second = (machine.judge(problem, {"solution.sh": "once more"}) for _ in range(2))
    assert second.report.provenance.build_cached
    assert first.report.verdict == second.report.verdict == Verdict.BUILD_FAILED
    assert first.texts.build == second.texts.build == "some words\n\nmore\n"
    assert first.report.steps[0].log == second.report.steps[0].log


@pytest.mark.rest
def test_a_timeout_is_tried_again(machine: Machine) -> None:
    problem = shell_problem(build_command="sleep 20", timeout_seconds=0.3)
    task = job_of(problem, {"solution.sh": "slow"})
    for _ in range(2):
        report = machine.judges.judge(task).report
        assert report.verdict == Verdict.TIMED_OUT
        assert not report.provenance.build_cached


def entry(folder: Path) -> Path:
    """The only entry of a cache."""
    (path,) = folder.glob("*/*")
    return path


def change_the_exit_status(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"exit_code": 0', b'"exit_code": 1'))


def change_the_output(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"printed", b"Printed"))


def change_the_product(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"made", b"mode"))


def make_it_a_folder(path: Path) -> None:
    path.unlink()
    (path / "inside").mkdir(parents=True)


def make_it_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def empty_it(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    "damage",
    [change_the_exit_status, change_the_output, change_the_product, make_it_a_folder, make_it_a_pipe, empty_it],
)
def test_a_damaged_entry_is_a_miss_and_is_removed(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    cache = BuildCache(tmp_path)
    cache.put(build())
    path = entry(tmp_path)
    damage(path)
    assert cache.get(KEY, limits="60") is None
    assert not path.exists()
    cache.put(build())
    assert cache.get(KEY, limits="60") is not None


def test_an_entry_of_another_key_is_a_miss(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    cache.put(build(key="o" * 64))
    (tmp_path / KEY[:2]).mkdir()
    entry(tmp_path).rename(tmp_path / KEY[:2] / KEY)
    assert cache.get(KEY, limits="60") is None


def test_a_file_in_the_place_of_a_folder_does_not_stop_the_cache(tmp_path: Path) -> None:
    (tmp_path / KEY[:2]).write_bytes(b"in the way")
    cache = BuildCache(tmp_path)
    assert cache.get(KEY, limits="60") is None
    cache.put(build())
    assert cache.get(KEY, limits="60") is not None


def test_a_build_that_cannot_be_kept_is_still_a_build(fresh_machine: Machine, tmp_path: Path) -> None:
    problem = shell_problem(build_command="echo made > product", test_command="cat product")
    shutil.rmtree(fresh_machine.builds_folder)
    fresh_machine.builds_folder.write_bytes(b"no folder")
    report = fresh_machine.judge(problem, {"solution.sh": "x"}).report
    assert (report.verdict, report.fault) == (Verdict.PASSED, "")


def test_honest_code_passes_though_its_kept_build_was_damaged(fresh_machine: Machine) -> None:
    problem = shell_problem(build_command="echo made > product", test_command="cat product")
    fresh_machine.judge(problem, {"solution.sh": "x"})
    for damage in (change_the_exit_status, make_it_a_folder):
        damage(entry(fresh_machine.builds_folder))
        assert fresh_machine.judge(problem, {"solution.sh": "x"}).report.verdict == Verdict.PASSED


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ('echo "No build is needed."', "No build is needed.\n"),
        (" echo  'a $HOME `date` \\\\ b' ", "a $HOME `date` \\\\ b\n"),
    ],
)
def test_a_build_that_only_prints_a_text_needs_no_sandbox(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, command: str, printed: str
) -> None:
    shown = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
    sandbox = machine.environment.sandbox
    ran: list[str] = []
    run_in = type(sandbox).run
    monkeypatch.setattr(type(sandbox), "run", lambda box, given: (ran.append(given.shell), run_in(box, given))[1])
    problem = shell_problem(build_command=command, test_command="test -e solution.sh")
    finished = machine.judge(problem, {"solution.sh": ""})
    assert (finished.report.verdict, finished.texts.build) == (Verdict.PASSED, f"{printed}\n")
    assert (shown, ran) == (printed, ["test -e solution.sh"])


@pytest.mark.parametrize(
    "command",
    [
        *(
            'echo "$(cat solution.sh)"',
            'echo "a" > made',
            'echo "a"; touch made',
            'echo "`id`"',
            "echo '-n'",
            "echo a*",
        ),
        *('echo "-e" "a"', 'echo "a\\\\b"', "echo 'a''b'", "true"),
    ],
)
def test_another_command_is_run(command: str) -> None:
    assert printed_by(command) is None
