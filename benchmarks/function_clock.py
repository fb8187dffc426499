"""Compares the times that the judge of functions publishes on a GPU with `do_bench`'s, for thirty kernels.

python -m benchmarks.function_clock --out clock.json
Needs an NVIDIA GPU, nvcc, torch, triton and bubblewrap. Each kernel is timed in a process of its own right before the
judge times it, as `triton.testing.do_bench` does (the median of cold calls), but behind a head start of the device, so
that launches leave both times. `--repeats` judges some kernels anew, to see how far their published times are apart.
Prints a row for each, and what share of them agrees.
"""

import argparse
import ctypes
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.clock_kernels import KERNELS, ClockKernel
from benchmarks.functions_gpu import native_policy
from podium.evaluation.judges import local_judges
from podium.evaluation.run import limits_of
from podium.functions.manifests import ManifestMaker
from problems.formats.functions.pack import read_problem
from problems.spec.function.problem import FunctionProblem
from problems.spec.solution import FileSolution, SourceFile
from runners.agent.job.job import Job
from runners.agent.judges.registry import Judges
from runners.wire.job import JobRules, Sides
from runners.wire.protocol import MeasurementReport, TimingPolicy

AGREE_SHARE, AGREE_MS = 0.01, 0.0005
WIDTH_SHARE, WIDTH_MS = 0.01, 0.001
SPREAD_SHARE, SPREAD_MS = 0.005, 0.001
CALLS, HEAD_START_FILLS = 60, 20
LEAST_MS = 0.02
C_TYPES = {"size_t": ctypes.c_size_t, "int32": ctypes.c_int}
STATEMENT = "---\nslug: {name}\ntitle: Kernel\ntime_limit_seconds: 120\n---\nCompute it.\n"
Solution = Callable[..., None]


@dataclass(frozen=True)
class JudgedTimes:
    """The times that the judge published of one solution, by case."""

    measurements: dict[str, MeasurementReport]
    flags: tuple[str, ...]
    seconds: float


def told_ms(kernel: ClockKernel, language: str) -> list[float]:
    """Times by the device in ms, one a case, from a process that ends: the judge needs the GPU for itself."""
    command = [sys.executable, "-m", "benchmarks.function_clock", "--device-times", kernel.name, language]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    times: list[float] = json.loads(done.stdout.splitlines()[-1])
    return times


def print_device_times(name: str, language: str) -> None:
    kernel = next(one for one in KERNELS if one.name == name)
    with tempfile.TemporaryDirectory() as folder:
        solution = loaded(Path(folder), kernel, language)
        print(json.dumps([device_ms(kernel, case, solution) for case in kernel.cases]))


def loaded(folder: Path, kernel: ClockKernel, language: str) -> Solution:
    """The solution as a function of tensors and numbers, in this process."""
    source = kernel.solutions[language]
    if language == "solution.cu":
        path, library = folder / f"{kernel.name}.cu", folder / f"{kernel.name}.so"
        path.write_text(source)
        build = ["nvcc", "-std=c++17", "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC"]
        subprocess.run([*build, "-o", str(library), str(path)], check=True)
        solution = ctypes.CDLL(str(library)).solution
        types = [C_TYPES[dtype] for _, dtype in kernel.scalars]

        def call(x: Any, y: Any, *scalars: int) -> None:
            pointers = ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr())
            solution(*pointers, *(c_type(value) for c_type, value in zip(types, scalars, strict=True)))

        return call
    path = folder / f"{kernel.name}_{language}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Solution = module.solution
    return found


def device_ms(kernel: ClockKernel, case: dict[str, int], solution: Solution) -> float:
    """The median of cold calls between two events."""
    import torch
    from triton.runtime import driver

    sizes = [case[axis] for axis in kernel.shape]
    x = 0.9 * torch.rand(*sizes, device="cuda")
    y = torch.empty(*[case[axis] for axis in kernel.out.split()], device="cuda")
    scalars = [case[name] for name, _ in kernel.scalars]
    cache = driver.active.get_empty_cache_for_benchmark()
    for _ in range(3):
        solution(x, y, *scalars)
    torch.cuda.synchronize()
    times = []
    for _ in range(CALLS):
        begun, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(HEAD_START_FILLS):
            driver.active.clear_cache(cache)
        begun.record()
        solution(x, y, *scalars)
        ended.record()
        torch.cuda.synchronize()
        times.append(begun.elapsed_time(ended))
    return float(statistics.median(times))


@contextmanager
def problems(folder: Path) -> Iterator[tuple[Judges, dict[str, FunctionProblem]]]:
    with local_judges("bubblewrap", 1, bounded=False) as judges:
        uuids = tuple(gpu.uuid for gpu in judges.environment.capabilities.gpus)
        found: dict[str, FunctionProblem] = {}
        for kernel in KERNELS:
            place = folder / kernel.name
            place.mkdir()
            (place / "def.py").write_text(kernel.definition)
            (place / "problem.md").write_text(STATEMENT.format(name=kernel.name))
            found[kernel.name] = read_problem(place, ManifestMaker(judges.environment.sandbox, uuids[:1]))
        yield judges, found


