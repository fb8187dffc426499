"""Distinguishes a failure of Nsight Compute from one of its benchmark, in words for the submitter.

ncu 2025.3.1 was seen to end so over NVTX ranges of which one had a name that is not UTF-8: with what C++ throws where
such bytes are made wide characters, uncaught or in its log, and once with a segmentation fault.
"""

import signal
from dataclasses import dataclass

OUT_OF_TIME = {124, 128 + signal.SIGKILL}
"""As `timeout` tells it; the second one is also how the kernel ends what wants too much memory."""
CRASHES = {128 + number for number in (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV)}
THROWN = "wstring_convert"
"""A benchmark's own use of it is told from ncu's by a run without ncu."""
NO_KERNEL = "No kernels were profiled"
ERROR = "==ERROR=="
_LAST_WORDS = (ERROR, "terminate called", "what():", THROWN)
MOST_LINES_TOLD = 2
LONGEST_LINE_TOLD = 200
OWN_FAILURE = (
    "the profiler ncu {version} failed by itself: {how}. {said}This is no fault that was seen in the program. Mend it "
    "by names of plain ASCII characters for all NVTX ranges, if any has another, or time with the profiler cupti"
)


@dataclass(frozen=True)
class Ends:
    """Exit statuses as a shell tells them; None for what never ended or was never begun."""

    benchmark: int | None
    """Under ncu, in the first run."""
    ncu: int | None
    alone: int | None
    """The benchmark's without ncu, tried where a signal ended it under ncu."""


def own_failure(version: str, ends: Ends, log: str, stderr: str) -> str:
    """Words on how ncu failed by itself; empty where it did not, or where its log is better told by others."""
    how = _how(ends, log, stderr)
    if not how:
        return ""
    words = _last_words(log, stderr)
    said = f"It said last: {words}. " if words else "It said nothing. "
    return OWN_FAILURE.format(version=version, how=how, said=said)


def _how(ends: Ends, log: str, stderr: str) -> str:
    if ends.alone:  # the program fails without ncu too
        return ""
    if ends.benchmark is None:
        unknown = ends.ncu is None or ends.ncu in OUT_OF_TIME
        return "" if unknown else f"{_ended(ends.ncu)} before the benchmark had ended"
    if ends.ncu in CRASHES and ends.ncu != ends.benchmark:  # it passes the benchmark's own status on
        return _ended(ends.ncu)
    return _how_inside(ends, log, stderr) or _how_afterwards(ends, log)


def _how_inside(ends: Ends, log: str, stderr: str) -> str:
    """Where ncu's part in the benchmark's own processes failed."""
    if ends.alone == 0:
        return f"under it a signal ended the benchmark (status {ends.benchmark}), which ended well without it"
    if any(THROWN in line for line in log.splitlines() if line.startswith(ERROR)):
        return "it threw an exception"
    return "it threw an exception inside of the benchmark" if THROWN in stderr else ""


def _how_afterwards(ends: Ends, log: str) -> str:
    told_by_others = ERROR in log or NO_KERNEL in log
    failed = ends.benchmark == 0 and ends.ncu and not told_by_others
    return f"{_ended(ends.ncu)} although the benchmark had ended well" if failed else ""


def _ended(status: int | None) -> str:
    if status in OUT_OF_TIME:
        return "it did not end in time"
    if status in CRASHES:
        return f"it was killed by signal {status - 128}"
    return f"it ended with status {status}"


def _last_words(log: str, stderr: str) -> str:
    """At most two lines of the last that ncu and the language's runtime said, each cut."""
    lines = [line for text in (log, stderr) for line in text.splitlines() if any(word in line for word in _LAST_WORDS)]
    told = [" ".join(line.removeprefix(ERROR).split())[:LONGEST_LINE_TOLD] for line in lines]
    return "; ".join(told[-MOST_LINES_TOLD:])
