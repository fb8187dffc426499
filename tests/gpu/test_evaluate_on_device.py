"""Conformance cases 26 and 28 on a real GPU, by `podium evaluate --profile cupti`. Needs neither Django nor a plugin.

One run of the command grades all samples before the first test. Without a GPU all of it is skipped. By hand, with the
values that were measured:
python -m pytest -c /dev/null --rootdir=. --noconftest -q -s tests/gpu/test_evaluate_on_device.py
"""

# ruff: noqa: T201 - with -s the tests print the values that they measure

import importlib.util
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from problems.formats.compute_eval.packs import write_problem_pack
from runners.agent.profilers import cupti_library
from runners.agent.sandbox.bubblewrap import why_unavailable
from tests.agent.machine import temporary_folder
from tests.evaluate.adversarial import (
    FORGED_MS,
    LINGER_SECONDS,
    TIMED_CALLS,
    Case,
    Platform,
    Record,
    cases,
    left_behind,
    solution_of,
)
from tests.evaluate.packs_on_disk import command, rows_of
from tests.packs import problem_pack, solution_pack

DEVICE_H = """\
#pragma once
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr std::size_t PERF_WORDS = 1 << 20;
constexpr std::uint32_t PERF_STEPS = 4096;

inline void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\\n", cudaGetErrorString(error));
    std::exit(2);
}

class Words {
  public:
    explicit Words(std::size_t n) : bytes_(n * sizeof(std::uint32_t)) {
        check(cudaMalloc(&data_, bytes_));
        check(cudaMemset(data_, 0xff, bytes_));
    }
    Words(const Words&) = delete;
    ~Words() { cudaFree(data_); }
    std::uint32_t* data() { return data_; }
    void upload(const std::vector<std::uint32_t>& words) {
        check(cudaMemcpy(data_, words.data(), bytes_, cudaMemcpyHostToDevice));
    }
    void download(std::vector<std::uint32_t>& words) const {
        check(cudaMemcpy(words.data(), data_, bytes_, cudaMemcpyDeviceToHost));
    }

  private:
    std::uint32_t* data_ = nullptr;
    std::size_t bytes_;
};

inline void enter_range() { nvtxRangePushA("bench_region"); }
inline void finish() {
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
}
inline void leave_range() { nvtxRangePop(); }
"""
WALK_CU = """\
#include "walk.h"
@BEFORE@
__global__ void walk_words(const std::uint32_t* in, std::uint32_t* out, std::size_t n, std::uint32_t steps,
                           std::uint32_t a, std::uint32_t c) {
    const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    if (i >= n) return;
    std::uint32_t x = in[i];
    for (std::uint32_t step = 0; step < steps; ++step) x = a * x + c;
    out[i] = x;
}

void walk(const std::uint32_t* in, std::uint32_t* out, std::size_t n, std::uint32_t steps, std::uint32_t a,
          std::uint32_t c) {
    @FIRST@
    walk_words<<<static_cast<unsigned>((n + 255) / 256), 256>>>(in, out, n, steps, a, c);
}
"""
RELEASE = "internal"
RECORD = {
    "type": "cuda_cpp",
    "group": "cuda-kernels",
    "metadata": {"difficulty": "easy", "tags": [], "releases": [RELEASE], "do_not_release": False},
    "timing_mode": {"type": "region", "include": ["bench_region"], "time_type": "kernel"},
    "min_cuda_toolkit": "12.0",
    "compute_capability": "8.0",
    "timeout_seconds": 120.0,
}
GPU = Platform("cu", "nvcc -O3", DEVICE_H, WALK_CU, RECORD)
MARK = f"left-behind-{os.getpid()}"
CASES = cases(GPU, MARK)
N_BASELINES = 3
LIMIT_SECONDS = 300.0


def missing() -> str:
    """Words on the first thing that is missing; "" where all is there."""
    if not _has_gpu():
        return "needs an NVIDIA GPU"
    if shutil.which("nvcc") is None:
        return "needs nvcc"
    if why_unavailable():
        return "needs bubblewrap"
    lacking = [name for name in ("docker", "pynvml") if importlib.util.find_spec(name) is None]
    return f"needs podium[node]; cannot import {', '.join(lacking)}" if lacking else cupti_library.why_unavailable()


