"""What took long when it was graded before is begun first, else what is heavy to build.

A task's own samples and rows keep their order.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from podium.evaluation import run
from podium.evaluation.inputs import Reader, Sample, read_problems
from podium.evaluation.rows import Graded
from podium.evaluation.run import Grader, Options
from problems.spec.skips import Hardware
from runners.agent import slots
from runners.agent.durations import kind_of_benchmark, kind_of_test
from runners.agent.pipeline import Pipeline
from runners.agent.task import PLAIN_MODES, Finished, Task, Watcher
from runners.protocol import Profiler, TimingPolicy
from tests.agent.machine import Machine, temporary_folder
from tests.evaluate.packs_on_disk import write_problems, write_solutions
from tests.packs import problem, solution


class Noting(Pipeline):
    """Notes what it is asked for, in this order."""

    asked: list[tuple[str, str]]

    def run(self, task: Task, watcher: Watcher | None = None) -> Finished:
        self.asked.append((task.subject.problem.task_id, task.subject.files[0].content))
        return super().run(task, watcher)


class Bench:
    """A node whose only worker takes one sample after the other, in the order in which they were handed over."""

    def __init__(self, folder: Path) -> None:
        self.machine = Machine(folder)
        self.pipeline = Noting(self.machine.environment)
        self.durations = self.machine.environment.durations

    def order(self, samples: list[Sample], policy: TimingPolicy = TimingPolicy.QUICK) -> list[tuple[str, str]]:
        """Of samples begun."""
        self.pipeline.asked = []
        self.rows: list[Graded] = []
        options = Options(policy, Profiler.NONE, PLAIN_MODES)
        grader = Grader(self.pipeline, options, 1, Event())
        assert grader.grade(samples, lambda _, rows: self.rows.extend(rows)) == []
        return self.pipeline.asked


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Bench]]:
    """Starts a node in a folder that is the same for all of one test."""
    monkeypatch.setattr(run, "AHEAD", 0)
    benches: list[Bench] = []
    with temporary_folder() as folder:

        def make() -> Bench:
            benches.append(Bench(Path(folder)))
            return benches[-1]

        yield make
        for bench in benches:
            bench.machine.environment.close()


def samples_of(folder: Path, problems: list[dict[str, Any]], scripts: tuple[str, ...] = ("exit 0",)) -> list[Sample]:
    solutions = [solution(one["task_id"], script) for one in problems for script in scripts]
    pack = read_problems(write_problems(folder, problems), [])
    hardware = Hardware("cpu")
    (found,) = Reader(pack, hardware, "", strict=False).read([write_solutions(folder, solutions)])
    return list(found.samples)


def tasks_of(begun: list[tuple[str, str]]) -> str:
    return "".join(task[-1] for task, _ in begun)


def digest(samples: list[Sample], task: str) -> str:
    return next(sha256(one.record.line).hexdigest() for one in samples if one.draft.task_id == task)


def test_the_second_time_the_longest_is_begun_first(tmp_path: Path, start: Callable[[], Bench]) -> None:
    seconds = {"1": 0.1, "2": 0.1, "3": 1.2, "4": 0.6}
    problems = [problem(f"a/{n}", build_command=None, test_command=f"sleep {long}") for n, long in seconds.items()]
    samples = samples_of(tmp_path, problems)
    first = start()
    assert tasks_of(first.order(samples)) == "1234"
    first.machine.environment.durations.write()
    assert tasks_of(start().order(samples))[:2] == "34"


def test_a_benchmark_counts_as_the_policy_has_it(tmp_path: Path, start: Callable[[], Bench]) -> None:
    samples, bench = samples_of(tmp_path, [problem(f"a/{n}") for n in range(1, 4)]), start()
    for n, seconds in (("1", 2.0), ("2", 3.0), ("3", 4.0)):
        bench.durations.add((kind_of_test(digest(samples, f"a/{n}")),), seconds)
    kind = kind_of_benchmark(digest(samples, "a/1"), TimingPolicy.QUICK, Profiler.NONE)
    bench.durations.add((kind,), 60.0)
    assert tasks_of(bench.order(samples)) == "132"
    assert tasks_of(bench.order(samples, TimingPolicy.RANKED)) == "321"


def test_what_never_ran_stands_where_the_average_does_and_equals_keep_their_order(
    tmp_path: Path, start: Callable[[], Bench]
) -> None:
    samples, bench = samples_of(tmp_path, [problem(f"a/{n}") for n in range(1, 8)]), start()
    for n, seconds in (("2", 1.0), ("3", 9.0), ("5", 1.0), ("6", 9.0)):
        bench.durations.add((kind_of_test(digest(samples, f"a/{n}")),), seconds)
    assert tasks_of(bench.order(samples)) == "3614725"


def test_samples_that_never_want_a_slot_are_not_waited_for(
    tmp_path: Path, start: Callable[[], Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "AHEAD", 64)
    monkeypatch.setattr(slots, "GATHER_LONGEST_SECONDS", 120.0)
    needs_more = {"build_command": None, "source_references": {"any": None, "all": ["nowhere"]}}
    samples = samples_of(tmp_path, [problem(f"a/{n}", **needs_more) for n in range(1, 9)])
    bench, since = start(), time.monotonic()
    bench.order(samples)
    assert [one.row.passed for one in bench.rows] == [False] * len(samples)
    assert time.monotonic() - since < 60.0


def includes(*libraries: str, path: str = "test/main.cu") -> list[dict[str, str]]:
    return [{"path": path, "content": "".join(f"#include <{library}/any.h>\n" for library in libraries)}]


TIMED = {"benchmark_command": "true"}
CUTLASS, CUB, CUDA = ({"test_files": includes(library)} for library in ("cutlass", "cub", "cuda"))


def test_where_nothing_ran_before_heavy_builds_fill_the_slots_and_light_ones_that_are_timed_follow(
    tmp_path: Path, start: Callable[[], Bench]
) -> None:
    changes: list[dict[str, Any]] = [TIMED, {}, CUDA | TIMED, CUB, CUTLASS, CUTLASS, CUTLASS, CUTLASS]
    problems = [problem(f"a/{n}", **changed) for n, changed in enumerate(changes, 1)]
    samples, bench = samples_of(tmp_path, problems), start()
    assert bench.machine.environment.lanes.build_slots == 2
    assert tasks_of(bench.order(samples)) == "56123478"


def test_what_a_solution_includes_counts_as_well_and_the_heaviest_sample_decides(
    tmp_path: Path, start: Callable[[], Bench]
) -> None:
    problems = [problem("a/1", **CUDA), problem("a/2"), problem("a/3", **CUB)]
    scripts = {"a/1": ["any"], "a/2": ["any", "#include <cutlass/any.h>"], "a/3": ["any"]}
    pack = read_problems(write_problems(tmp_path, problems), [])
    solutions = [solution(task, script, "a.cu") for task in scripts for script in scripts[task]]
    reader = Reader(pack, Hardware("cpu"), "", strict=False)
    (found,) = reader.read([write_solutions(tmp_path, solutions)])
    assert tasks_of(start().order(list(found.samples))) == "2231"


def test_what_is_not_built_is_lightest(tmp_path: Path, start: Callable[[], Bench]) -> None:
    unbuilt: list[dict[str, Any]] = [CUTLASS | {"build_command": None}, CUTLASS, CUTLASS, {}]
    problems = [problem(f"a/{n}", **changed) for n, changed in enumerate(unbuilt, 1)]
    _, skipped, invalid, built = samples = samples_of(tmp_path, problems)
    samples[1] = replace(skipped, skip_reason="needs what is not here")
    samples[2] = replace(invalid, draft=replace(invalid.draft, invalid_reason="names no file"))
    assert samples[3] is built
    assert tasks_of(start().order(samples)) == "4123"


def test_where_some_ran_before_heavier_builds_come_first_of_equals_alone(
    tmp_path: Path, start: Callable[[], Bench]
) -> None:
    changes: list[dict[str, Any]] = [{}, TIMED, CUB, CUTLASS | TIMED, CUTLASS, {}]
    problems = [problem(f"a/{n}", **changed) for n, changed in enumerate(changes, 1)]
    samples, bench = samples_of(tmp_path, problems), start()
    bench.durations.add((kind_of_test(digest(samples, "a/1")),), 9.0)
    bench.durations.add((kind_of_test(digest(samples, "a/5")),), 1.0)
    assert tasks_of(bench.order(samples)) == "143265"


def test_a_tasks_samples_and_rows_keep_their_order(tmp_path: Path, start: Callable[[], Bench]) -> None:
    scripts = ("exit 0 # x", "exit 0 # y", "exit 0 # z")
    samples, bench = samples_of(tmp_path, [problem(f"a/{n}") for n in range(1, 4)], scripts), start()
    bench.durations.add((kind_of_test(digest(samples, "a/2")),), 9.0)
    bench.durations.add((kind_of_test(digest(samples, "a/1")),), 1.0)
    begun = bench.order(samples)
    assert begun == [(f"a/{n}", script) for n in (2, 3, 1) for script in scripts]
    assert [row.sample.draft.index for row in bench.rows] == [0, 1, 2] * 3
