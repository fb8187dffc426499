"""The part of a problem that claims send, kept in memory: it is read once for many claims."""

from functools import lru_cache

from problems.models import Problem
from problems.spec.kinds import Kind
from problems.spec.record import ProblemRecord
from runners.wire.protocol import BlobRef, ProblemRef, ResourceLimits

KEPT = 4096


def problem_ref(problem: Problem) -> ProblemRef:
    return _known(problem.pk, problem.record_sha256)[0]


def limits_of(problem: Problem) -> ResourceLimits:
    """The limits that the problem's record sets."""
    return _known(problem.pk, problem.record_sha256)[1]


def forget() -> None:
    """Forget all problems, as after the database was replaced."""
    _known.cache_clear()


@lru_cache(KEPT)
def _known(pk: int, sha256: str) -> tuple[ProblemRef, ResourceLimits]:
    """An edited problem has another record. Its files are added before it has any job, and never changed."""
    problem = Problem.with_left_out.select_related("release").get(pk=pk)
    ref = ProblemRef(
        kind=Kind(problem.kind),
        profile=problem.release.profile,
        record=BlobRef(sha256=sha256, size_bytes=len(problem.record)),
        blobs={one.name: BlobRef(sha256=one.sha256, size_bytes=one.size_bytes) for one in problem.blobs.all()},
    )
    limits = _limits(problem.spec) if problem.release.profile == "podium/1" else ResourceLimits()
    return ref, limits


def _limits(spec: ProblemRecord) -> ResourceLimits:
    return ResourceLimits.model_validate(spec.podium.limits.set_values())
