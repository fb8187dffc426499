"""Rows as evaluators write them and events as `podium evaluate --events` writes them, as far as the benchmarks look."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def row(task_id: str, ms: float | None = None, baseline_ms: float | None = None, **changes: Any) -> dict[str, Any]:
    speedup = baseline_ms / ms if ms and baseline_ms else None
    times = {"solution_time": ms, "baseline_time": baseline_ms, "speedup": speedup}
    return {"task_id": task_id, "passed": True, "skipped": False, **times, **changes}


def ran(step: str, task_id: str, began_s: float, ended_s: float, *, is_reference: bool = False) -> dict[str, Any]:
    times = {"began_ns": int(began_s * 1e9), "ended_ns": int(ended_s * 1e9)}
    return {"event": "CommandRan", "step": step, "task_id": task_id, "is_reference": is_reference, **times}


def turn(change: str, task_id: str, at_s: float, *, alone: bool = True, is_reference: bool = False) -> dict[str, Any]:
    who = {"task_id": task_id, "is_reference": is_reference, "alone": alone}
    return {"event": "TurnChanged", **who, "change": change, "at_ns": int(at_s * 1e9)}


def write_lines(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
