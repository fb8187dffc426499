"""The common part of processes on a GPU's node that wait for a solution or a problem."""

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Lock
from time import monotonic

from runners.agent.devices.lanes import Seat
from runners.agent.job.toolchain import cores
from runners.agent.job.workspace import lay_out
from runners.agent.judges.function.subject import FunctionSubject
from runners.agent.sandbox.policy import Running

MOST_WAITING, CORES_EACH, LEAST_CORES = 3, 4, 8
"""On a GPU so many wait for solutions, one for so many of its share of the cores. With few cores, loading a library
beside a call that is timed could disturb it."""
LONGEST_WAIT_SECONDS, LIFE_SECONDS = 3600.0, 6 * 3600.0
"""Seconds after which a process that waits is replaced, and after which the sandbox ends one in any case."""


def n_waiting(subject: FunctionSubject, seat: Seat, n_gpus: int) -> int:
    """How many processes may load for solutions like this one, and wait, while others are timed. None for a CPU, where
    a solution that is timed may use all cores."""
    share = cores() // max(1, n_gpus)
    is_apart = subject.device == "cuda" and seat.gpu_uuid and share >= LEAST_CORES
    return min(MOST_WAITING, share // CORES_EACH) if is_apart else 0


def needs_of(subject: FunctionSubject) -> Hashable:
    """All in which a process that has no solution or problem yet differs from another."""
    limits = subject.job.rules.limits.model_dump_json(exclude={"build_seconds", "file_bytes"})
    return subject.device, subject.problem.manifest.arrays, subject.job.image, limits


def still_serves(running: Running, started: float) -> bool:
    """Whether a process that started then (`monotonic`) has not ended, and has not waited too long."""
    return not running.has_ended and monotonic() - started < LONGEST_WAIT_SECONDS


def give(workspace: Path, files: Mapping[str, bytes]) -> None:
    """Write files into the workspace of a process that has started, for its user to read. No code of a contestant has
    run there yet. Raises as `lay_out` does."""
    lay_out(workspace, files)
    for path in files:
        (workspace / path).chmod(0o644)


class OwnSlots:
    """Slots from a number on, for processes that outlive samples."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._used: set[int] = set()
        self._guard = Lock()

    @contextmanager
    def taken(self) -> Iterator[int]:
        with self._guard:
            slot = next(number for number in count(self._first) if number not in self._used)
            self._used.add(slot)
        try:
            yield slot
        finally:
            self._used.discard(slot)
