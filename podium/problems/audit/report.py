"""Audits a pack with this machine's judges, and prints the outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from podium.evaluation.judges import local_judges
from podium.problems.audit.judging import Audited, Judged
from podium.problems.audit.running import audited, provenance
from podium.refusals import say
from problems.formats.compute_eval.packs import read_problem_pack
from problems.formats.errors import PackRefused
from problems.formats.set_files import read_json
from problems.spec.record import ProblemRecord
from runners.agent.sandbox import choose

MIN_COLUMNS = 150


@dataclass(frozen=True)
class PackAudit:
    """The audits of a pack's problems, and where they were made."""

    provenance: Mapping[str, Any]
    problems: Sequence[Audited]

    @property
    def built(self) -> int:
        return sum(one.built for one in self.problems)

    @property
    def killed(self) -> int:
        return self.built - sum(len(one.survivors) for one in self.problems)

    def as_json(self) -> dict[str, Any]:
        rate = self.killed / self.built if self.built else None
        counts = {"built": self.built, "killed": self.killed, "kill_rate": rate}
        return {**self.provenance, **counts, "problems": [one.as_json() for one in self.problems]}


def audit_pack(
    path: Path, sandbox_name: str | None, workers: int, most: int, named: Sequence[str], reasons: Path | None
) -> PackAudit:
    """Audit a pack's problems, or the named ones. Raises PackRefused, SandboxUnavailable, ToolUnavailable."""
    pack = read_problem_pack(path)
    explained = _reasons(reasons)
    unknown = sorted(set(named) - {record.problem.task_id for record in pack.records})
    if unknown:
        raise PackRefused("unknown_task", f"the pack has no problem `{unknown[0]}`")
    box = choose(sandbox_name)
    try:
        with local_judges(sandbox_name, workers, bounded=False) as judges:
            found = list(audited(pack, judges, box, workers, most, named, _tell))
    finally:
        box.close()
    found = [_explained(one, explained.get(one.problem.task_id, {})) for one in found]
    return PackAudit(provenance(pack, sandbox_name or type(box).__name__, most), found)


def _reasons(path: Path | None) -> dict[str, dict[str, str]]:
    """The explanations of a file: by problem, then by the survivor's title. Raises PackRefused."""
    found = {} if path is None else read_json(path)
    if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
        raise PackRefused("bad_json", f"{path}: must map problems to the titles of survivors and the reasons")
    return found


def _explained(one: Audited, reasons: Mapping[str, str]) -> Audited:
    return replace(one, rows=[replace(row, explained=str(reasons.get(row.title, ""))) for row in one.rows])


def _tell(problem: ProblemRecord, one: Judged) -> None:
    if one.outcome == "survived":
        say(f"{problem.task_id}: {one.mutant.kind} {one.mutant.name} passed")


def show(audit: PackAudit) -> None:
    """Print each problem's counts and survivors."""
    table = Table("Problem", "Built", "Killed", "Rate", "Less precise", "Survivors, or why it was not audited")
    table.columns[0].overflow = "fold"
    for one in audit.problems:
        names = [f"{row.title} ({row.explained or 'not explained'})" for row in one.survivors]
        rate = "–" if one.kill_rate is None else f"{100 * one.kill_rate:.1f} %"
        words = f"not audited: {one.why_not}" if one.state == "not_audited" else "; ".join(names)
        killed = one.built - len(one.survivors)
        made = f"{one.built} of {len(one.rows)}"
        table.add_row(one.problem.task_id, made, str(killed), rate, ", ".join(one.less_precise), Text(words))
    shown = Console()
    shown.width = max(shown.width, MIN_COLUMNS)
    shown.print(table)
    if audit.built:
        share = f"{100 * audit.killed / audit.built:.1f} %"
        shown.print(f"{audit.killed} of {audit.built} mutants that ran were killed: {share}.", highlight=False)
