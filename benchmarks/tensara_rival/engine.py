"""Tensara's side: one submission in a process of its own, and the row that its events make."""

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.tensara_rival.solutions import Solution

ROOT = Path(__file__).resolve().parents[2]
FINISHED = "BENCHMARKED"
SUBMISSION_LIMIT_S = 420
"""The engine ends a check after 100 s and a benchmark only if it says nothing for 60 s."""
ENGINE_ENVIRONMENT = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
"""Environment variables that the engine's own machines set."""
TRACE_CHARACTERS = 1500


@dataclass(frozen=True)
class TensaraEngine:
    """A checkout of the engine's repository."""

    checkout: Path
    problems: Path
    gpu: str
    limit_s: float = SUBMISSION_LIMIT_S

    def row(self, solution: Solution, repeat: int) -> dict[str, Any]:
        """Send the solution in. A fault of the engine is a row with the verdict `fault`."""
        with tempfile.TemporaryDirectory(prefix="tensara-rival-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            file = folder / f"solution{solution.path.suffix}"
            file.write_text(solution.content(repeat))
            began = time.monotonic()
            fault = self._run(folder, self._command(solution, file, folder / "events.jsonl"))
            events = read_events(folder / "events.jsonl")
            return row_of(events, fault) | {"whole_seconds": round(time.monotonic() - began, 2)}

    def _command(self, solution: Solution, file: Path, events: Path) -> list[str]:
        definition = self.problems / solution.problem / "def.py"
        return [
            sys.executable, "-m", "benchmarks.tensara_rival.drive", "--gpu", self.gpu, "--events", str(events),
            "--definition", str(definition), "--slug", solution.problem, "--solution", str(file),
        ]  # fmt: skip

    def _run(self, folder: Path, command: list[str]) -> str:
        """Runs the command and returns the reason why it did not end well, or "". Whatever the engine started ends
        with it."""
        own = {
            "PYTHONPATH": os.pathsep.join([str(self.checkout / "engine"), str(ROOT)]),
            "TMPDIR": str(folder),
            "TRITON_CACHE_DIR": str(folder / "triton"),
        }
        with (folder / "log").open("w+") as log:
            process = subprocess.Popen(
                command, env=os.environ | ENGINE_ENVIRONMENT | own, stdout=log, stderr=log, start_new_session=True
            )
            try:
                code = process.wait(self.limit_s)
                fault = f"exit status {code}" if code else ""
            except subprocess.TimeoutExpired:
                fault = f"no end within {self.limit_s:g} s"
            finally:
                _end_group(process)
            return f"{fault}: {(folder / 'log').read_text(errors='replace')[-TRACE_CHARACTERS:]}" if fault else ""


def _end_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def read_events(path: Path) -> list[dict[str, Any]]:
    """The lines that the driver wrote; a line that was cut off when its process died is left out."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def row_of(lines: Sequence[dict[str, Any]], fault: str = "") -> dict[str, Any]:
    """The row of one submission. `credited`: the site would list it, because the benchmark ended."""
    said = [line for line in lines if line["phase"] in ("checker", "benchmark")]
    nothing: dict[str, Any] = {"phase": "", "event": {}}
    last = said[-1] if said else nothing
    status = last["event"].get("status", "")
    is_credited = not fault and last["phase"] == "benchmark" and status == FINISHED
    results = [line["event"]["result"] for line in said if line["event"].get("status") == "BENCHMARK_RESULT"]
    return {
        "verdict": "fault" if fault or not status else status,
        "phase": last["phase"],
        "credited": is_credited,
        "reason": fault or ("" if is_credited else _reason(last["event"])),
        "seconds": round(lines[-1]["at_s"], 2) if lines and not fault else None,
        "phase_seconds": _phase_seconds(said),
        "ms": {one["name"]: one["runtime_ms"] for one in results},
        "runs_ms": {one["name"]: [run["runtime_ms"] for run in one.get("runs", [])] for one in results},
        "published_ms": last["event"].get("avg_runtime_ms") if is_credited else None,
        "sm_clock_mhz": {one["name"]: clock for one in results if (clock := _clock(one)) is not None},
    }


def _reason(event: dict[str, Any]) -> str:
    parts = [event.get(key, "") for key in ("message", "details", "debug_info")]
    return " ".join(str(part) for part in parts if part)[-TRACE_CHARACTERS:]


def _phase_seconds(said: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Seconds by phase, the build of the solution included."""
    ends = {line["phase"]: line["at_s"] for line in said}
    check_s = ends.get("checker", 0.0)
    return {phase: round(at_s if phase == "checker" else at_s - check_s, 2) for phase, at_s in ends.items()}


def _clock(result: dict[str, Any]) -> float | None:
    """The mean of the clocks that the engine saw during the runs of a case."""
    samples = [sample["sm_clock_mhz"] for run in result.get("runs", []) for sample in run.get("gpu_samples", [])]
    return statistics.mean(samples) if samples else None
