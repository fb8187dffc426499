"""A job on the wire: the problem, the solution, and the rules by which the node judges it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any
from uuid import UUID

from runners.wire.protocol import (
    ArtefactRef,
    BlobRef,
    ProblemRef,
    Profiler,
    ResourceLimits,
    Stage,
    TimingPolicy,
    TrackSpec,
    WireModel,
)


class JobPurpose(StrEnum):
    """The purpose for which a solution is judged."""

    GRADE = "grade"
    RERUN = "rerun"
    """As `grade`, of a sample that has a result. No failure that the node has kept is used."""
    VERIFY = "verify"
    """The solution is the problem's reference, which verifies the problem. No kept failure is used. A function judge
    reports which wrong answers the problem's check accepts."""
    TRIAL = "trial"
    """The solution is built. A command problem's visible tests run, or a function's cases that are not held out.
    Nothing is timed."""
    SAMPLE = "sample"
    """As `trial`, but a function is called once, in its smallest case, and the report shows the call's values."""

    @property
    def is_trial(self) -> bool:
        return self in (JobPurpose.TRIAL, JobPurpose.SAMPLE)

    @property
    def is_fresh(self) -> bool:
        """Whether no failure that the node has kept is used."""
        return self in (JobPurpose.RERUN, JobPurpose.VERIFY)


class Sides(StrEnum):
    """The sides that are timed once the solution has passed."""

    NONE = "none"
    SOLUTION = "solution"
    BOTH = "both"
    """The solution and the problem's reference, if it has one."""


class JobRules(WireModel):
    """The rules of one job. Site, node and judges share this value."""

    purpose: JobPurpose = JobPurpose.GRADE
    stage: Stage = Stage.BOTH
    sides: Sides = Sides.BOTH
    timing_policy: TimingPolicy = TimingPolicy.QUICK
    profiler: Profiler = Profiler.NONE
    limits: ResourceLimits = ResourceLimits()
    withheld: tuple[str, ...] | None = ()
    """Paths that runs do not see. None lets the judge find out whether the problem's reference needs its test files,
    and report it."""
    timed_cases: tuple[str, ...] | None = None
    """The cases of a function that are timed. None lets the first baseline of the problem decide."""
    sizes: Mapping[str, int] = {}
    """Own sizes for a function's trial, by the name of a scalar; empty for those of the smallest case."""


class Work(WireModel):
    """One attempt at one job, with everything that a node needs for it."""

    attempt: UUID
    attempt_token: str
    number: int
    evaluation: int | None
    """Null for a trial and for a run of PMPP's routes."""
    tenant: str
    """The owner of the solution. A device is scrubbed between tenants."""
    lease_seconds: float
    heartbeat_seconds: float
    track: TrackSpec
    judge_version: str
    problem: ProblemRef
    solution: BlobRef
    artefact: ArtefactRef | None = None
    rules: JobRules


def previous_work(work: Work, may_withhold: list[str]) -> dict[str, Any]:
    """The same work for a node of the protocol's previous version, whose rules are fields of the work.

    `may_withhold` lists the problem's test files, which such a node tries to withhold if `withheld` is None.
    """
    rules = work.rules
    return work.model_dump(mode="json", exclude={"rules"}) | {
        **rules.model_dump(
            mode="json", include={"stage", "timing_policy", "profiler", "limits", "timed_cases", "sizes"}
        ),
        "trial": rules.purpose.is_trial,
        "verifies": rules.purpose is JobPurpose.VERIFY,
        "rerun": rules.purpose.is_fresh,
        "times": rules.sides is not Sides.NONE,
        "needs_baseline": rules.sides is Sides.BOTH,
        "build_only": None if rules.withheld is None else list(rules.withheld),
        "try_withholding": may_withhold if rules.withheld is None else [],
    }
