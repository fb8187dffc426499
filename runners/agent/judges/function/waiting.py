"""What processes on a GPU's node that wait for a solution or a problem have in common."""

from collections.abc import Hashable

from runners.agent.devices.lanes import Seat
from runners.agent.job.toolchain import cores
from runners.agent.judges.function.subject import Subject

MOST_WAITING, CORES_EACH, LEAST_CORES = 3, 4, 8
"""On a GPU so many wait for solutions, one for so many of its share of the cores. With few cores, loading a library
beside a call that is timed could disturb it."""
LONGEST_WAIT_SECONDS, LIFE_SECONDS = 3600.0, 6 * 3600.0


def n_waiting(subject: Subject, seat: Seat, n_gpus: int) -> int:
    """How many processes may load for solutions like this one, and wait, while others are timed. None for a CPU, where
    a solution that is timed may use all cores."""
    share = cores() // max(1, n_gpus)
    is_apart = subject.device == "cuda" and seat.gpu_uuid and share >= LEAST_CORES
    return min(MOST_WAITING, share // CORES_EACH) if is_apart else 0


def needs_of(subject: Subject) -> Hashable:
    """All in which a process that has no solution or problem yet differs from another."""
    limits = subject.limits.model_dump_json(exclude={"build_seconds", "file_bytes"})
    return subject.device, subject.problem.manifest.arrays, subject.image, limits
