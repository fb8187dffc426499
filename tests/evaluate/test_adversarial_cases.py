"""Conformance case 26 from a pack to its graded rows, on a CPU; tests/gpu has the same samples under a profiler."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from problems.spec.command.timing_mode import RegionTimingMode
from runners.agent.judges.command.outside_bounds import Observed, findings
from runners.agent.profilers.cupti import Cupti
from runners.agent.profilers.cupti_library import find_toolkit
from runners.agent.profilers.facts import ProfileFacts, RangeFacts
from tests.agent.cupti_stand_in import HERE, library_over_stand_in, ran, reader
from tests.agent.machine import shell_problem, temporary_folder
from tests.evaluate.adversarial import (
    FORGE,
    FORGED_MS,
    LEFT_LATER,
    LINGER_SECONDS,
    TIMED_CALLS,
    Case,
    Platform,
    Record,
    cases,
    filled,
    left_behind,
    solution_of,
)
from tests.evaluate.packs_on_disk import evaluate, rows_of, write_problems, write_solutions
from tests.requirements import requires

pytestmark = pytest.mark.rest

DEVICE_H = """\
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

constexpr std::size_t PERF_WORDS = 1000;
constexpr std::uint32_t PERF_STEPS = 64;

class Words {
  public:
    explicit Words(std::size_t n) : words_(n) {}
    std::uint32_t* data() { return words_.data(); }
    void upload(const std::vector<std::uint32_t>& words) { words_ = words; }
    void download(std::vector<std::uint32_t>& words) const { words = words_; }

  private:
    std::vector<std::uint32_t> words_;
};

inline void enter_range() {}
inline void finish() {}
inline void leave_range() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }  // as if a device worked
"""
WALK_CPP = """\
#include "walk.h"
@BEFORE@
void walk(const std::uint32_t* in, std::uint32_t* out, std::size_t n, std::uint32_t steps, std::uint32_t a,
          std::uint32_t c) {
    @FIRST@
    for (std::size_t i = 0; i < n; ++i) {
        std::uint32_t x = in[i];
        for (std::uint32_t step = 0; step < steps; ++step) x = a * x + c;
        out[i] = x;
    }
}
"""
CPU = Platform("cpp", "g++ -O1", DEVICE_H, WALK_CPP, {"timeout_seconds": 60.0})
OF_LOAD = {"busy_host", "unchecked_speedup"}
"""Flags that a time may also get if the machine of these tests has other work to do."""
MARK = f"left-behind-{os.getpid()}"
CASES = cases(CPU, MARK)
LIFE_PROGRAM = HERE / "cupti_life_program.cpp"
REGION = {"type": "region", "include": ["bench_region"], "time_type": "kernel"}


@pytest.fixture(scope="module")
def rows() -> Iterator[dict[str, Record]]:
    """Rows by the samples' names."""
    with temporary_folder() as name:
        folder = Path(name)
        problems = write_problems(folder, [CPU.problem])
        solutions = write_solutions(folder, [solution_of(case.files) for case in CASES])
        out = folder / "graded.jsonl"
        ended = evaluate(folder, problems, "--solutions", solutions, "--out", out, "--benchmark")
        assert ended.status == 0, ended.stderr
        yield {case.name: row for case, row in zip(CASES, rows_of(out), strict=True)}


def flags_of(row: Record, case: Case) -> list[dict[str, str]]:
    """The row's flags without those of load that the case does not expect."""
    return [flag for flag in row["podium"]["flags"] if flag["code"] in case.flags or flag["code"] not in OF_LOAD]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_becomes_of_a_sample(rows: dict[str, Record], case: Case) -> None:
    row = rows[case.name]
    flags = [(flag["code"], flag["scope"]) for flag in flags_of(row, case)]
    assert (row["podium"]["verdict"], flags) == (case.verdict, [(code, "time") for code in case.flags])
    assert row["passed"] == (case.verdict == "passed")
    if not case.timed:
        assert (row["solution_time"], row["speedup"]) == (None, None)
        return
    own, _ = row["podium"]["measurements"]
    assert own["witness"] == "seen"
    assert row["solution_time"] > 5 * TIMED_CALLS
    assert row["speedup"] > 0


