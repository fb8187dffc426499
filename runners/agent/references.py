"""The problem's own solution on this node, built and tested once: the baseline, and what calibrates the witness."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from problems.spec.workspace_rules import strict_failure
from runners.agent import runs, steps
from runners.agent.artefact import EMPTY
from runners.agent.build_cache import Build
from runners.agent.environment import NodeEnvironment
from runners.agent.keyed import Once
from runners.agent.remembered import Kind
from runners.agent.sandbox.policy import Outcome
from runners.agent.task import Subject, Watcher
from runners.protocol import Witness

REMEMBERED = 64


@dataclass(frozen=True)
class Reference:
    """How the reference solution fared; `product` is what its build made."""

    passed: bool
    product: bytes = EMPTY
    witness: Witness = Witness.UNAVAILABLE


@dataclass(frozen=True)
class _Passed:
    """A test that a reference passed. Failures are not kept: a machine that was unwell may be well again."""

    witness: Witness


_PASSED = Kind("reference", _Passed)


class References:
    """The references of the problems that this node met lately.

    How a test went that was passed is kept on disk for an hour; products are in the build cache or made again.
    """

    def __init__(self, environment: NodeEnvironment) -> None:
        self._environment = environment
        self._known: Once[object, Reference] = Once(REMEMBERED)

    def prepare(self, reference: Subject, watcher: Watcher) -> Reference:
        """Build and test it, or recall how that went. Raises Cancelled, SandboxFault, UnusableProblem."""
        return self._known.get(reference.shared_key, lambda: self._try(reference, watcher), watcher.cancelled)

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
        return self._test(reference, product, watcher)

    def _test(self, reference: Subject, product: bytes, watcher: Watcher) -> Reference:
        remembered, key = self._environment.remembered, circumstances(self._environment, reference, product)
        passed = remembered.get(_PASSED, key)
        if passed is not None:
            return Reference(passed=True, product=product, witness=passed.witness)
        tested = runs.test(self._environment, reference, product, watcher)
        if tested.succeeded:
            remembered.put(_PASSED, key, _Passed(tested.witness))
        return Reference(tested.succeeded, product, tested.witness)

    def learn(self, subject: Subject, product: bytes, tested: Outcome) -> None:
        """Keep how a solution's test went that is the reference's own code, which need not be tested again for it."""
        reference = subject.reference
        if tested.succeeded and reference is not None and reference.files == subject.files:
            key = circumstances(self._environment, reference, product)
            self._environment.remembered.put(_PASSED, key, _Passed(tested.witness))

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


def circumstances(environment: NodeEnvironment, subject: Subject, product: bytes) -> Mapping[str, Any]:
    """All that the outcome of running this product of the subject here depends on, as JSON. Raises SandboxFault."""
    inputs = {path: hashlib.sha256(content).hexdigest() for path, content in subject.run_inputs.items()}
    return {
        "problem": subject.problem_sha256,
        "inputs": inputs,
        "solution": [file.path for file in subject.files],
        "product": hashlib.sha256(product).hexdigest(),
        "build_policy": asdict(subject.build_policy),
        "image": environment.image_for(subject.image),
        "limits": subject.limits.model_dump(mode="json"),
        **environment.identity(subject.place.device),
    }


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