def _has_gpu() -> bool:
    if shutil.which("nvidia-smi") is None:
        return False
    done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False, timeout=60)
    return done.returncode == 0 and "UUID" in done.stdout


COMPLAINT = missing()
pytestmark = pytest.mark.skipif(bool(COMPLAINT), reason=COMPLAINT)


@dataclass(frozen=True)
class Graded:
    """One pack's rows, in the order of its samples, and its summary."""

    rows: list[Record]
    summary: Record


@dataclass(frozen=True)
class Evaluated:
    baselines: Graded
    tricks: Graded

    def row(self, name: str) -> Record:
        return self.tricks.rows[[case.name for case in CASES].index(name)]


@pytest.fixture(scope="module")
def evaluated() -> Iterator[Evaluated]:
    with temporary_folder() as name:
        folder = Path(name)
        begun = time.monotonic()
        done = evaluate(folder, "--profile", "cupti")
        print(f"\n{done.stderr}podium evaluate took {time.monotonic() - begun:.1f} s")
        assert done.returncode == 0, done.stderr
        made = read(folder, done.stdout)
        for graded in (made.baselines, made.tricks):
            print(*map(line_of, graded.rows), sep="\n")
        yield made


def evaluate(folder: Path, *rest: str) -> "subprocess.CompletedProcess[str]":
    """`podium evaluate` on both packs; rows and builds are left in `folder`."""
    pack = problem_pack([GPU.problem], RELEASE, profile="compute-eval")
    write_problem_pack(folder / f"{RELEASE}-problems.tar.gz", pack.metadata_bytes, pack.jsonl_bytes)
    packs = [
        write_solutions(folder / f"{RELEASE}-baselines-solutions.tar.gz", [GPU.solution()] * N_BASELINES),
        write_solutions(folder / f"{RELEASE}-tricks-solutions.tar.gz", [case.files for case in CASES]),
    ]
    words = command("evaluate", "--problems", folder / f"{RELEASE}-problems.tar.gz", "--solutions", *packs)
    words += ["--out-dir", str(folder), "--sandbox", "bubblewrap", *rest]
    environment = {**os.environ, "PODIUM_VAR_DIR": str(folder / "var")}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS)


def write_solutions(path: Path, samples: Sequence[dict[str, str]]) -> Path:
    path.write_bytes(solution_pack(list(map(solution_of, samples)), RELEASE).read())
    return path


def read(folder: Path, stdout: str) -> Evaluated:
    """Both packs' rows and summaries, which stand one after the other."""
    decoder, graded = json.JSONDecoder(), []
    for name in ("baselines", "tricks"):
        summary, end = decoder.raw_decode(stdout)
        stdout = stdout[end:].lstrip()
        graded.append(Graded(rows_of(folder / f"{RELEASE}-{name}-graded-solutions.jsonl"), summary))
    return Evaluated(*graded)


def line_of(row: Record) -> str:
    podium = row["podium"]
    seconds = ", ".join(f"{step['name']} {step['wall_ms'] / 1e3:.1f} s" for step in podium["steps"])
    times = f"time {row['solution_time']} ms, baseline {row['baseline_time']} ms, speedup {row['speedup']}"
    return f"{podium['verdict']} {flags_of(row)} | {times} | {seconds} | {podium['reason']}"


def flags_of(row: Record) -> list[str]:
    return [flag["code"] for flag in row["podium"]["flags"]]


# ---- row 28 --------------------------------------------------------------------------------------------------------


def test_a_pack_of_the_baseline_passes_whole(evaluated: Evaluated) -> None:
    assert evaluated.baselines.summary["pass_at_k"] == {"skipped": 0.0, "pass@1": 1.0}
    assert [row["podium"]["verdict"] for row in evaluated.baselines.rows] == ["passed"] * N_BASELINES
    assert {row["podium"]["witness"] for row in evaluated.baselines.rows} == {"seen"}
    assert not any("warning" in row["build_output"] for row in evaluated.baselines.rows)


