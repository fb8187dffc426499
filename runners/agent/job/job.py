"""A job as the judges take it: a solution to a problem, the rules by which it is judged, and where it may run."""

from dataclasses import dataclass, field, replace
from enum import Enum

from problems.spec.record import ProblemRecord
from problems.spec.solution import Solution
from runners.agent.job.nvcc import AS_WRITTEN, BuildPolicy
from runners.wire.job import JobPurpose, Rules

PLAIN_MODES = frozenset({"process", "custom"})
"""Timing modes that need no profiler."""


class Author(Enum):
    """The author of the files that run."""

    CONTESTANT = "contestant"
    PROBLEM = "problem"
    """The files are the problem's reference. Only its builds may write to shared caches."""
    JUDGE = "judge"
    """The files only fill their outputs, which calibrates the clock of a function problem."""

    @property
    def is_trusted(self) -> bool:
        return self is not Author.CONTESTANT


@dataclass(frozen=True)
class Job:
    """If `skip_reason` or `invalid_reason` is set, nothing runs."""

    problem: ProblemRecord
    problem_sha256: str
    solution: Solution
    rules: Rules = field(default_factory=Rules)
    skip_reason: str = ""
    invalid_reason: str = ""
    timed_modes: frozenset[str] = PLAIN_MODES
    image: str = ""
    """Image by digest or id for the docker sandbox, as `NodeEnvironment.image_for` gives it."""
    build_policy: BuildPolicy = AS_WRITTEN
    product: bytes | None = None
    """The product of a build on another node; set if this job only tests and times."""
    build_key: str = ""
    """The key of that build."""
    devices: tuple[str, ...] = ()
    """UUIDs of the GPUs that may run the job, all of the track's kind; empty allows any GPU."""
    tenant: str = ""
    """The owner of the submission. A GPU's memory is scrubbed between tenants."""

    @property
    def afresh(self) -> "Job":
        """The same job, for which no kept failure is used."""
        return replace(self, rules=self.rules.model_copy(update={"purpose": JobPurpose.RERUN}))
