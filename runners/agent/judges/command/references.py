"""The problem's own solution, built and tested once on this node. It is the baseline and calibrates the witness."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from problems.spec.command.workspace_rules import strict_failure
from runners.agent.ground.events import Progress
from runners.agent.ground.locks import Once
from runners.agent.job.artefact import EMPTY
from runners.agent.job.build_cache import Build
from runners.agent.job.building import build
from runners.agent.job.environment import NodeEnvironment
from runners.agent.judges.command.runs import test
from runners.agent.judges.command.subject import CommandSubject
from runners.agent.sandbox.policy import Outcome
from runners.wire.protocol import Witness

REMEMBERED = 64
"""Maximum number of references. Each keeps its product in memory."""
FAILURE_SECONDS = 300.0
"""After this time a reference that failed is tried again, because the machine may have been to blame."""


@dataclass(frozen=True)
class Reference:
    """The test result of a reference solution, and the product of its build."""

    passed: bool
    tried_at: float = 0.0
    """Time of the test, by the clock of `References`."""
    product: bytes = EMPTY
    witness: Witness = Witness.UNAVAILABLE


class References:
    """The references of recent problems."""

    def __init__(self, environment: NodeEnvironment, clock: Callable[[], float] = time.monotonic) -> None:
        self._environment, self._clock = environment, clock
        self._known: Once[object, Reference] = Once(REMEMBERED)

    def prepare(self, reference: CommandSubject, progress: Progress) -> Reference:
        """Build and test the reference, or return the kept result. A failure is kept for FAILURE_SECONDS, and is not
        used for a rerun.

        Raises Cancelled, SandboxFault, UnusableProblem.
        """
        began = self._clock()
        known = self._prepare(reference, progress)
        holds_until = known.tried_at + (0.0 if reference.job.rules.purpose.is_fresh else FAILURE_SECONDS)
        if known.passed or began <= holds_until:
            return known
        self._known.forget(reference.shared_key, known)
        return self._prepare(reference, progress)

    def _prepare(self, reference: CommandSubject, progress: Progress) -> Reference:
        return self._known.get(reference.shared_key, lambda: self._try(reference, progress), progress.cancelled)

    def build(self, reference: CommandSubject, progress: Progress) -> Build | None:
        """Build the reference, or return the cached build; None if there is nothing to build. Raises as `prepare`."""
        order = reference.build_order
        return build(self._environment, order, progress) if order and _may_be_judged(reference) else None

    def _try(self, reference: CommandSubject, progress: Progress) -> Reference:
        if not _may_be_judged(reference):
            return self._failed()
        built = self.build(replace(reference, job=reference.job.afresh), progress)
        if built is not None and not built.succeeded:
            return self._failed()
        product = built.product if built is not None else EMPTY
        tested = test(self._environment, reference, product, progress)
        return Reference(tested.succeeded, self._clock(), product, tested.witness)

    def _failed(self) -> Reference:
        return Reference(passed=False, tried_at=self._clock())

    def learn(self, subject: CommandSubject, product: bytes, tested: Outcome) -> None:
        """Remember the passed test of a solution whose files are the reference's, so that it is not tested again."""
        reference = subject.reference
        if tested.succeeded and reference is not None and subject.is_reference:
            passed = Reference(passed=True, product=product, witness=tested.witness)
            self._known.get(reference.shared_key, lambda: passed, subject.place.cancelled)

    def judge(self, subject: CommandSubject, witness: Witness, progress: Progress) -> Witness:
        """The witness to report.

        A contradiction does not count if the problem's own reference passes and is contradicted, too. This harness then
        ends in a way that the witness cannot follow.
        """
        reference = subject.reference
        if witness is not Witness.CONTRADICTED or reference is None:
            return witness
        known = self.prepare(reference, progress)
        if known.passed and known.witness is Witness.CONTRADICTED:
            return Witness.UNAVAILABLE
        return witness

    def may_accuse_wrongly(self, subject: CommandSubject, progress: Progress) -> bool:
        """Whether a contradiction may come from the harness itself, which ends by a call that could be the solution's.

        Then the reference is contradicted as well if only the return of `main` counts as the end. Raises as `prepare`.
        """
        reference = subject.reference
        if reference is None or not subject.sources.is_mixed:
            return False
        strictly = self.prepare(replace(reference, only_main_ends=True), progress)
        return strictly.passed and strictly.witness is Witness.CONTRADICTED


def missing_names(subject: CommandSubject) -> list[str]:
    """The source references that the subject's files lack."""
    if subject.problem.source_references is None:
        return []
    # Imported here because grammars load slowly and most problems require no names.
    from problems.formats.compute_eval.source_references import missing

    return missing(subject.problem.source_references, subject.files)


def _may_be_judged(reference: CommandSubject) -> bool:
    """Whether the reference passes the checks that ComputeEval makes before a build."""
    baseline = reference.problem.baseline_solution
    sound = baseline is not None and strict_failure(reference.problem, baseline) is None
    return sound and not missing_names(reference)