def test_the_baseline_is_as_fast_as_itself(evaluated: Evaluated) -> None:
    """The same files make the same build, so sample and baseline run the very same program, under the same profiler.

    What differs: each sample has a process of its own and all share one process of the baseline's, at another moment
    and maybe beside the starts of others, so with another temperature and clock of the device.
    """
    for row in evaluated.baselines.rows:
        own, base = row["podium"]["measurements"]
        assert flags_of(row) == []
        assert (own["role"], own["clock"], own["witness"]) == ("candidate", "in_process", "seen")
        assert (base["role"], base["clock"], base["witness"]) == ("baseline", "in_process", "seen")
        assert row["solution_time"] > 1.0, "too short to say anything"
        assert row["speedup"] == pytest.approx(1.0, rel=0.05)


# ---- row 26 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_becomes_of_a_sample(evaluated: Evaluated, case: Case) -> None:
    row = evaluated.row(case.name)
    scopes = {flag["scope"] for flag in row["podium"]["flags"]}
    assert (row["podium"]["verdict"], tuple(flags_of(row))) == (case.verdict, case.flags), line_of(row)
    assert scopes <= {"time"}
    assert row["passed"] == (case.verdict == "passed")
    assert (row["speedup"] is not None, row["solution_time"] is not None) == (case.timed, case.timed)


def test_an_honest_sample_gets_the_speedup_that_it_earned(evaluated: Evaluated) -> None:
    assert 1.5 < evaluated.row("half the steps")["speedup"] < 2.5


@pytest.mark.parametrize("name", ["another program", "a printed time", "a process left behind"])
def test_a_trick_beside_the_baselines_own_code_earns_nothing(evaluated: Evaluated, name: str) -> None:
    row = evaluated.row(name)
    own, _ = row["podium"]["measurements"]
    assert (own["clock"], own["witness"]) == ("in_process", "seen")
    assert row["speedup"] == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize("name", ["a constructor that leaves", "the context's own header"])
def test_leaving_with_status_0_is_told_as_that(evaluated: Evaluated, name: str) -> None:
    assert "ended with status 0, but not by the end of its main" in evaluated.row(name)["podium"]["reason"]


@pytest.mark.parametrize("name", ["a profile and _exit", "a profile and quick_exit"])
def test_a_forged_profile_is_read_and_earns_nothing(evaluated: Evaluated, name: str) -> None:
    """It is as the profiler's own, down to the name of its file: the witness alone tells that no harness ended."""
    row = evaluated.row(name)
    (own,) = row["podium"]["measurements"]
    assert (own["role"], own["median_ms"], own["witness"]) == ("candidate", FORGED_MS, "contradicted")
    assert row["solution_metrics"]["summary"]["total_kernel_invocations"] == TIMED_CALLS


def test_only_printing_a_time_fails_the_benchmarks_own_check(evaluated: Evaluated) -> None:
    printed = evaluated.row("a printed time alone")["benchmark_output"]
    assert printed.startswith("Benchmark failed. Exit code 1")
    assert "word 0 is 4294967295" in printed


def test_what_a_test_leaves_behind_ends_with_it(evaluated: Evaluated) -> None:
    """`-s` shows whether it reached the device within the five seconds that the test waits for it."""
    row = evaluated.row("a process left behind")
    print(f"\n{row['test_output']}")
    assert row["test_output"].startswith("left behind: yes")
    assert all(step["wall_ms"] < LINGER_SECONDS * 1e3 / 2 for step in row["podium"]["steps"])
    assert list(left_behind(MARK)) == []


def test_no_sample_of_the_pack_outdoes_the_honest_one(evaluated: Evaluated) -> None:
    summary = evaluated.tricks.summary
    n_passed = sum(case.verdict == "passed" for case in CASES)
    assert summary["pass_at_k"]["pass@1"] == pytest.approx(n_passed / len(CASES))
    assert summary["baseline_comparison"]["max_speedup"] == evaluated.row("half the steps")["speedup"]
