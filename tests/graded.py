"""Graded rows as `podium evaluate` writes them on a GPU, made up here: no GPU is at hand."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from problems.models import Problem, Release
from problems.spec.digests import grading_digest
from problems.spec.kinds import Kind
from runners.wire.protocol import JUDGE_VERSIONS, Clock, MeasurementReport, Peaks, Provenance, Role, StepReport, Witness
from tests import packs

H200 = "NVIDIA H200"
PEAKS = Peaks(gbps=4000.0, gflops={"fp32": 50_000.0, "fp16": 700_000.0}, l2_bytes=50 << 20)
MEASURED = "2026-11-20T10:00:00+00:00"
DEVICE = {"sm_clock_mhz": 1980.0, "temperature_c": 41.0, "power_w": 350.5, "throttle_reasons": ""}


def provenance(**changes: Any) -> Provenance:
    fields: dict[str, Any] = {
        "gpu": H200, "gpu_uuid": "GPU-1", "driver": "580.82.07", "toolkit": "g++ 12.2.0, nvcc 13.0.88",
        "sandbox": "bubblewrap", "profiler": "cupti 13.0", "arch": "sm_90", "peaks": PEAKS,
        "started_at": MEASURED, "finished_at": MEASURED, "judge_version": JUDGE_VERSIONS[Kind.COMMAND],
    }  # fmt: skip
    return Provenance(**(fields | changes))


def measurement(role: Role, median_ms: float, **changes: Any) -> MeasurementReport:
    fields: dict[str, Any] = {
        "role": role, "median_ms": median_ms, "ci_low_ms": median_ms * 0.99, "ci_high_ms": median_ms * 1.01,
        "runs_ms": [median_ms * factor for factor in (0.99, 1.0, 1.0, 1.0, 1.0, 1.01)],
        "clock": Clock.IN_PROCESS, "work_checked": True, "witness": Witness.SEEN, "measured_at": MEASURED,
        "device": DEVICE,
    }  # fmt: skip
    return MeasurementReport(**(fields | changes))


def row(
    problem: Problem, index: int = 0, verdict: str = "passed", time_ms: float = 2.0, **podium: Any
) -> dict[str, Any]:
    """A whole row; a pass is timed against a baseline of 8 ms that all rows share."""
    spec = problem.spec
    passed = verdict == "passed"
    times = [
        measurement(Role.BASELINE, 8.0, shared=True, key="fingerprint@here@1"),
        measurement(Role.CANDIDATE, time_ms),
    ]
    ours: dict[str, Any] = {
        "verdict": verdict,
        "reason": "" if passed else "first failure words",
        "flags": [],
        "measurements": [one.model_dump(mode="json") for one in times] if passed else [],
        "witness": "seen" if passed else "unavailable",
        "provenance": provenance().model_dump(mode="json"),
        "steps": [StepReport(name="test", exit_code=int(not passed), wall_ms=900.0).model_dump(mode="json")],
        "sample": index,
        "inputs": "0" * 64,
        "record_md5": problem.record_md5,
        "grading_digest": grading_digest(spec, spec.podium.build_only),
    }
    return {
        **compute_evals_row(problem, f"exit 0 # sample {index}", passed=passed, time_ms=time_ms),
        "skipped": verdict == "skipped",
        "podium": ours | podium,
    }


def compute_evals_row(problem: Problem, script: str, *, passed: bool = True, time_ms: float = 2.0) -> dict[str, Any]:
    """A row as ComputeEval itself writes it: no `podium` key."""
    return {
        "task_id": problem.task_id,
        "passed": passed,
        "skipped": False,
        "solution": packs.solution(problem.task_id, script) | {"datapack_name": "one"},
        "problem": json.loads(bytes(problem.record)),
        "build_output": "built",
        "test_output": "held-out words",
        "benchmark_output": None,
        "solution_metrics": None,
        "solution_time": time_ms if passed else None,
        "baseline_metrics": None,
        "baseline_time": 8.0 if passed else None,
        "speedup": 8.0 / time_ms if passed else None,
    }


def rows(made: Release, n_samples: int = 2, **more: Any) -> list[dict[str, Any]]:
    return [row(one, index, **more) for one in made.problems.order_by("position") for index in range(n_samples)]


def write(path: Path, graded: Iterable[dict[str, Any]]) -> Path:
    content = b"".join(json.dumps(one).encode() + b"\n" for one in graded)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path
