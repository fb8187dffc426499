"""Rows as evaluators write them, with as much as comparing them needs."""

from typing import Any


def row(task_id: str, ms: float | None = None, baseline_ms: float | None = None, **changes: Any) -> dict[str, Any]:
    speedup = baseline_ms / ms if ms and baseline_ms else None
    times = {"solution_time": ms, "baseline_time": baseline_ms, "speedup": speedup}
    return {"task_id": task_id, "passed": True, "skipped": False, **times, **changes}


def podium(key: str = "", flags: tuple[str, ...] = (), **provenance: Any) -> dict[str, Any]:
    """What Podium adds to a row."""
    measurements = [{"role": "candidate", "key": ""}, {"role": "baseline", "key": key}]
    return {"measurements": measurements, "flags": [{"code": code} for code in flags], "provenance": provenance}
