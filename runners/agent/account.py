"""Keeps account of an attempt as it goes on, and turns it into a report."""

import hashlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

from runners.agent.build_cache import Build
from runners.agent.environment import NodeEnvironment
from runners.agent.sandbox.policy import Outcome
from runners.agent.task import Finished, Outputs, Task
from runners.agent.texts import log_text
from runners.protocol import (
    INLINE_LOG_BYTES,
    ArtefactRef,
    BlobRef,
    FlagReport,
    FlagScope,
    LogText,
    MeasurementReport,
    Provenance,
    Report,
    StepReport,
    Verdict,
    Witness,
)

StepName = Literal["build", "test", "benchmark"]


@dataclass
class Account:
    """All that happened so far in one attempt."""

    environment: NodeEnvironment
    task: Task
    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())
    steps: list[StepReport] = field(default_factory=list)
    blobs: dict[str, bytes] = field(default_factory=dict)
    flags: list[FlagReport] = field(default_factory=list)
    measurements: list[MeasurementReport] = field(default_factory=list)
    witness: Witness = Witness.UNAVAILABLE
    outputs: Outputs = field(default_factory=Outputs)
    speedup: float | None = None
    artefact: ArtefactRef | None = None
    artefact_key: str = ""
    build_cached: bool = False
    withheld: list[str] | None = None
    gpu_uuid: str = ""
    profiler: str = ""
    profile: BlobRef | None = None

    def note(self, **outputs: object) -> None:
        """Set some of the outputs."""
        self.outputs = replace(self.outputs, **outputs)  # type: ignore[arg-type]

    def flag(self, code: str, scope: FlagScope, detail: str) -> None:
        self.flags.append(FlagReport(code=code, scope=scope, detail=detail[:2000]))

    def step(self, name: StepName, ended: Outcome | Build, limit_seconds: float) -> None:
        """Add a command that ended."""
        self.steps.append(
            StepReport(
                name=name,
                exit_code=ended.exit_code,
                signal=ended.signal,
                timed_out=ended.timed_out,
                memory_exceeded=ended.memory_exceeded,
                wall_ms=ended.wall_ms,
                cpu_ms=ended.cpu_ms,
                peak_memory_bytes=ended.peak_memory_bytes,
                cached=ended.cached if isinstance(ended, Build) else False,
                witness=ended.witness if isinstance(ended, Outcome) else Witness.UNAVAILABLE,
                log=self._log(log_text(ended, limit_seconds), truncated=ended.truncated),
            )
        )

    def _log(self, text: str, *, truncated: bool) -> LogText:
        """Inline where it is short. NUL is not text to every database."""
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
        data = text.encode()
        if len(data) <= INLINE_LOG_BYTES:
            return LogText(text=text, truncated=truncated)
        return LogText(blob=self.add_blob(data), truncated=truncated)

    def add_blob(self, data: bytes) -> BlobRef:
        digest = hashlib.sha256(data).hexdigest()
        self.blobs[digest] = data
        return BlobRef(sha256=digest, size_bytes=len(data))

    def finish(self, verdict: Verdict, reason: str = "") -> Finished:
        """The report, with everything noted so far."""
        report = Report(
            verdict=verdict,
            reason=reason[:4000],
            steps=self.steps,
            measurements=self.measurements,
            flags=self.flags,
            witness=self.witness,
            speedup=self.speedup,
            provenance=self._provenance(),
            artefact=self.artefact,
            withheld=self.withheld,
            profile=self.profile,
        )
        return Finished(report, self.blobs, self.outputs)

    def _provenance(self) -> Provenance:
        known, sandbox = self.environment.capabilities, self.environment.sandbox
        gpu = next((gpu for gpu in known.gpus if gpu.uuid == self.gpu_uuid), known.gpus[0] if known.gpus else None)
        return Provenance(
            node=self.environment.name,
            agent_version=known.agent_version,
            sandbox=sandbox.name,
            memory_limit_by=sandbox.memory_limit_by,
            cpu_model=known.cpu_model,
            cpu_cores=known.cpu_cores,
            kernel=known.kernel,
            gpu=gpu.name if gpu else "",
            gpu_uuid=gpu.uuid if gpu else "",
            driver=gpu.driver if gpu else "",
            toolkit=", ".join(f"{name} {version}" for name, version in sorted(known.toolkits.items())),
            image=self.task.subject.image,
            arch=self.task.subject.build_policy.arch,
            build_policy=self.task.subject.build_policy.name,
            artefact_key=self.artefact_key,
            build_cached=self.build_cached,
            timing_policy=self.task.timing_policy.value,
            profiler=self.profiler,
            peaks=self.environment.peaks(self.gpu_uuid),
            started_at=self.started_at,
            finished_at=datetime.now(UTC).isoformat(),
        )
