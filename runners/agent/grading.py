"""Grades one leased attempt: fetches its files, judges it and makes its report."""

import hashlib
import logging

from problems.spec.errors import RecordError
from problems.spec.profile import Profile
from problems.spec.solution import parse_solution
from runners.agent.ground.errors import ProfilerUnavailable, SandboxFault, UnusableProblem
from runners.agent.ground.events import StageEntered
from runners.agent.job.job import BuildPolicy, Job, why_invalid
from runners.agent.judges.registry import Judges
from runners.agent.judges.report import Finished
from runners.agent.leases import LeasedAttempt
from runners.agent.link.client import SiteClient
from runners.agent.link.problem_store import ProblemStore
from runners.agent.self_test import complaint_of
from runners.wire.job import Work
from runners.wire.protocol import REPORTING, Provenance, Report, Stage, TrackSpec, Verdict

logger = logging.getLogger(__name__)
_UNFORESEEN = (ValueError, ArithmeticError)
"""Errors of unexpected values in a record: the site hears of a fault, not of a node that fell silent."""


class Grader:
    """Grades attempts, one per calling thread."""

    def __init__(self, client: SiteClient, judges: Judges, problems: ProblemStore) -> None:
        self._client = client
        self._judges = judges
        self._problems = problems

    def grade(self, lease: LeasedAttempt) -> Finished:
        """The report and its blobs. A fault of this node becomes a report, too. Raises Cancelled, and as the client."""
        try:
            finished = self._judges.judge(self.job(lease.work), lease.live.progress)
        except (SandboxFault, UnusableProblem, ProfilerUnavailable, RecordError, OSError, *_UNFORESEEN) as error:
            logger.exception("attempt %s met a fault of this node's", lease.work.attempt)
            return Finished(self._fault(f"{type(error).__name__}: {error}"))
        lease.live.told(StageEntered(REPORTING))
        return finished

    def self_test(self) -> str:
        """The reason why this node cannot grade, or ""."""
        return complaint_of(self._judges.environment)

    def shortage(self) -> str:
        """The reason why this node's disk is too full for any job, or ""."""
        return self._judges.environment.space.lasting_shortage()

    def job(self, work: Work) -> Job:
        """Fetch the files of the attempt. Raises RecordError, and as the client."""
        record = work.problem.record
        known = self._problems.get(record.sha256, Profile(work.problem.profile), lambda: self._fetch(work))
        problem = known.problem
        blob = self._client.get_blob(work.attempt, work.attempt_token, work.solution)
        solution = parse_solution(blob)
        return Job(
            problem=problem,
            problem_sha256=record.sha256,
            solution=solution,
            rules=work.rules,
            invalid_reason=why_invalid(problem, solution, known.rules),
            image=self._judges.environment.image_for(work.track.image),
            build_policy=BuildPolicy.of_track(work.track),
            product=self._artefact(work),
            build_key=work.artefact.key if work.artefact else "",
            devices=self._devices(work.track),
            tenant=work.tenant,
        )

    def _devices(self, track: TrackSpec) -> tuple[str, ...]:
        """This node's GPUs of the track's kind."""
        gpus = self._judges.environment.capabilities.gpus if track.device == "gpu" else []
        return tuple(gpu.uuid for gpu in gpus if track.hardware_name.lower() in ("", gpu.name.lower()))

    def _fetch(self, work: Work) -> bytes:
        return self._client.get_blob(work.attempt, work.attempt_token, work.problem.record)

    def _artefact(self, work: Work) -> bytes | None:
        """The build's product: from this node's cache if it was built here, else from the site."""
        wanted = work.artefact
        if wanted is None or work.rules.stage is not Stage.RUN:
            return None
        kept = self._judges.environment.builds.get(wanted.key, limits="")
        if kept is not None and hashlib.sha256(kept.product).hexdigest() == wanted.blob.sha256:
            return kept.product
        return self._client.get_blob(work.attempt, work.attempt_token, wanted.blob)

    def _fault(self, words: str) -> Report:
        environment = self._judges.environment
        provenance = Provenance(
            node=environment.name,
            agent_version=environment.capabilities.agent_version,
            sandbox=environment.sandbox.name,
        )
        return Report(verdict=Verdict.PLATFORM_ERROR, reason=words[:4000], provenance=provenance, fault=words[:4000])
