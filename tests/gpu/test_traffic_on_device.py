"""The counted writes of samples on a real GPU, by `podium evaluate --profile cupti --timing ranked`. Needs no plugin.

Two attacks, two honest twins and the reference, on a problem that declares nothing and one that declares its outputs.
Without a GPU or Nsight Compute all of it is skipped. By hand, with the values that were counted:
python -m pytest -c /dev/null --rootdir=. --noconftest -q -s tests/gpu/test_traffic_on_device.py
"""

# ruff: noqa: T201 - with -s the tests print the values that they measure

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from problems.formats.compute_eval.packs import write_problem_pack
from runners.agent.devices.gpus import profiling_admin_only
from runners.agent.ground.errors import ProfilerUnavailable
from runners.agent.profilers import require_profiler
from runners.wire.protocol import Profiler
from tests.agent.machine import temporary_folder
from tests.evaluate.packs_on_disk import command, rows_of, write_solutions
from tests.gpu.test_evaluate_on_device import DEVICE_H, RECORD, flags_of, missing
from tests.packs import problem, problem_pack, solution

N_WORDS, N_CALLS = 1 << 22, 20
OUTPUT_BYTES = 4 * N_WORDS
LIMIT_SECONDS = 580.0
SCAN_H = """\
#pragma once
#include <cstddef>
#include <cstdint>
void scan(const std::uint32_t* in, std::uint32_t* out, std::size_t n);  // inclusive sums
"""
MAIN_CU = """\
#include "scan.h"
#include "device.h"

constexpr std::size_t N = @N@;
constexpr int CALLS = @CALLS@;

int main(int argc, char**) {
    std::vector<std::uint32_t> words(N), sums(N);
    for (std::size_t i = 0; i < N; ++i) words[i] = static_cast<std::uint32_t>(i * 2654435761u >> 7);
    Words in(N), out(N);
    in.upload(words);
    @WARM_UP@
    if (argc > 1) {
        enter_range();
        for (int call = 0; call < CALLS; ++call) scan(in.data(), out.data(), N);
        finish();
        leave_range();
    } else {
        scan(in.data(), out.data(), N);
        finish();
    }
    out.download(sums);
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < N; ++i) {
        sum += words[i];
        if (sums[i] != sum) return 1;
    }
    std::puts("all sums are right");
    return 0;
}
"""
NAIVE = """\
#include "scan.h"
__global__ void step(const std::uint32_t* in, std::uint32_t* out, std::size_t n, std::size_t distance) {
    const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    if (i < n) out[i] = in[i] + (i >= distance ? in[i - distance] : 0);
}
void scan(const std::uint32_t* in, std::uint32_t* out, std::size_t n) {
    static std::uint32_t* parts[2] = {};
    if (!parts[0])
        for (auto& part : parts) cudaMalloc(&part, n * sizeof(std::uint32_t));
    const unsigned blocks = (n + 255) / 256;
    int turn = 0;
    for (std::size_t distance = 1; distance < n; distance *= 2, ++turn) {
        std::uint32_t* to = 2 * distance < n ? parts[turn % 2] : out;
        step<<<blocks, 256>>>(turn ? parts[(turn + 1) % 2] : in, to, n, distance);
    }
}
"""
LIBRARY = """\
#include "scan.h"
#include <cub/cub.cuh>
void scan(const std::uint32_t* in, std::uint32_t* out, std::size_t n) {
    static void* room = nullptr;
    static std::size_t size = 0;
    if (!room) {
        cub::DeviceScan::InclusiveSum(nullptr, size, in, out, n);
        cudaMalloc(&room, size);
    }
    cub::DeviceScan::InclusiveSum(room, size, in, out, n);
}
"""
TEMPLATE = """\
#include "scan.h"
__device__ const void* done;
__global__ void remember(const void* out) { done = out; }
constexpr unsigned THREADS = 256, EACH = 16, TILE = THREADS * EACH;

__device__ std::uint32_t before(std::uint32_t own, std::uint32_t* shared) {
    const unsigned me = threadIdx.x;
    shared[me] = own;
    __syncthreads();
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
        const std::uint32_t left = me >= distance ? shared[me - distance] : 0;
        __syncthreads();
        shared[me] += left;
        __syncthreads();
    }
    return shared[me] - own;
}
__global__ void total(const std::uint32_t* in, const std::uint32_t* out, std::uint32_t* totals, std::size_t n) {
    @IF_NEW@
    __shared__ std::uint32_t shared[THREADS];
    std::uint32_t sum = 0;
    for (unsigned k = 0; k < EACH; ++k) {
        const std::size_t i = std::size_t{blockIdx.x} * TILE + k * THREADS + threadIdx.x;
        if (i < n) sum += in[i];
    }
    const std::uint32_t left = before(sum, shared);
    if (threadIdx.x == THREADS - 1) totals[blockIdx.x] = left + sum;
}
__global__ void offsets(std::uint32_t* totals, unsigned n) {
    __shared__ std::uint32_t shared[1024];
    std::uint32_t carry = 0;
    for (unsigned from = 0; from < n; from += 1024) {
        const unsigned i = from + threadIdx.x;
        const std::uint32_t own = i < n ? totals[i] : 0;
        const std::uint32_t left = before(own, shared);
        if (i < n) totals[i] = carry + left;
        carry += shared[1023];
        __syncthreads();
    }
}
__global__ void write(const std::uint32_t* in, std::uint32_t* out, const std::uint32_t* starts, std::size_t n) {
    @IF_NEW@
    __shared__ std::uint32_t shared[THREADS];
    std::uint32_t carry = starts[blockIdx.x];
    for (unsigned k = 0; k < EACH; ++k) {
        const std::size_t i = std::size_t{blockIdx.x} * TILE + k * THREADS + threadIdx.x;
        const std::uint32_t own = i < n ? in[i] : 0;
        const std::uint32_t left = before(own, shared);
        if (i < n) out[i] = carry + left + own;
        carry += shared[THREADS - 1];
        __syncthreads();
    }
}
void scan(const std::uint32_t* in, std::uint32_t* out, std::size_t n) {
    static std::uint32_t* starts = nullptr;
    const unsigned tiles = (n + TILE - 1) / TILE;
    if (!starts) cudaMalloc(&starts, tiles * sizeof(std::uint32_t));
    total<<<tiles, THREADS>>>(in, out, starts, n);
    offsets<<<1, 1024>>>(starts, tiles);
    write<<<tiles, THREADS>>>(in, out, starts, n);
    @AFTER@
}
"""
TUNED = TEMPLATE.replace("@IF_NEW@", "").replace("@AFTER@", "")
WORKS = TUNED.replace("void scan(", "static void work(")
EMPTY_KERNELS = f"""\
{WORKS}
__global__ void nothing() {{}}
void scan(const std::uint32_t* in, std::uint32_t* out, std::size_t n) {{
    static int calls = 0;
    if (calls++ == 0) work(in, out, n);
    else nothing<<<1, 1>>>();
}}
"""
ONLY_ONCE = TEMPLATE.replace("@IF_NEW@", "if (done == out) return;").replace("@AFTER@", "remember<<<1, 1>>>(out);")
"""Its kernels return at once for outputs that they have written before."""
SAMPLES = {
    "the reference": NAIVE,
    "a library call": LIBRARY,
    "a tuned kernel": TUNED,
    "empty kernels": EMPTY_KERNELS,
    "only once": ONLY_ONCE,
}
TWINS, ATTACKS = list(SAMPLES)[:3], list(SAMPLES)[3:]
SHOWN, DECLARED = "test/shown", "test/declared"
TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    SHOWN: ("scan(in.data(), out.data(), N);\n    finish();", {}),
    DECLARED: ("", {"output_bytes": N_CALLS * OUTPUT_BYTES, "bytes": 2 * N_CALLS * OUTPUT_BYTES}),
}


