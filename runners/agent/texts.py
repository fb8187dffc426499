"""The texts that ComputeEval's graded rows hold, made of how commands ended."""

from typing import Protocol

from problems.formats.compute_eval.source_references import MISSING_TEXT
from problems.spec.workspace_rules import STRICT_FAILURE

__all__ = ["MISSING_TEXT", "STRICT_FAILURE", "benchmark_failure", "graded_text", "log_text"]


class Ended(Protocol):
    """What an outcome and a cached build have in common."""

    @property
    def exit_code(self) -> int | None: ...
    @property
    def signal(self) -> int | None: ...
    @property
    def timed_out(self) -> bool: ...
    @property
    def stdout(self) -> str: ...
    @property
    def stderr(self) -> str: ...


def graded_text(ended: Ended, limit_seconds: float) -> str:
    """What the command printed, or that it ran out of time."""
    return timeout_notice(limit_seconds) if ended.timed_out else f"{ended.stdout}\n{ended.stderr}"


def log_text(ended: Ended, limit_seconds: float) -> str:
    """What the command printed, up to its limit where it ran into that."""
    printed = f"{ended.stdout}\n{ended.stderr}" if ended.stderr else ended.stdout
    return f"{printed}\n{timeout_notice(limit_seconds)}\n" if ended.timed_out else printed


def timeout_notice(limit_seconds: float) -> str:
    return f"[TIMEOUT EXPIRED after {float(limit_seconds)} seconds]"


def benchmark_failure(ended: Ended, limit_seconds: float) -> str:
    """Why there is no time, for `benchmark_output`."""
    head = f"Benchmark failed. Exit code {status(ended)}, timeout={ended.timed_out}."
    return f"{head}\nOutput: {graded_text(ended, limit_seconds)}"


def status(ended: Ended) -> int:
    """The exit status as a shell would tell it; -1 for a time limit."""
    if ended.timed_out:
        return -1
    return ended.exit_code if ended.exit_code is not None else 128 + (ended.signal or 0)
