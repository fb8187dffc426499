"""The problem's own solution on this node, built and tested once: the baseline, and what calibrates the witness."""

from dataclasses import dataclass

from problems.spec.workspace_rules import strict_failure
from runners.agent import runs, steps
from runners.agent.artefact import EMPTY
from runners.agent.build_cache import Build
from runners.agent.environment import NodeEnvironment
from runners.agent.keyed import Once
from runners.agent.task import Subject, Watcher
from runners.protocol import Witness

REMEMBERED = 64


@dataclass(frozen=True)
class Reference:
    """How the reference solution fared; `product` is what its build made."""

    passed: bool
    product: bytes = EMPTY
    witness: Witness = Witness.UNAVAILABLE


class References:
    """The references of the problems that this node met lately."""

    def __init__(self, environment: NodeEnvironment) -> None:
        self._environment = environment
        self._known: Once[object, Reference] = Once(REMEMBERED)

    def prepare(self, reference: Subject, watcher: Watcher) -> Reference:
        """Build and test it, or recall how that went. Raises Cancelled, SandboxFault, UnusableProblem."""
        return self._known.get(reference.shared_key, lambda: self._try(reference, watcher))

    def build(self, reference: Subject, watcher: Watcher) -> Build | None:
        """Build it, or find it built; None where there is nothing to build. Raises as `prepare`."""
        if not reference.problem.build_command or not _may_be_judged(reference):
            return None
        return steps.build(self._environment, reference, watcher)

    def _try(self, reference: Subject, watcher: Watcher) -> Reference:
        if not _may_be_judged(reference):
            return Reference(passed=False)
        built = self.build(reference, watcher)
        if built is not None and not built.succeeded:
            return Reference(passed=False)
        product = built.product if built is not None else EMPTY
        tested = runs.test(self._environment, reference, product, watcher)
        return Reference(tested.succeeded, product, tested.witness)

    def judge(self, subject: Subject, witness: Witness, watcher: Watcher) -> Witness:
        """What a witness's word is worth.

        A contradiction counts unless the problem's own reference, passing, is contradicted here too: then this harness
        ends in a way that the witness cannot follow, and nothing is known.
        """
        reference = subject.reference
        if witness is not Witness.CONTRADICTED or reference is None:
            return witness
        known = self.prepare(reference, watcher)
        if known.passed and known.witness is Witness.CONTRADICTED:
            return Witness.UNAVAILABLE
        return witness


def missing_names(subject: Subject) -> list[str]:
    """The source references that the subject's files lack."""
    if subject.problem.source_references is None:
        return []
    # Grammars take a while to load, and most problems ask for no names.
    from problems.formats.compute_eval.source_references import missing

    return missing(subject.problem.source_references, subject.files)


def _may_be_judged(reference: Subject) -> bool:
    """Whether the reference meets what ComputeEval asks of any solution before it is built."""
    baseline = reference.problem.baseline_solution
    sound = baseline is not None and strict_failure(reference.problem, baseline) is None
    return sound and not missing_names(reference)
