"""Audits the problems of a pack, one after another."""

import platform
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from podium.problems.audit.judging import Audited, Auditor, Judged
from podium.problems.readers import WARM
from podium.problems.sandboxed import SandboxedCall, call_each
from problems.formats.compute_eval.packs import ProblemPack
from problems.formats.mutants import made
from problems.spec.command.problem import CommandProblem
from problems.spec.function.problem import FunctionProblem
from problems.spec.record import ProblemRecord
from runners.agent import capabilities
from runners.agent.judges.registry import Judges
from runners.agent.sandbox import Sandbox

Tell = Callable[[ProblemRecord, Judged], None]
AUDIT_SCHEMA = "podium-audit/1"


def audited(
    pack: ProblemPack, judges: Judges, sandbox: Sandbox, workers: int, most: int, named: Sequence[str], tell: Tell
) -> Iterator[Audited]:
    """The audit of each problem that runs code, or of the named ones."""
    auditor = Auditor(judges, workers)
    for record in pack.records:
        problem = record.problem
        if not isinstance(problem, FunctionProblem | CommandProblem) or (named and problem.task_id not in named):
            continue
        yield _audited(problem, auditor, sandbox, most, tell)


def _audited(
    problem: FunctionProblem | CommandProblem, auditor: Auditor, sandbox: Sandbox, most: int, tell: Tell
) -> Audited:
    if why := made.why_none(problem):
        return Audited(problem, why_not=why)
    why_not, printed = auditor.reference(problem)
    if why_not:
        return Audited(problem, why_not=why_not)
    mutants = made.mutants_of(problem, most, printed=printed, operations=_operations(problem, sandbox))
    rows = auditor.judged(problem, mutants, lambda one: tell(problem, one))
    built = any(one.outcome != "not_run" for one in rows)
    return Audited(problem, rows, why_not="" if built else "no mutant was built and ran")


def _operations(problem: FunctionProblem | CommandProblem, sandbox: Sandbox) -> int:
    """The number of operations of a torch reference; 0 for numpy's, and where they cannot be counted."""
    if not isinstance(problem, FunctionProblem) or problem.manifest.arrays != "torch":
        return 0
    job = SandboxedCall("idle:operations", ("problem/def.py", "cpu", problem.device == "gpu"))
    files = {"problem/def.py": problem.definition.content}
    found = call_each(sandbox, [job], warm=WARM, files=files)[0].result
    return found if isinstance(found, int) else 0


def provenance(pack: ProblemPack, sandbox: str, most: int) -> dict[str, Any]:
    """Where an audit was made, and of what."""
    return {
        "schema": AUDIT_SCHEMA,
        "release": pack.metadata.release,
        "problems_sha256": pack.digest,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "most_mutants": most,
        "sandbox": sandbox,
        "cpu": capabilities.cpu_model(),
        "python": platform.python_version(),
    }
