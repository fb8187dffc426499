"""What took long is expected to take long again, also by the next process; whatever else lies there is as nothing."""

import json
import math
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runners.agent import durations
from runners.agent.durations import MEAN_OVER, WRITE_SECONDS, Durations, Guess, Kind, kind_of_benchmark, kind_of_test
from runners.agent.errors import Cancelled
from runners.protocol import Profiler, TimingPolicy, Verdict
from tests.agent.machine import Machine, shell_problem, task_of, temporary_folder

KINDS: tuple[Kind, ...] = (("problem", ("cub", "thrust")), ("cuda_cpp", "cudnn", ("-O3", "-lcudnn")), "group")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def kept_in(path: Path, size: int = 100, clock: Clock | None = None) -> Durations:
    known = Durations(size, clock or Clock())
    known.keep_in(path)
    return known


def test_a_kind_takes_the_mean_of_those_that_ended() -> None:
    known = Durations()
    assert known.expected(("a",), {}) == math.inf
    for seconds in (2.0, 4.0):
        known.add(("a",), seconds)
    assert known.expected(("a",), {}) == 3.0


def test_running_builds_raise_their_kinds_time_before_and_after_one_has_ended() -> None:
    known = Durations()
    assert known.expected(("a",), {"a": [5.0]}) == 5.0
    assert known.expected(("a",), {"a": [5.0] * 12}) == 60.0
    known.add(("a",), 2.0)
    assert known.expected(("a",), {"a": [5.0]}) == 5.0
    assert known.expected(("a",), {"a": [5.0] * 12}) == 31.0
    assert known.expected(("a",), {"a": [0.1]}) == 2.0


def test_the_most_precise_kind_that_is_known_decides() -> None:
    known = Durations()
    known.add(("problem", "group"), 2.0)
    known.add(("other", "group"), 10.0)
    assert known.expected(("problem", "group"), {"group": [30.0]}) == 2.0
    assert known.expected(("new", "group"), {}) == 6.0
    assert known.expected(("new", "group"), {"new": [20.0], "group": [20.0]}) == 20.0
    assert known.expected(("new", "new"), {}) == math.inf


def test_a_guess_holds_until_work_of_a_more_precise_kind_has_ended() -> None:
    known, guess = Durations(), Guess(60.0, n_kinds=1)
    kinds = ("includes", "problem", "group")
    assert known.expected(kinds, {}, guess) == 60.0
    known.add(("others", "problem", "group"), 2.0)
    assert known.expected(kinds, {}, guess) == 60.0, "the problem's other builds tell less"
    known.add(kinds, 4.0)
    assert known.expected(kinds, {}, guess) == 4.0
    known.add(("includes",), 100.0)
    assert known.expected(kinds, {}, guess) == 52.0


def test_running_builds_and_less_precise_kinds_raise_a_guess() -> None:
    known, guess = Durations(), Guess(10.0, n_kinds=1)
    assert known.expected(("includes", "problem"), {"includes": [5.0]}, guess) == 10.0
    assert known.expected(("includes", "problem"), {"includes": [12.0]}, guess) == 12.0
    assert known.expected(("includes", "problem"), {"problem": [12.0]}, guess) == 12.0
    known.add(("others", "problem"), 30.0)
    assert known.expected(("includes", "problem"), {}, guess) == 30.0


def test_times_of_long_ago_are_forgotten() -> None:
    known = Durations()
    for seconds in [100.0] * 200 + [1.0] * 200:
        known.add(("a",), seconds)
    assert known.expected(("a",), {}) < 2.0


def test_the_kinds_that_ended_least_lately_are_forgotten() -> None:
    known = Durations(size=2)
    for kind in ("a", "b", "a", "c"):
        known.add((kind,), 1.0)
    assert [known.expected((kind,), {}) for kind in "abc"] == [1.0, math.inf, 1.0]


def test_work_of_which_none_ended_is_not_known() -> None:
    known = Durations()
    known.add(("a",), 2.0)
    assert known.known("a") == 2.0
    assert known.known("b") is None


