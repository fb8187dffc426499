"""Audits the problems of a pack, one after another."""

import platform
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from podium.problems.audit.judging import Audited, Auditor, Judged
from podium.problems.readers import WARM
from podium.problems.sandboxed import MissingTorch, SandboxedCall, call_each
from problems.formats.compute_eval.packs import ProblemPack
from problems.formats.mutants import made
from problems.spec.command.problem import CommandProblem
from problems.spec.function.problem import FunctionProblem
from problems.spec.record import ProblemRecord
from runners.agent import capabilities
from runners.agent.judges.registry import Judges
from runners.agent.sandbox import Sandbox
from runners.wire.protocol import JUDGE_VERSIONS

AuditedProblem = FunctionProblem | CommandProblem
Tell = Callable[[ProblemRecord, Judged], None]
AUDIT_SCHEMA = "podium-audit/1"


def audited(
    problems: Sequence[AuditedProblem], judges: Judges, sandbox: Sandbox, workers: int, most: int, tell: Tell
) -> Iterator[Audited]:
    """The audit of each problem in turn: a judge keeps the checker of the problem that it has judged last."""
    auditor = Auditor(judges, workers)
    operations = _operations(problems, sandbox)
    for problem in problems:
        yield _audited(problem, auditor, operations.get(problem.task_id, ()), most, tell)


def _audited(problem: AuditedProblem, auditor: Auditor, operations: Sequence[str], most: int, tell: Tell) -> Audited:
    if why := made.why_none(problem):
        return Audited(problem, why_not=why)
    why_not, printed = auditor.reference(problem)
    if why_not:
        return Audited(problem, why_not=why_not)
    mutants = made.mutants_of(problem, most, printed=printed, operations=operations)
    rows = auditor.judged(problem, mutants, lambda one: tell(problem, one))
    built = any(one.outcome != "not_run" for one in rows)
    return Audited(problem, rows, why_not="" if built else "no mutant was built and ran")


def _operations(problems: Sequence[AuditedProblem], sandbox: Sandbox) -> dict[str, list[str]]:
    """The operations of torch references, by task; a reference whose operations cannot be named is left out."""
    torch = [one for one in problems if isinstance(one, FunctionProblem) and one.manifest.arrays == "torch"]
    files = {f"{number}/def.py": one.definition.content for number, one in enumerate(torch)}
    jobs = [
        SandboxedCall("idle:operations", (path, "cpu", one.device == "gpu"))
        for path, one in zip(files, torch, strict=True)
    ]
    try:
        answers = call_each(sandbox, jobs, warm=WARM, files=files) if jobs else []
    except MissingTorch:
        return {}  # their references will not pass, either
    found = zip(torch, answers, strict=True)
    return {one.task_id: answer.result for one, answer in found if isinstance(answer.result, list)}


def provenance(pack: ProblemPack, sandbox: str, most: int) -> dict[str, Any]:
    """Where an audit was made, and of what."""
    return {
        "schema": AUDIT_SCHEMA,
        "release": pack.metadata.release,
        "problems_sha256": pack.digest,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "most_mutants": most,
        "sandbox": sandbox,
        "judge_versions": {kind.value: version for kind, version in JUDGE_VERSIONS.items()},
        "cpu": capabilities.cpu_model(),
        "gpus": [gpu.name for gpu in capabilities.gpus_by_nvidia_smi()],
        "python": platform.python_version(),
    }