@pytest.mark.parametrize("name", ["a constructor that leaves", "the context's own header"])
def test_leaving_with_status_0_is_told_as_that(rows: dict[str, Record], name: str) -> None:
    assert "ended with status 0, but not by the end of its main" in rows[name]["podium"]["reason"]


def test_what_a_test_leaves_behind_ends_with_it(rows: dict[str, Record]) -> None:
    row = rows["a process left behind"]
    assert row["test_output"].startswith("left behind: yes, at work: yes\n")
    assert all(step["wall_ms"] < LINGER_SECONDS * 1e3 / 2 for step in row["podium"]["steps"])
    assert list(left_behind(MARK)) == []


def test_a_process_is_found_by_its_mark() -> None:
    mark = f"found-{os.getpid()}"
    sleeping = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]
    up = {"stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(sleeping, **up) as plain, subprocess.Popen([*sleeping, mark], **up) as marked:
        said = [process.stdout.readline() for process in (plain, marked)]
        found = list(left_behind(mark))
        plain.kill()
        marked.kill()
    assert (said, found) == (["up\n"] * 2, [marked.pid])


# ---- what the forged profiles are worth ----------------------------------------------------------------------------


@pytest.fixture
def cupti(monkeypatch: pytest.MonkeyPatch) -> Cupti:
    return reader(monkeypatch)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    return made


def honest_run() -> Observed:
    work = RangeFacts(
        instances=TIMED_CALLS, unclosed=0, wall_ms=8.0, kernel_ms=6.0, launches=TIMED_CALLS, memcpy_ms=0.0,
        memset_ms=0.0, busy_ms=6.0, late_ms=0.0, foreign_launches=0,
    )  # fmt: skip
    facts = ProfileFacts(
        processes=1, unfinished=0, dropped_records=0, kernel_ms=7.0, launches=TIMED_CALLS + 3, memcpy_ms=9.0,
        memset_ms=0.1, busy_ms=16.0, outside_ms=1.0, outside_launches=3, kernels={"walk_words": TIMED_CALLS + 3},
        ranges={"bench_region": work},
    )  # fmt: skip
    return Observed(6.0, 500.0, facts)


def check_believed(cupti: Cupti, notes: Path) -> None:
    """As the time of a whole run in which nothing was odd. Else the samples would try nothing."""
    reading = cupti.read(shell_problem(timing_mode=REGION), notes, ran(wall_ms=500.0))
    assert (reading.time_ms, reading.error) == (FORGED_MS, None)
    assert findings(RegionTimingMode(**REGION), Observed(FORGED_MS, 300.0, reading.facts), honest_run()) == []


def run(shell: str, folder: Path, **environment: object) -> None:
    told = {name: str(value) for name, value in environment.items()}
    subprocess.run(["sh", "-c", shell], cwd=folder, env={**os.environ, **told}, check=True, timeout=60)


@pytest.mark.parametrize("name", ["a profile and _exit", "a profile and quick_exit"])
def test_a_forged_profile_would_be_believed_but_for_the_witness(
    tmp_path: Path, notes: Path, cupti: Cupti, name: str
) -> None:
    files = next(case.files for case in CASES if case.name == name)
    for path, content in {**CPU.context, **CPU.tests, **files}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
    run(CPU.build_command, tmp_path)
    run("./test.out --perf", tmp_path, PODIUM_CUPTI_NOTES=notes)
    check_believed(cupti, notes)


@requires("nvcc")
def test_it_even_takes_the_place_of_what_the_recorder_wrote(tmp_path: Path, notes: Path, cupti: Cupti) -> None:
    """The recorder over a stand-in for CUPTI, in a program of which the end alone matters."""
    library = library_over_stand_in(tmp_path)
    (tmp_path / "forge.cpp").write_text(filled(FORGE + LEFT_LATER))
    includes = " ".join(f"-I{path}" for path in find_toolkit().includes)
    run(f"g++ -std=c++17 {includes} -o program forge.cpp {shlex.quote(str(LIFE_PROGRAM))} -ldl", tmp_path)
    injected = dict.fromkeys(["CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"], library.path)
    run("./program quick_exit --perf", tmp_path, **injected, PODIUM_CUPTI_NOTES=notes)
    check_believed(cupti, notes)
