"""Compares the checker's clock with the device time that `triton.testing.do_bench` finds, for kernels of many lengths.

python -m benchmarks.function_clock --out clock.json
Needs an NVIDIA GPU, nvcc, torch, triton and bubblewrap. A case is `steps` fused multiply-adds over 4 Mi elements.
Prints a row for each: milliseconds by do_bench (its caches cleared), by the clock with its 95 % interval, by device
events in the solution's process, and the clock's deviation from the first.
"""

import argparse
import ctypes
import json
import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.functions_gpu import native_policy
from podium.evaluation.judges import local_judges
from podium.evaluation.run import limits_of
from podium.functions.manifests import ManifestMaker
from problems.formats.functions.pack import read_problem
from problems.spec.function.problem import FunctionProblem
from problems.spec.solution import FileSolution, SourceFile
from runners.agent.judges.judgement import Assignment
from runners.wire.protocol import MeasurementReport, TimingPolicy

ELEMENTS = 1 << 22
STEPS = (16, 256, 1024, 2048, 4096, 8192, 16384, 65536, 131072, 349525)
DEFINITION = f"""\
import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class Chain(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float32", "in", ("n",)), Array("y", "float32", "out", ("n",)), Scalar("n", "size_t"),
        Scalar("steps", "int32"),
    )
    accuracy = Tolerance(rtol=1e-3, atol=1e-3, reason="a sum that converges")
    cases = tuple(Case(str(steps), n={ELEMENTS}, steps=steps) for steps in {STEPS})

    def inputs(self, case, rng):
        return {{"x": 0.9 * torch.rand(case.n, generator=rng, device=self.device)}}

    def reference(self, case, x):
        for _ in range(4):  # it must work for as long as a timed case lasts at least
            wide = x.double()
            y = 0.5 * (1 - wide**case.steps) / (1 - wide)
        return y.float()
"""
SOLUTION = """\
#include <cstddef>
__global__ void chain(const float* x, float* y, size_t n, int steps) {
    const size_t i = blockIdx.x * 256ull + threadIdx.x;
    if (i >= n) return;
    float v = 0;
    for (int step = 0; step < steps; ++step) v = v * x[i] + 0.5f;
    y[i] = v;
}
extern "C" void solution(const float* x, float* y, size_t n, int steps) {
    chain<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, y, n, steps);
}
"""
STATEMENT = "---\nslug: chain\ntitle: Chain\ntime_limit_seconds: 300\n---\nCompute it.\n"


def device_times_ms(folder: Path) -> list[float]:
    """By do_bench, a median for each of `STEPS`, in this process."""
    import torch
    from triton.testing import do_bench

    source, library = folder / "solution.cu", folder / "solution.so"
    source.write_text(SOLUTION)
    build = ["nvcc", "-std=c++17", "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC"]
    subprocess.run([*build, "-o", str(library), str(source)], check=True)
    solution = ctypes.CDLL(str(library)).solution
    x, y = torch.rand(ELEMENTS, device="cuda"), torch.empty(ELEMENTS, device="cuda")

    def call(steps: int) -> None:
        pointers = ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr())
        solution(*pointers, ctypes.c_size_t(ELEMENTS), ctypes.c_int(steps))

    def timed(steps: int) -> float:
        return float(do_bench(lambda: call(steps), warmup=50, rep=300, return_mode="median"))

    return [timed(steps) for steps in STEPS]


def clocked(folder: Path, policy: TimingPolicy) -> dict[str, MeasurementReport]:
    """By the judge, a measurement for each case that lasts long enough to have a time."""
    (folder / "def.py").write_text(DEFINITION)
    (folder / "problem.md").write_text(STATEMENT)
    with local_judges("bubblewrap", 1, bounded=False) as judges:
        uuids = tuple(gpu.uuid for gpu in judges.environment.capabilities.gpus)
        problem: FunctionProblem = read_problem(folder, ManifestMaker(judges.environment.sandbox, uuids[:1]))
        files = [SourceFile(path="solution.cu", content=SOLUTION)]
        assignment = Assignment(
            problem=problem,
            problem_sha256=sha256(problem.to_line()).hexdigest(),
            solution=FileSolution(task_id=problem.task_id, files=files),
            limits=limits_of(problem),
            needs_baseline=False,
            timing_policy=policy,
            build_policy=native_policy(judges),
        )
        report = judges.judge(assignment).report
    if report.reason:
        raise SystemExit(f"{report.verdict}: {report.reason}")
    return {one.case: one for one in report.measurements}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="JSON, a row for each case")
    parser.add_argument("--timing", choices=[str(one) for one in TimingPolicy], default="ranked")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        clock, device_ms = clocked(folder, TimingPolicy(options.timing)), device_times_ms(folder)
    rows = [_row(steps, ms, clock.get(str(steps))) for steps, ms in zip(STEPS, device_ms, strict=True)]
    options.out.write_text(json.dumps(rows, indent=1) + "\n")
    for row in rows:
        print(*(f"{name} {value}" for name, value in row.items()), sep=", ")


def _row(steps: int, device_ms: float, one: MeasurementReport | None) -> dict[str, Any]:
    row: dict[str, Any] = {"steps": steps, "do_bench_ms": round(device_ms, 5)}
    if one is None:
        return row
    interval = (one.ci_low_ms, one.ci_high_ms)
    return row | {
        "clock_ms": one.median_ms,
        "interval_ms": interval,
        "runs_ms": one.runs_ms,
        "events_ms": one.device.get("device_events_ms"),
        "go_to_done_us": one.device["go_to_done_us"],
        "call_overhead_us": one.device["call_overhead_us"],
        "share": round(one.median_ms / device_ms - 1, 4),
        "microseconds": round((one.median_ms - device_ms) * 1e3, 2),
    }


if __name__ == "__main__":
    main()
