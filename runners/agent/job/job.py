"""A job as the judges take it: a solution to a problem, the rules by which it is judged, and where it may run."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from problems.spec.record import ProblemRecord, SolutionRules
from problems.spec.solution import PatchSolution, Solution, SourceFile
from runners.wire.job import JobPurpose, JobRules
from runners.wire.protocol import TrackSpec

COMPUTE_EVAL = "compute-eval"
"""The image policy that leaves build commands unchanged, as ComputeEval does."""
DEFAULT = "default"
ARCHITECTURE = "PODIUM_NVCC_ARCH"
"""Variable that gives the sandbox's nvcc shim the architecture; see sandbox/native/nvcc_target.h."""

_CAPABILITY = re.compile(r"^(\d{1,2})\.(\d)$")


@dataclass(frozen=True)
class BuildPolicy:
    """The architecture that builds are given; `arch` is empty if they are given none."""

    name: str = COMPUTE_EVAL
    arch: str = ""

    @classmethod
    def of_track(cls, track: TrackSpec) -> "BuildPolicy":
        """The track's architecture; none under the policy `compute-eval`."""
        if track.image_policy == COMPUTE_EVAL:
            return AS_WRITTEN
        return cls(track.image_policy, architecture_of(track.compute_capability))

    @classmethod
    def for_capability(cls, compute_capability: str) -> "BuildPolicy":
        """The default policy for a GPU of this machine; without an architecture for ""."""
        return cls(DEFAULT, architecture_of(compute_capability))

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables to add to the build's environment."""
        return {ARCHITECTURE: self.arch} if self.arch else {}


AS_WRITTEN = BuildPolicy()


def architecture_of(compute_capability: str) -> str:
    """`sm_90` for `9.0`: with it nvcc's `-arch` makes machine code and PTX. "" for a text that is not a capability.

    On such a GPU `-arch=native` means the same. A problem that needs features of `sm_90a` must name it itself.
    """
    match = _CAPABILITY.match(compute_capability)
    return f"sm_{match[1]}{match[2]}" if match else ""


PATCH_REFUSED = "a patch cannot be graded: send whole files (type `file`)"


def why_invalid(problem: ProblemRecord, solution: Solution, rules: SolutionRules | None = None) -> str:
    """The reason why a solution may not be graded, or "". `rules` saves computing them for every sample."""
    if solution.task_id != problem.task_id:
        return f"the solution is for task `{solution.task_id}`, not `{problem.task_id}`"
    if isinstance(solution, PatchSolution):
        return PATCH_REFUSED
    return (rules or problem.rules()).why_bad(solution.files)


def files_of(solution: Solution) -> tuple[SourceFile, ...]:
    """A solution's files. If a path occurs twice, the last one counts. A patch has no files."""
    if isinstance(solution, PatchSolution):
        return ()
    return tuple({file.path: file for file in solution.files}.values())


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
    rules: JobRules = field(default_factory=JobRules)
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