def test_the_next_process_expects_the_same(tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    first = kept_in(path)
    for seconds in (2.0, 4.0):
        first.learn(KINDS, seconds)
    first.write()
    second = kept_in(path)
    assert [second.known(kind) for kind in KINDS] == [3.0] * 3
    second.add(KINDS[:1], 6.0)
    assert second.known(KINDS[0]) == 4.0, "the third of three, not of the first"
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_what_was_learned_before_the_file_was_named_stands_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    kept_in(path).learn(("a", "b"), 1.0)
    late = Durations()
    late.add(("b", "c"), 5.0)
    late.keep_in(path)
    assert [late.known(kind) for kind in "abc"] == [1.0, 5.0, 5.0]


def test_the_file_is_left_alone_for_a_while_and_written_at_the_end(tmp_path: Path) -> None:
    path, clock = tmp_path / "durations.json", Clock()
    known = kept_in(path, clock=clock)
    assert not path.exists()
    known.learn(("a",), 1.0)
    known.learn(("b",), 1.0)
    assert [kept_in(path).known(kind) for kind in "ab"] == [1.0, None]
    clock.now = WRITE_SECONDS - 0.1
    known.write_when_due()
    assert kept_in(path).known("b") is None
    clock.now = WRITE_SECONDS
    known.write_when_due()
    assert kept_in(path).known("b") == 1.0
    known.learn(("c",), 1.0)
    known.write()
    assert kept_in(path).known("c") == 1.0


def test_nothing_is_written_where_nothing_was_learned(tmp_path: Path) -> None:
    path, clock = tmp_path / "durations.json", Clock()
    known = kept_in(path, clock=clock)
    known.learn(("a",), 1.0)
    path.unlink()
    clock.now = 10 * WRITE_SECONDS
    known.write_when_due()
    known.write()
    assert not path.exists()


def test_the_last_one_to_write_wins(tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    one, other = kept_in(path), kept_in(path)
    one.learn(("a",), 1.0)
    other.learn(("b",), 2.0)
    assert [kept_in(path).known(kind) for kind in "ab"] == [None, 2.0]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b'{"format":2,"ended":[]}',
        b'{"format":1,"ended":[],"more":0}',
        b'{"format":1,"ended":[["0123456789abcdef",1]]}',
        b'{"format":1,"ended":[["no digest",1,1.0]]}',
        b'{"format":1,"ended":[["0123456789abcdef",0,1.0]]}',
        b'{"format":1,"ended":[["0123456789abcdef",33,1.0]]}',
        b'{"format":1,"ended":[["0123456789abcdef",1,-1.0]]}',
        b'{"format":1,"ended":[["0123456789abcdef",1,1e999]]}',
        b'{"format":1,"ended":[["0123456789abcdef",1,NaN]]}',
        b"[" * 100_000,
        b" " * (durations.MAX_FILE_BYTES + 1) + b'{"format":1,"ended":[]}',
    ],
)
def test_whatever_is_not_quite_right_is_as_if_it_were_not_there(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "durations.json"
    kept_in(path).learn(KINDS, 3.0)
    sound = path.read_bytes()
    path.write_bytes(content + sound if content.startswith(b" ") else content)
    known = kept_in(path)
    assert known.known(KINDS[0]) is None
    assert known.expected(KINDS, {}) == math.inf
    known.learn(KINDS, 3.0)
    assert path.read_bytes() == sound


def test_a_file_cut_short_anywhere_is_as_none(tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    kept_in(path).learn(KINDS, 3.0)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert kept_in(path).known("group") is None


def test_what_is_no_file_is_not_read_and_costs_nothing(tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    for path in (pipe, folder, tmp_path / "gone" / "durations.json"):
        known = kept_in(path)
        known.learn(("a",), 1.0)
        assert known.known("a") == 1.0
    assert kept_in(pipe).known("a") == 1.0, "a file took its place"
    assert folder.is_dir()
    assert {one.name for one in tmp_path.iterdir()} == {"pipe", "folder"}


def test_the_file_stays_small_however_many_kinds_there_are(tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    known = Durations(clock=Clock())
    for n in range(durations.REMEMBERED_KINDS + 100):
        known.add((("x" * 100, n),), 1e5 / 3)
    known.keep_in(path)
    known.write()
    assert path.stat().st_size < durations.MAX_FILE_BYTES / 2
    fewer = kept_in(path, size=10)
    names = [("x" * 100, n) for n in range(durations.REMEMBERED_KINDS + 100)]
    assert [name for name in names if fewer.known(name) is not None] == names[-10:], "those that ended last"


def test_the_file_holds_digests_and_numbers_alone(tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    known = kept_in(path)
    for _ in range(2 * MEAN_OVER):
        known.add((("secret name", ("-lsecret",)),), 1 / 3)
    known.write()
    ((name, n, seconds),) = json.loads(path.read_bytes())["ended"]
    assert (len(name), n, seconds) == (16, MEAN_OVER, 0.333)
    assert b"secret" not in path.read_bytes()


def test_many_threads_learn_and_write_and_none_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    known = kept_in(path, size=1000)

    def work(number: int) -> None:
        for n in range(20):
            known.add((f"{number} {n}", "all"), 1.0)
            known.write()

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30.0)
    found = kept_in(path, size=1000)
    assert all(found.known(f"{number} {n}") == 1.0 for number in range(8) for n in range(20))
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.fixture
def start() -> Iterator[Callable[[], Machine]]:
    """Starts a node in a folder that is the same for all of one test."""
    with temporary_folder() as folder:
        yield lambda: Machine(Path(folder))


def test_a_node_keeps_how_long_builds_tests_and_benchmarks_took(start: Callable[[], Machine]) -> None:
    problem = shell_problem(
        build_command="sleep 0.1",
        test_command="sleep 0.3",
        benchmark_command="sleep 0.6",
        timing_mode={"type": "process"},
        baseline_solution=None,
    )
    task, first = task_of(problem, {"solution.sh": "x"}), start()
    assert first.pipeline.run(task).report.verdict is Verdict.PASSED
    first.environment.close()
    second = start()
    known, problem_sha256 = second.environment.durations, task.subject.problem_sha256
    second.environment.close()
    tested = known.known(kind_of_test(problem_sha256))
    timed = known.known(kind_of_benchmark(problem_sha256, task.timing_policy, task.profiler))
    built = known.known(problem_sha256)
    assert tested is not None
    assert timed is not None
    assert built is not None
    assert 0.3 <= tested < 60.0
    assert 0.6 <= timed < 60.0
    assert 0.1 <= built < 60.0
    assert known.known(kind_of_benchmark(problem_sha256, TimingPolicy.RANKED, Profiler.NONE)) is None


def test_what_is_cancelled_teaches_nothing(fresh_machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def cancelled(*_: object) -> None:
        raise Cancelled

    task = task_of(shell_problem(build_command=None, test_command="true"), {"solution.sh": "x"})
    with monkeypatch.context() as patch:
        patch.setattr("runners.agent.runs.uncancelled", cancelled)
        with pytest.raises(Cancelled):
            fresh_machine.pipeline.run(task)
    kind = kind_of_test(task.subject.problem_sha256)
    assert fresh_machine.environment.durations.known(kind) is None
