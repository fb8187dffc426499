"""Makes the report from a judgement, with the blobs that the report names."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from problems.spec.no_time import NO_TIME
from runners.agent.job.build_cache import Build
from runners.agent.job.environment import NodeEnvironment
from runners.agent.job.job import Job
from runners.agent.judges.judgement import NO_TEXTS, Judgement, Step, Texts
from runners.agent.judges.texts import log_text
from runners.agent.sandbox.policy import Outcome
from runners.wire.protocol import (
    INLINE_LOG_BYTES,
    JUDGE_VERSIONS,
    ArtefactRef,
    BlobRef,
    FlagReport,
    LogText,
    Provenance,
    Report,
    Stage,
    StepReport,
    Witness,
)
from scoring.sample import sample_speedup


@dataclass(frozen=True)
class Finished:
    """A report, its blobs by sha256, and the full texts."""

    report: Report
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    texts: Texts = NO_TEXTS


def finished(judgement: Judgement, job: Job, environment: NodeEnvironment, started_at: datetime) -> Finished:
    """The report on a judgement."""
    blobs = _Blobs()
    report = Report(
        verdict=judgement.ending.verdict,
        reason=judgement.ending.reason[:4000],
        steps=[_step(one, blobs) for one in judgement.steps],
        cases=list(judgement.cases),
        measurements=list(judgement.measurements),
        flags=[FlagReport(code=one.code, scope=one.scope, detail=one.detail[:2000]) for one in judgement.findings],
        witness=judgement.witness,
        speedup=_speedup(judgement),
        provenance=_provenance(judgement, job, environment, started_at),
        artefact=_artefact(judgement, job, environment, blobs),
        withheld=None if judgement.withheld is None else list(judgement.withheld),
        profile=blobs.add(judgement.profile) if judgement.profile else None,
        listing=blobs.add(judgement.listing) if judgement.listing else None,
    )
    return Finished(report, blobs.by_sha256, judgement.texts)


class _Blobs:
    def __init__(self) -> None:
        self.by_sha256: dict[str, bytes] = {}

    def add(self, data: bytes) -> BlobRef:
        digest = hashlib.sha256(data).hexdigest()
        self.by_sha256[digest] = data
        return BlobRef(sha256=digest, size_bytes=len(data))


def _step(step: Step, blobs: _Blobs) -> StepReport:
    ended = step.ended
    return StepReport(
        name=step.name,
        exit_code=ended.exit_code,
        signal=ended.signal,
        timed_out=ended.timed_out,
        memory_exceeded=ended.memory_exceeded,
        wall_ms=ended.wall_ms,
        cpu_ms=ended.cpu_ms,
        peak_memory_bytes=ended.peak_memory_bytes,
        cached=ended.cached if isinstance(ended, Build) else False,
        witness=ended.witness if isinstance(ended, Outcome) else Witness.UNAVAILABLE,
        log=_log(log_text(ended, step.limit_seconds), blobs, truncated=ended.truncated),
    )


def _log(text: str, blobs: _Blobs, *, truncated: bool) -> LogText:
    """A short log is inline, a long one is a blob. NUL is removed because some databases refuse it in text."""
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    data = text.encode()
    if len(data) <= INLINE_LOG_BYTES:
        return LogText(text=text, truncated=truncated)
    return LogText(blob=blobs.add(data), truncated=truncated)


def _speedup(judgement: Judgement) -> float | None:
    """The speedup over the primary baseline, for rows written without a site. A site computes its own."""
    by_role: dict[str, dict[str, float]] = {"candidate": {}, "baseline": {}}
    for one in judgement.measurements:
        if one.is_primary:
            by_role[one.role][one.case] = one.median_ms
    no_time = [case.name for case in judgement.cases if any(one.name == NO_TIME for one in case.fields)]
    return sample_speedup(by_role["baseline"], by_role["candidate"], no_time=no_time)


def _artefact(judgement: Judgement, job: Job, environment: NodeEnvironment, blobs: _Blobs) -> ArtefactRef | None:
    """The build's product, if another node will run it."""
    build = judgement.build
    if job.rules.stage is not Stage.BUILD or not judgement.ending.has_passed or build is None:
        return None
    return ArtefactRef(key=build.key, blob=blobs.add(build.product), node=environment.name)


def _provenance(judgement: Judgement, job: Job, environment: NodeEnvironment, started_at: datetime) -> Provenance:
    known, sandbox, build = environment.capabilities, environment.sandbox, judgement.build
    gpu = next((gpu for gpu in known.gpus if gpu.uuid == judgement.device), known.gpus[0] if known.gpus else None)
    return Provenance(
        node=environment.name,
        agent_version=known.agent_version,
        judge_version=JUDGE_VERSIONS[job.problem.kind],
        sandbox=sandbox.name,
        memory_limit_by=sandbox.memory_limit_by,
        cpu_model=known.cpu_model,
        cpu_cores=known.cpu_cores,
        kernel=known.kernel,
        gpu=gpu.name if gpu else "",
        gpu_uuid=gpu.uuid if gpu else "",
        driver=gpu.driver if gpu else "",
        toolkit=", ".join(f"{name} {version}" for name, version in sorted(known.toolkits.items())),
        image=job.image,
        arch=job.build_policy.arch,
        build_policy=job.build_policy.name,
        artefact_key=build.key if build else job.build_key,
        build_cached=build.cached if build else False,
        timing_policy=job.rules.timing_policy.value,
        profiler=judgement.profiler,
        peaks=environment.peaks(judgement.device),
        started_at=started_at.isoformat(),
        finished_at=datetime.now(UTC).isoformat(),
    )