def record(task_id: str) -> dict[str, Any]:
    """The problem: it checks its last call alone, though it says that its timed work is checked."""
    warm_up, podium = TASKS[task_id]
    main = MAIN_CU.replace("@N@", str(N_WORDS)).replace("@CALLS@", str(N_CALLS)).replace("@WARM_UP@", warm_up)
    tests = {"test/main.cu": main, "test/device.h": DEVICE_H}
    fields = {name: value for name, value in RECORD.items() if name not in ("metadata", "group")}
    return problem(
        task_id,
        podium={"work_checked": True, "build_only": list(tests), **podium},
        context_files=[{"path": "include/scan.h", "content": SCAN_H}],
        test_files=[{"path": path, "content": content} for path, content in tests.items()],
        build_command="nvcc -O3 -std=c++17 -I include -o test.out solution.cu test/main.cu -ldl",
        test_command="./test.out",
        benchmark_command="./test.out --perf",
        baseline_solution=solution(task_id, NAIVE, "solution.cu"),
        **fields,
    )


def why_not() -> str:
    """The reason why these tests cannot run on this machine, or ""."""
    if complaint := missing():
        return complaint
    try:
        require_profiler(Profiler.NCU)
        if profiling_admin_only():
            return "counters are for administrators alone here"
    except ProfilerUnavailable as error:
        return str(error)
    return ""


