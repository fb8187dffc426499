"""The output of a step, as far as a visitor may read it."""

import gzip
import io
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from signal import SIGKILL
from typing import Any

from django.conf import settings

from leaderboard import blobs
from leaderboard.models import Result
from leaderboard.visibility import SubmissionView
from runners.wire.protocol import BUILD_STEP

SHOWN_BYTES = 64 * 1024
MAX_BYTES = 16 * 1024 * 1024
RUN_STEP = "run"
"""The step of a function. Its checker is the witness, and kills the process once it has answered all calls."""
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class LoggedStep:
    """One command as it was run; `text` is None where the log is not the visitor's to read."""

    name: str
    ending: str
    wall_ms: float
    cpu_ms: float
    peak_memory_bytes: int
    cached: bool
    witness: str
    """Empty for RUN_STEP."""
    text: str | None
    truncated: bool
    is_cut_here: bool


def may_read(view: SubmissionView, name: str) -> bool:
    """The build log is the team's; test and benchmark logs may quote held-out files and are the organisers' alone."""
    return view.build_log if name == BUILD_STEP else view.run_log == "full"


def steps_of(result: Result, view: SubmissionView) -> list[LoggedStep]:
    return [_step(row, view, result) for row in result.steps]


def _step(row: Mapping[str, Any], view: SubmissionView, result: Result) -> LoggedStep:
    readable = may_read(view, row["name"])
    log = row.get("log") or {}
    text = log_text(log, SHOWN_BYTES) if readable else None
    blob = log.get("blob")
    return LoggedStep(
        name=row["name"],
        ending=_ending(row, has_passed=result.passed),
        wall_ms=row.get("wall_ms", 0.0),
        cpu_ms=row.get("cpu_ms", 0.0),
        peak_memory_bytes=row.get("peak_memory_bytes", 0),
        cached=row.get("cached", False),
        witness="" if row["name"] == RUN_STEP else row.get("witness", ""),
        text=text,
        truncated=log.get("truncated", False),
        is_cut_here=bool(blob and text is not None and len(text.encode()) >= SHOWN_BYTES),
    )


def _ending(row: Mapping[str, Any], *, has_passed: bool) -> str:
    if row.get("timed_out"):
        return "timed out"
    if row.get("memory_exceeded"):
        return "memory exceeded"
    if has_passed and row.get("signal") == SIGKILL and row["name"] == RUN_STEP:
        return "ended by the judge"
    if row.get("signal") is not None:
        return f"signal {row['signal']}"
    return "not run" if row.get("exit_code") is None else f"exit {row['exit_code']}"


def log_text(log: Mapping[str, Any], limit: int = MAX_BYTES) -> str:
    """The log, inline or from its blob, at most `limit` bytes of it; words in its place where the blob is gone."""
    if not log.get("blob"):
        return str(log.get("text", ""))
    try:
        content = _first_bytes(log["blob"]["sha256"], limit)
    except blobs.BlobMissing:
        days = f": this site keeps logs for {settings.LOG_DAYS} days" if settings.LOG_DAYS else ""
        return f"The log is no longer kept{days}."
    except blobs.BlobsUnavailable:
        return "The log cannot be read now; please try again in a while."
    except (OSError, EOFError, zlib.error):
        return "The log is damaged."
    return content.decode("utf-8", "replace")


def _first_bytes(sha256: str, limit: int) -> bytes:
    with blobs.store().open(sha256) as file:
        head = file.read(limit)
        if not head.startswith(_GZIP_MAGIC):
            return head
        with gzip.open(io.BytesIO(head + file.read(MAX_BYTES))) as unpacked:
            return unpacked.read(limit)
