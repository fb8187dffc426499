"""Counts the memory traffic of a solution's timed kernels and of the reference's, in runs of their own."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from runners.agent.ground.errors import ProfilerUnavailable
from runners.agent.ground.events import Progress
from runners.agent.ground.locks import Once
from runners.agent.job.environment import NodeEnvironment
from runners.agent.judges.command.references import References
from runners.agent.judges.command.runs import BenchmarkRun, benchmark
from runners.agent.judges.command.subject import CommandSubject
from runners.agent.judges.texts import how_it_ended
from runners.agent.profilers import require_profiler
from runners.agent.profilers.facts import Traffic
from runners.agent.profilers.ncu import NO_PERMISSION
from runners.agent.profilers.ncu_counters import ALL, MOST_SECONDS, WRITES, NcuCounters
from runners.agent.profilers.ncu_failure import OUT_OF_TIME
from runners.wire.protocol import Profiler

REMEMBERED = 4096
"""Maximum number of references whose traffic is remembered."""
logger = logging.getLogger(__name__)
ADMIN_ONLY = "the driver reserves the hardware counters for root"


@dataclass(frozen=True)
class Counted:
    """The traffic of one counter run, or the reason why it is not known."""

    traffic: Traffic | None = None
    why_not: str = ""


def _why_not(run: BenchmarkRun) -> str:
    """The reason in words that do not quote the program, because everybody may read them."""
    if NO_PERMISSION in (run.reading.error or ""):
        return NO_PERMISSION
    if run.reading.by_timer:
        return "ncu failed by itself"
    if run.outcome.exit_code in OUT_OF_TIME:
        return f"under ncu it did not end within {MOST_SECONDS:g} s or ten times its time limit"
    return "ncu's counts cannot be used" if run.outcome.succeeded else f"under ncu it {how_it_ended(run.outcome)}"


class Counting:
    """Counts traffic on this node. Remembers that of references."""

    def __init__(self, environment: NodeEnvironment, references: References) -> None:
        self._environment, self._references = environment, references
        self._known: Once[object, Counted] = Once(REMEMBERED)

    def of_reference(self, subject: CommandSubject, progress: Progress) -> Counted:
        """The traffic of the reference of the subject's problem, counted once for each device.

        A failure is not used for a rerun. Raises Cancelled, SandboxFault, UnusableProblem.
        """
        reference = subject.reference
        if reference is None:
            return Counted(why_not="the problem has no reference solution")
        key = reference.shared_key, reference.place.device

        def count() -> Counted:
            known = self._references.prepare(reference, progress)
            if not known.passed:
                return Counted(why_not="the reference does not pass here")
            counted = self._count(reference, known.product, ALL, progress)
            return counted if counted.traffic else Counted(why_not=f"of the reference: {counted.why_not}")

        known = self._known.known(key)
        if known is not None and known.traffic is None and subject.job.rules.purpose.is_fresh:
            self._known.forget(key, known)
        return self._known.get(key, count, progress.cancelled)

    def of_candidate(self, subject: CommandSubject, product: bytes, progress: Progress) -> Counted:
        """Counts the writes of the subject. Raises as `of_reference`."""
        return self._count(subject, product, WRITES, progress)

    def _count(self, subject: CommandSubject, product: bytes, metrics: Sequence[str], progress: Progress) -> Counted:
        if why := self._why_unavailable(subject.place.device):
            return Counted(why_not=why)
        timer = NcuCounters(subject.problem, metrics)
        with self._environment.lanes.benchmark(subject.place, goes_on=True) as seat:
            run = benchmark(self._environment, subject, product, timer, seat, progress)
        if run.reading.traffic is not None:
            return Counted(run.reading.traffic)
        logger.warning("the traffic of %s could not be counted: %s", subject.problem.task_id, run.reading.error)
        return Counted(why_not=_why_not(run))

    def _why_unavailable(self, device: str) -> str:
        """The reason why no program can be counted here, or ""."""
        gpus = self._environment.capabilities.gpus
        if any(gpu.profiling_admin_only for gpu in gpus if gpu.uuid == device):
            return ADMIN_ONLY
        try:
            require_profiler(Profiler.NCU)
        except ProfilerUnavailable as error:
            return str(error)
        return ""
