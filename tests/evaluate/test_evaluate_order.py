"""Samples are begun task by task in the pack's order, so that a task's samples run close together."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from podium.evaluation import run
from podium.evaluation.inputs import Reader, SampleToGrade, read_problems
from podium.evaluation.rows import Graded, TaskRows
from podium.evaluation.run import Options, SampleGrader
from problems.spec.hardware import Hardware
from problems.spec.solution import FileSolution
from runners.agent.ground.events import Progress
from runners.agent.job.job import PLAIN_MODES, Job
from runners.agent.judges.registry import Judges
from runners.agent.judges.report import Finished
from runners.wire.protocol import Profiler, TimingPolicy
from tests.agent.machine import Machine, temporary_folder
from tests.evaluate.packs_on_disk import write_problems, write_solutions
from tests.packs import problem, solution


class Noting(Judges):
    """Notes what it is asked for, in this order."""

    asked: list[tuple[str, str]]

    def judge(self, job: Job, progress: Progress | None = None) -> Finished:
        assert isinstance(job.solution, FileSolution)
        self.asked.append((job.problem.task_id, job.solution.files[0].content))
        return super().judge(job, progress)


class Bench:
    """A node whose only worker takes one sample after the other, in the order in which they were handed over."""

    def __init__(self, folder: Path) -> None:
        self.machine = Machine(folder)
        self.judges = Noting(self.machine.environment)

    def order(self, samples: list[SampleToGrade], timing: TimingPolicy = TimingPolicy.QUICK) -> list[tuple[str, str]]:
        """The order in which samples begin."""
        self.judges.asked = []
        self.reports: list[list[Graded]] = []
        grader = SampleGrader(self.judges, Options(timing, Profiler.NONE, PLAIN_MODES), 1, Progress())
        assert grader.grade(samples, lambda _, rows: self.reports.append(rows)) == []
        return self.judges.asked

    @property
    def rows(self) -> list[Graded]:
        return [row for rows in self.reports for row in rows]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Bench]]:
    """Starts a node in a folder that is the same for all of one test."""
    monkeypatch.setattr(run, "AHEAD", dict.fromkeys(TimingPolicy, 0))
    benches: list[Bench] = []
    with temporary_folder() as folder:

        def make() -> Bench:
            benches.append(Bench(Path(folder)))
            return benches[-1]

        yield make
        for bench in benches:
            bench.machine.environment.close()


def samples_of(
    folder: Path, problems: list[dict[str, Any]], scripts: tuple[str, ...] = ("exit 0",)
) -> list[SampleToGrade]:
    solutions = [solution(one["task_id"], script) for one in problems for script in scripts]
    pack = read_problems(write_problems(folder, problems), [])
    hardware = Hardware("cpu")
    (found,) = Reader(pack, hardware, "", strict=False).read([write_solutions(folder, solutions)])
    return list(found.samples)


def test_a_tasks_samples_are_begun_together_and_its_rows_keep_their_order(
    tmp_path: Path, start: Callable[[], Bench]
) -> None:
    scripts = ("exit 0 # x", "exit 0 # y", "exit 0 # z")
    tasks = ("a/2", "a/3", "a/1")
    samples, bench = samples_of(tmp_path, [problem(task) for task in tasks], scripts), start()
    scattered = sorted(samples, key=lambda sample: sample.incoming.index)
    assert bench.order(scattered) == [(task, script) for task in tasks for script in scripts]
    assert [row.sample.incoming.index for row in bench.rows] == [0, 1, 2] * 3


@pytest.mark.parametrize(("timing", "expected"), [(TimingPolicy.RANKED, [1, 1]), (TimingPolicy.QUICK, [0, 2])])
def test_rows_wait_for_their_task_only_if_they_share_a_baseline(
    tmp_path: Path, start: Callable[[], Bench], timing: TimingPolicy, expected: list[int]
) -> None:
    timed = [problem("a/1", benchmark_command="sh test/t.sh")]
    bench = start()
    bench.order(samples_of(tmp_path, timed, ("exit 0 # x", "exit 0 # y")), timing)
    assert [len(rows) for rows in bench.reports] == expected


def test_a_row_waits_for_the_earlier_samples_of_its_own_pack_alone(tmp_path: Path, start: Callable[[], Bench]) -> None:
    bench = start()
    bench.order(samples_of(tmp_path, [problem("a/1")], ("exit 0 # x", "exit 0 # y")))
    x, y = bench.rows
    theirs = replace(x, sample=replace(x.sample, pack="another"))
    rows = TaskRows([x.sample, y.sample, theirs.sample], held=False)
    assert rows.add(theirs.sample, theirs) == [theirs]
    assert rows.add(y.sample, y) == []
    assert rows.add(x.sample, x) == [x, y]


def test_every_sample_of_a_task_is_graded_by_what_podium_adds_to_the_problem(
    tmp_path: Path, start: Callable[[], Bench]
) -> None:
    files = [{"path": f"test/{name}.sh", "content": "sh solution.sh\n"} for name in ("t", "b")]
    podium = {"build_only": [], "work_checked": True}
    timed = problem("a/1", test_files=files, benchmark_command="sh test/b.sh", podium=podium)
    bench = start()
    bench.order(samples_of(tmp_path, [timed], ("exit 0 # x", "exit 0 # y")), TimingPolicy.RANKED)
    for row in bench.rows:  # the second is graded after the first has its row
        assert row.row.podium is not None
        assert [one["work_checked"] for one in row.row.podium["measurements"]] == [True, True]