def judged(
    judges: Judges, problem: FunctionProblem, kernel: ClockKernel, language: str, policy: TimingPolicy
) -> JudgedTimes:
    path = language if language == "solution.cu" else "solution.py"
    files = [SourceFile(path=path, content=kernel.solutions[language])]
    job = Job(
        problem=problem,
        problem_sha256=sha256(problem.to_line()).hexdigest(),
        solution=FileSolution(task_id=problem.task_id, files=files),
        rules=JobRules(limits=limits_of(problem), sides=Sides.SOLUTION, timing_policy=policy),
        build_policy=native_policy(judges),
    )
    began = time.monotonic()
    report = judges.judge(job).report
    if report.reason:
        raise SystemExit(f"{kernel.name} {language}: {report.verdict}: {report.reason}")
    measurements = {one.case: one for one in report.measurements}
    return JudgedTimes(measurements, tuple(flag.code for flag in report.flags), time.monotonic() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="JSON, a row for each kernel")
    parser.add_argument("--device-times", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--timing", choices=[str(one) for one in TimingPolicy], default="ranked")
    parser.add_argument("--only", default="", help="kernels whose name holds this")
    parser.add_argument("--repeats", type=int, default=6, help="judgements of the first language of each problem")
    options = parser.parse_args()
    if options.device_times:
        return print_device_times(*options.device_times)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        with problems(folder) as (judges, read):
            for kernel in KERNELS:
                for language in kernel.solutions:
                    if options.only in f"{kernel.name} {language}":
                        repeats = options.repeats if language == "solution.cu" else 1
                        new = compared(judges, read[kernel.name], kernel, language, options.timing, repeats)
                        rows += new
                        for row in new:
                            print(*(f"{name} {value}" for name, value in row.items()), sep=", ", flush=True)
                        if options.out:
                            options.out.write_text(json.dumps(rows, indent=1) + "\n")
    return tell(rows)


def compared(
    judges: Judges, problem: FunctionProblem, kernel: ClockKernel, language: str, timing: str, repeats: int
) -> list[dict[str, Any]]:
    """A row for each case."""
    before = told_ms(kernel, language)
    seen = [judged(judges, problem, kernel, language, TimingPolicy(timing)) for _ in range(repeats)]
    names = ["-".join(map(str, case.values())) for case in kernel.cases]
    return [row_of(f"{kernel.name} {language} {name}", before[place], name, seen) for place, name in enumerate(names)]


def row_of(kernel: str, ms: float, case: str, seen: list[JudgedTimes]) -> dict[str, Any]:
    row: dict[str, Any] = {"kernel": kernel, "do_bench_ms": round(ms, 5), "seconds": round(seen[-1].seconds, 2)}
    row["flags"] = sorted({flag for one in seen for flag in one.flags})
    published = [one.measurements[case] for one in seen if case in one.measurements]
    if len(published) < len(seen):
        return row
    one = published[0]
    row |= {
        "clock_ms": round(one.median_ms, 6),
        "interval_ms": (one.ci_low_ms, one.ci_high_ms),
        "runs_ms": one.runs_ms,
        "again_ms": [round(later.median_ms, 6) for later in published[1:]],
        "clock_by": one.device.get("clock_by", ""),
        "launch_us": one.device.get("launch_us"),
        "sm_clock_mhz": one.device.get("sm_clock_mhz"),
        "microseconds": round((one.median_ms - ms) * 1e3, 2),
        "share": round(one.median_ms / ms - 1, 4),
    }
    return row


def tell(rows: list[dict[str, Any]]) -> None:
    """How many rows keep within the limits."""
    timed = [row for row in rows if row.get("clock_ms", 0) >= LEAST_MS]
    agree = [row for row in timed if abs(row["clock_ms"] - row["do_bench_ms"]) <= limit(row, AGREE_SHARE, AGREE_MS)]
    ranked = [row for row in timed if row["interval_ms"][0] is not None]
    wide = [row for row in ranked if row["interval_ms"][1] - row["clock_ms"] > limit(row, WIDTH_SHARE, WIDTH_MS)]
    inside = [row for row in timed if min(row["runs_ms"]) <= row["clock_ms"] <= max(row["runs_ms"])]
    again = [row for row in timed if row["again_ms"]]
    apart = [
        row
        for row in again
        if max(row["clock_ms"], *row["again_ms"]) - min(row["clock_ms"], *row["again_ms"])
        > limit(row, SPREAD_SHARE, SPREAD_MS)
    ]
    print(f"{len(agree)} of {len(timed)} within max(1 %, 0.5 µs) of do_bench; {len(rows) - len(timed)} without a time")
    print(f"{len(wide)} of {len(ranked)} intervals wider than max(1 %, 1 µs) to either side")
    print(f"{len(inside)} of {len(timed)} published times lie inside their own runs")
    print(f"{len(apart)} of {len(again)} repeated kernels spread over more than max(0.5 %, 1 µs)")
    print(f"{sum(bool(row['flags']) for row in rows)} of {len(rows)} rows are flagged")


def limit(row: dict[str, Any], share: float, ms: float) -> float:
    return max(ms, share * float(row["do_bench_ms"]))


if __name__ == "__main__":
    main()
