"""Texts about the end of commands: logs, reasons, and the fields of ComputeEval's graded rows."""

import signal
from typing import Protocol

from problems.formats.compute_eval.source_references import MISSING_TEXT
from problems.spec.command.workspace_rules import STRICT_FAILURE

__all__ = ["MISSING_TEXT", "STRICT_FAILURE", "benchmark_failure", "graded_text", "how_it_ended", "log_text"]


class Ended(Protocol):
    """The fields that an outcome and a cached build share."""

    @property
    def exit_code(self) -> int | None: ...
    @property
    def signal(self) -> int | None: ...
    @property
    def timed_out(self) -> bool: ...
    @property
    def memory_exceeded(self) -> bool: ...
    @property
    def workspace_excess(self) -> str: ...
    @property
    def stdout(self) -> str: ...
    @property
    def stderr(self) -> str: ...


def graded_text(ended: Ended, limit_seconds: float) -> str:
    """The command's output, or ComputeEval's words for a timeout."""
    return timeout_notice(limit_seconds) if ended.timed_out else f"{ended.stdout}\n{ended.stderr}"


def log_text(ended: Ended, limit_seconds: float) -> str:
    """The command's output, followed by a line about the time limit if the command reached it."""
    printed = f"{ended.stdout}\n{ended.stderr}" if ended.stderr else ended.stdout
    return f"{printed}\n{timeout_notice(limit_seconds)}\n" if ended.timed_out else printed


def timeout_notice(limit_seconds: float) -> str:
    return f"[TIMEOUT EXPIRED after {float(limit_seconds)} seconds]"


def benchmark_failure(ended: Ended, limit_seconds: float) -> str:
    """The reason why there is no time, for the field `benchmark_output`."""
    head = f"Benchmark failed. Exit code {status(ended)}, timeout={ended.timed_out}."
    return f"{head}\nOutput: {graded_text(ended, limit_seconds)}"


def status(ended: Ended) -> int:
    """The exit status as a shell reports it; -1 for a time limit."""
    if ended.timed_out:
        return -1
    return ended.exit_code if ended.exit_code is not None else 128 + (ended.signal or 0)


def how_it_ended(ended: Ended) -> str:
    """The end of a command, as words that follow its name."""
    if ended.timed_out:
        return "did not end in time"
    if ended.memory_exceeded:
        return "used more memory than allowed"
    if ended.workspace_excess:
        return f"left more in its workspace than the {ended.workspace_excess} allowed"
    if ended.signal == signal.SIGXFSZ:
        return "was killed because it wrote a larger file than allowed"
    if ended.exit_code is None:
        return f"was killed by signal {ended.signal}"
    return f"ended with exit status {ended.exit_code}"
