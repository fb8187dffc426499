"""One leased attempt, from fetching its files to the letter that reports it."""

import hashlib
import logging
import threading
from dataclasses import dataclass

from problems.spec.errors import RecordError
from problems.spec.profile import Profile
from problems.spec.solution import parse_solution
from runners.agent.client import SiteClient, report_body
from runners.agent.errors import ProfilerUnavailable, UnusableProblem
from runners.agent.nvcc import BuildPolicy
from runners.agent.outbox import Letter
from runners.agent.pipeline import Pipeline
from runners.agent.problem_store import ProblemStore
from runners.agent.sandbox.policy import Command, Limits, SandboxFault
from runners.agent.task import Finished, Subject, Task, files_of, why_invalid
from runners.protocol import Heartbeat, Provenance, Report, Stage, TrackSpec, Verdict, Work, WorkStage

logger = logging.getLogger(__name__)
TAIL_BYTES = 8 * 1024


class LiveProgress:
    """Where an attempt stands, for its heartbeats: only a build's output is shown while it goes on."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self._guard = threading.Lock()
        self._stage = WorkStage.PREPARING
        self._tail = b""

    def enter(self, stage: WorkStage) -> None:
        with self._guard:
            self._stage, self._tail = stage, b""

    def output(self, chunk: bytes) -> None:
        with self._guard:
            self._tail = (self._tail + chunk)[-TAIL_BYTES:]

    def heartbeat(self) -> Heartbeat:
        with self._guard:
            tail = self._tail if self._stage is WorkStage.BUILDING else b""
            return Heartbeat(stage=self._stage, log_tail=tail.decode(errors="replace").replace("\0", ""))


@dataclass(frozen=True)
class Attempt:
    """Work that this node holds a lease for."""

    work: Work
    progress: LiveProgress

    def beat(self, client: SiteClient) -> bool:
        """Tell the site how it goes; False where the site no longer wants it. Raises as the client."""
        reply = client.heartbeat(self.work.attempt, self.work.attempt_token, self.progress.heartbeat())
        return not reply.cancel

    def give_back(self, client: SiteClient) -> None:
        """Raises as the client."""
        client.release(self.work.attempt, self.work.attempt_token)

    def letter(self, finished: Finished) -> Letter:
        return Letter(self.work.attempt, self.work.attempt_token, report_body(finished.report), finished.blobs)


class Worker:
    """Does attempts, one per calling thread."""

    def __init__(self, client: SiteClient, pipeline: Pipeline, problems: ProblemStore) -> None:
        self._client = client
        self._pipeline = pipeline
        self._problems = problems

    def do(self, attempt: Attempt) -> Finished:
        """What came of it; a fault of ours is a report too. Raises Cancelled and, as the client, what fetching does."""
        try:
            finished = self._pipeline.run(self.task(attempt.work), attempt.progress)
        except (SandboxFault, UnusableProblem, ProfilerUnavailable, RecordError, OSError, ValueError) as error:
            logger.exception("attempt %s met a fault of this node's", attempt.work.attempt)
            return Finished(self._fault(f"{type(error).__name__}: {error}"))
        attempt.progress.enter(WorkStage.REPORTING)
        return finished

    def self_test(self) -> str:
        """Run a trivial command as any other would be; what is wrong, or ""."""
        environment = self._pipeline.environment
        limits = Limits(
            wall_seconds=10,
            memory_bytes=256 << 20,
            processes=32,
            file_bytes=1 << 20,
            workspace_bytes=1 << 20,
            output_bytes=1 << 10,
        )
        try:
            with environment.lanes.test() as seat, environment.workspaces.open({"in": b"well\n"}) as workspace:
                outcome = environment.sandbox.run(Command("cat in", workspace, limits, slot=seat.slot))
        except (SandboxFault, OSError) as error:
            return f"{type(error).__name__}: {error}"
        return "" if outcome.succeeded and outcome.stdout == "well\n" else f"`cat` printed {outcome.stdout!r}"

    def task(self, work: Work) -> Task:
        """Fetch what the attempt needs. Raises RecordError, and as the client."""
        known = self._problems.get(work.problem.sha256, Profile(work.profile), lambda: self._fetch(work))
        blob = self._client.get_blob(work.attempt, work.attempt_token, work.solution)
        solution = parse_solution(blob)
        subject = Subject(
            problem=known.problem,
            problem_sha256=work.problem.sha256,
            files=files_of(solution),
            limits=work.limits,
            build_only=tuple(work.build_only or ()),
            image=self._pipeline.environment.image_for(work.track.image),
            build_policy=BuildPolicy.of_track(work.track),
        )
        return Task(
            subject,
            invalid_reason=why_invalid(known.problem, solution, known.rules),
            stage=work.stage,
            timing_policy=work.timing_policy,
            profiler=work.profiler,
            try_withholding=tuple(work.try_withholding),
            needs_baseline=work.needs_baseline,
            artefact=self._artefact(work),
            artefact_key=work.artefact.key if work.artefact else "",
            devices=self._devices(work.track),
            tenant=str(work.submission),
        )

    def _devices(self, track: TrackSpec) -> tuple[str, ...]:
        """This node's GPUs of the track's kind."""
        gpus = self._pipeline.environment.capabilities.gpus if track.device == "gpu" else []
        return tuple(gpu.uuid for gpu in gpus if track.hardware_name.lower() in ("", gpu.name.lower()))

    def _fetch(self, work: Work) -> bytes:
        return self._client.get_blob(work.attempt, work.attempt_token, work.problem)

    def _artefact(self, work: Work) -> bytes | None:
        """The build's product: of this node's own cache where it was built here, else from the site."""
        wanted = work.artefact
        if wanted is None or work.stage is not Stage.RUN:
            return None
        kept = self._pipeline.environment.builds.get(wanted.key, limits="")
        if kept is not None and hashlib.sha256(kept.product).hexdigest() == wanted.blob.sha256:
            return kept.product
        return self._client.get_blob(work.attempt, work.attempt_token, wanted.blob)

    def _fault(self, words: str) -> Report:
        environment = self._pipeline.environment
        provenance = Provenance(
            node=environment.name,
            agent_version=environment.capabilities.agent_version,
            sandbox=environment.sandbox.name,
        )
        return Report(verdict=Verdict.PLATFORM_ERROR, reason=words[:4000], provenance=provenance, fault=words[:4000])
