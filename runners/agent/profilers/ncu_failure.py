"""Distinguishes a failure of Nsight Compute from a failure of its benchmark, in messages for the submitter.

ncu 2025.3.1 failed if the name of an NVTX range was not UTF-8. Its conversion to wide characters threw an exception,
which ncu did not catch or wrote to its log. Once ncu ended with a segmentation fault.
"""

import signal
from dataclasses import dataclass

OUT_OF_TIME = {124, 128 + signal.SIGKILL}
"""Exit statuses of `timeout` at its limit. The kernel's out-of-memory killer causes the second one, too."""
CRASHES = {128 + number for number in (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV)}
THROWN = "wstring_convert"
"""Part of the exception's message. A run without ncu shows whether the benchmark itself throws it."""
NO_KERNEL = "No kernels were profiled"
ERROR = "==ERROR=="
_LAST_WORDS = (ERROR, "terminate called", "what():", THROWN)
MOST_LINES_TOLD = 2
LONGEST_LINE_TOLD = 200
OWN_FAILURE = (
    "the profiler ncu {version} failed by itself: {how}. {said}The program showed no fault. Give all NVTX ranges names "
    "of plain ASCII characters, or time with the profiler cupti"
)


@dataclass(frozen=True)
class Ends:
    """Exit statuses as a shell reports them. None: the program did not start or did not end."""

    benchmark: int | None
    """Exit status of the benchmark under ncu, in the first run."""
    ncu: int | None
    """Exit status of ncu, in the first run."""
    alone: int | None
    """Exit status of the benchmark without ncu. It runs alone only if a signal ended it under ncu."""


def own_failure(version: str, ends: Ends, log: str, stderr: str) -> str:
    """A message about ncu's own failure; "" without one, or if ncu's log has a reason for `Ncu.read` to report."""
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
    if ends.ncu in CRASHES and ends.ncu != ends.benchmark:  # ncu returns the benchmark's own status
        return _ended(ends.ncu)
    return _how_inside(ends, log, stderr) or _how_afterwards(ends, log)


def _how_inside(ends: Ends, log: str, stderr: str) -> str:
    """How ncu's code inside the benchmark's processes failed, or ""."""
    if ends.alone == 0:
        return f"a signal ended the benchmark under ncu (status {ends.benchmark}), and it ended well without ncu"
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
    """The last two error lines of ncu and of the C++ runtime, each cut to a maximum length."""
    lines = [line for text in (log, stderr) for line in text.splitlines() if any(word in line for word in _LAST_WORDS)]
    told = [" ".join(line.removeprefix(ERROR).split())[:LONGEST_LINE_TOLD] for line in lines]
    return "; ".join(told[-MOST_LINES_TOLD:])
