"""Runs an evaluator as a whole process, up to a time limit, and notes how long it took."""

import resource
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TAIL_CHARACTERS = 1500
STOP_SECONDS = 60.0
"""Given to a process to end its commands before it is killed."""


@dataclass(frozen=True)
class EndedProcess:
    """How a process ended: `status` is None if the limit ended it. Seconds include the start of Python."""

    seconds: float
    cpu_seconds: float
    status: int | None


def run_until(
    limit_seconds: float | None,
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    log: Path,
    stop: Callable[["subprocess.Popen[bytes]"], None],
) -> EndedProcess:
    """Run the command in the folder with its output in the log; `stop` ends it at the limit or on an interrupt."""
    with log.open("wb") as file:
        began, cpu_before = time.monotonic(), _children_cpu_seconds()
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file
        )
        try:
            status: int | None = process.wait(limit_seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            stop(process)
        return EndedProcess(time.monotonic() - began, _children_cpu_seconds() - cpu_before, status)


def terminate(process: "subprocess.Popen[bytes]") -> None:
    """Ask a process to end, as one that ends its own commands."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def tail(log: Path) -> str:
    """The end of a process's output."""
    return log.read_text(encoding="utf-8", errors="replace")[-TAIL_CHARACTERS:].strip()


def _children_cpu_seconds() -> float:
    """Processor time of this process's ended children and of all of theirs that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