COMPLAINT = why_not()
pytestmark = pytest.mark.skipif(bool(COMPLAINT), reason=COMPLAINT)

Rows = dict[tuple[str, str], dict[str, Any]]


@pytest.fixture(scope="module")
def rows() -> Iterator[Rows]:
    """The graded row of each sample, by task and name."""
    with temporary_folder() as name:
        folder = Path(name)
        pack = problem_pack([record(task_id) for task_id in TASKS])
        write_problem_pack(folder / "test-1-problems.tar.gz", pack.metadata_bytes, pack.jsonl_bytes)
        keys = [(task_id, sample) for task_id in TASKS for sample in SAMPLES]
        samples = [solution(task_id, SAMPLES[sample], "solution.cu") for task_id, sample in keys]
        solutions = write_solutions(folder, samples)
        words = command("evaluate", "--problems", folder / "test-1-problems.tar.gz", "--solutions", solutions)
        words += ["--out-dir", str(folder), "--sandbox", "bubblewrap", "--profile", "cupti", "--timing", "ranked"]
        environment = {**os.environ, "PODIUM_VAR_DIR": str(folder / "var")}
        done = subprocess.run(
            words, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS
        )
        assert done.returncode == 0, done.stderr
        graded = rows_of(folder / "test-1-one-graded-solutions.jsonl")
        found = {(row["task_id"], list(SAMPLES)[row["podium"]["sample"]]): row for row in graded}
        for key, row in found.items():
            is_timed = any(one["role"] == "candidate" for one in row["podium"]["measurements"])
            print(key, row["podium"]["verdict"], row["podium"]["reason"], flags_of(row), row["solution_time"])
            print(row["speedup"], facts(row) if is_timed else "no time")
        yield found


def facts(row: dict[str, Any], role: str = "candidate") -> dict[str, Any]:
    (device,) = [one["device"] for one in row["podium"]["measurements"] if one["role"] == role]
    return {name: value for name, value in device.items() if name.endswith("_bytes") or name == "writes_checked"}


@pytest.mark.parametrize("task_id", TASKS)
@pytest.mark.parametrize("name", TWINS)
def test_an_honest_twin_is_checked_and_not_flagged(rows: Rows, task_id: str, name: str) -> None:
    row = rows[task_id, name]
    assert (row["podium"]["verdict"], row["podium"]["witness"]) == ("passed", "seen"), row["podium"]["reason"]
    assert flags_of(row) == []
    seen = facts(row)
    assert seen["writes_checked"] == "yes"
    assert seen["l2_written_bytes"] >= N_CALLS * OUTPUT_BYTES


@pytest.mark.parametrize("task_id", TASKS)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_passes_its_test_and_its_time_is_flagged(rows: Rows, task_id: str, name: str) -> None:
    row = rows[task_id, name]
    assert row["podium"]["verdict"] == "passed", row["podium"]["reason"]
    assert "outputs_not_written" in flags_of(row)
    assert {flag["scope"] for flag in row["podium"]["flags"]} == {"time"}


def test_the_naive_reference_moves_many_times_what_it_must(rows: Rows) -> None:
    seen = facts(rows[SHOWN, "the reference"])
    assert seen["l2_written_bytes"] >= 20 * N_CALLS * OUTPUT_BYTES
    assert seen["l2_read_bytes"] >= seen["l2_written_bytes"]
    assert seen["dram_read_bytes"] >= 0


def test_the_copies_around_the_timed_range_are_the_harness_own(rows: Rows) -> None:
    seen = facts(rows[SHOWN, "a library call"])
    assert (seen["uploaded_bytes"], seen["downloaded_bytes"]) == (OUTPUT_BYTES, OUTPUT_BYTES)
    assert facts(rows[DECLARED, "a library call"])["output_bytes"] == N_CALLS * OUTPUT_BYTES
