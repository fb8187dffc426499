"""Calls functions in processes of their own, one after another: `python -m many jobs.json`.

A job names a function as `module:name` and its arguments. Modules named in `warm` are imported before the first fork.
Each result is one line of JSON on standard output: {"job": 0, "result": …} or {"job": 0, "fault": "…"}.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any

MOST_BYTES = 4 << 20


def call(job: dict[str, Any]) -> Any:
    """Import and call the job's function."""
    module, _, name = job["call"].partition(":")
    return getattr(importlib.import_module(module), name)(*job["arguments"], **job.get("named", {}))


def run(job: dict[str, Any], seconds: float, hidden: int) -> dict[str, Any]:
    """Call in a process of its own, which ends with the call. `hidden` is closed there."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.close(hidden)
        _answer(job, writing)
    os.close(writing)
    try:
        return _read(reading, time.monotonic() + seconds, seconds)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _answer(job: dict[str, Any], writing: int) -> None:
    try:
        found: dict[str, Any] = {"result": call(job)}
    except BaseException as error:  # noqa: BLE001 - a set's file may raise anything
        found = {"fault": f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"}
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(json.dumps(found).encode())
    os._exit(0)


def _read(reading: int, until: float, seconds: float) -> dict[str, Any]:
    data = b""
    while True:
        ready = select.select([reading], [], [], max(0.0, until - time.monotonic()))[0]
        if not ready:
            return {"fault": f"took longer than {seconds:g} s"}
        chunk = os.read(reading, 1 << 16)
        data += chunk
        if len(data) > MOST_BYTES:
            return {"fault": "gave a result of more than 4 MiB"}
        if not chunk:
            break
    try:
        found = json.loads(data)
    except ValueError:
        return {"fault": "ended without a result: it was killed, or ended itself"}
    return found if isinstance(found, dict) else {"fault": "gave no result"}


def main(path: str) -> None:
    """Run the jobs of a file: {"warm": […], "seconds": 60, "jobs": […]}."""
    asked = json.loads(Path(path).read_text(encoding="utf-8"))
    # What the set's files print must not mix with the results.
    hidden = os.dup(1)
    os.dup2(2, 1)
    results = os.fdopen(hidden, "w")
    for job in asked["warm"]:
        with contextlib.suppress(ImportError):  # a job that needs the package says so itself
            call(job)
    for number, job in enumerate(asked["jobs"]):
        results.write(json.dumps({"job": number, **run(job, asked["seconds"], hidden)}) + "\n")
        results.flush()


if __name__ == "__main__":
    main(sys.argv[1])
