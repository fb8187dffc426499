"""Audits a pack with this machine's judges, and prints the outcome."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from podium.evaluation.judges import local_judges
from podium.problems.audit.judging import Judged
from podium.problems.audit.running import audited, provenance
from podium.refusals import say
from problems.formats.compute_eval.packs import read_problem_pack
from problems.formats.errors import PackRefused
from problems.formats.set_files import read_json
from problems.spec.command.problem import CommandProblem
from problems.spec.function.problem import FunctionProblem
from problems.spec.record import ProblemRecord
from runners.agent.ground.atomic import write_atomically
from runners.agent.sandbox import choose

MIN_COLUMNS = 150


@dataclass(frozen=True)
class PackAudit:
    """The audits of a pack's problems as a file holds them, in the pack's order, and where they were made."""

    provenance: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]

    @property
    def built(self) -> int:
        return sum(one["built"] for one in self.rows)

    @property
    def killed(self) -> int:
        return sum(one["killed"] for one in self.rows)

    def as_json(self) -> dict[str, Any]:
        rate = self.killed / self.built if self.built else None
        counts = {"built": self.built, "killed": self.killed, "kill_rate": rate}
        return {**self.provenance, **counts, "problems": self.rows}


@dataclass(frozen=True)
class AuditOrder:
    """The values of the command line. `out` is written after each problem; what it holds of the same audit is kept."""

    pack: Path
    sandbox: str | None
    workers: int
    most: int
    tasks: Sequence[str]
    explained: Path | None
    out: Path | None


def audit_pack(order: AuditOrder) -> PackAudit:
    """Audit a pack's problems, or the named ones. Raises PackRefused, SandboxUnavailable, ToolUnavailable."""
    pack = read_problem_pack(order.pack)
    explained = _reasons(order.explained)
    unknown = sorted(set(order.tasks) - {record.problem.task_id for record in pack.records})
    if unknown:
        raise PackRefused("unknown_task", f"the pack has no problem `{unknown[0]}`")
    problems = [one.problem for one in pack.records if isinstance(one.problem, FunctionProblem | CommandProblem)]
    box = choose(order.sandbox)
    try:
        made = provenance(pack, box.name, order.most)
        kept = _kept(order.out, made) if order.out is not None and order.out.exists() else {}

        def so_far() -> PackAudit:
            rows = [kept[one.task_id] for one in problems if one.task_id in kept]
            return PackAudit(made, [_explained(row, explained.get(row["task_id"], {})) for row in rows])

        wanted = order.tasks or [one.task_id for one in problems]
        done = {name for name, row in kept.items() if row["state"] != "not_audited"}
        todo = [one for one in problems if one.task_id in wanted and one.task_id not in done]
        with local_judges(order.sandbox, order.workers, bounded=False) as judges:
            for one in audited(todo, judges, box, order.workers, order.most, _tell):
                kept[one.problem.task_id] = one.as_json()
                _write(so_far(), order.out)
    finally:
        box.close()
    _write(so_far(), order.out)
    return so_far()


def _kept(out: Path, made: Mapping[str, Any]) -> dict[str, Any]:
    """The rows of an earlier file by the same pack, bounds, judges and machine, by task. Raises PackRefused."""
    found = read_json(out)
    held = found if isinstance(found, dict) else {}
    other = next((key for key in made if key != "made_at" and held.get(key) != made[key]), None)
    if other is not None:
        words = f"{out} holds another audit, or something else: its `{other}` differs; remove it or give another --out"
        raise PackRefused("other_audit", words)
    return {one["task_id"]: one for one in held["problems"]}


def _write(audit: PackAudit, out: Path | None) -> None:
    """Write the audit as JSON, if a file is wanted."""
    if out is None:
        return
    text = json.dumps(audit.as_json(), indent=1, ensure_ascii=False) + "\n"
    write_atomically(out, text.encode(), mode=0o644)


def _reasons(path: Path | None) -> dict[str, dict[str, str]]:
    """The explanations of a file: by problem, then by the survivor's title. Raises PackRefused."""
    found = {} if path is None else read_json(path)
    if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
        raise PackRefused("bad_json", f"{path}: must map problems to the titles of survivors and the reasons")
    return found


def _explained(row: Mapping[str, Any], reasons: Mapping[str, str]) -> dict[str, Any]:
    mutants = [
        one | {"explained": str(reasons.get(_title(one), ""))} if one["outcome"] == "survived" else one
        for one in row["mutants"]
    ]
    return {**row, "mutants": mutants}


def _title(mutant: Mapping[str, Any]) -> str:
    return f"{mutant['kind']} {mutant['name']}".strip()


def _tell(problem: ProblemRecord, one: Judged) -> None:
    if one.outcome == "survived":
        say(f"{problem.task_id}: {one.mutant.kind} {one.mutant.name} passed")


def show(audit: PackAudit) -> None:
    """Print each problem's counts and survivors."""
    table = Table("Problem", "Built", "Killed", "Rate", "Less precise", "Survivors, or why it was not audited")
    table.columns[0].overflow = "fold"
    for one in audit.rows:
        survivors = [row for row in one["mutants"] if row["outcome"] == "survived"]
        names = [f"{_title(row)} ({row['explained'] or 'not explained'})" for row in survivors]
        rate = "–" if one["kill_rate"] is None else f"{100 * one['kill_rate']:.1f} %"
        words = f"not audited: {one['why_not']}" if one["state"] == "not_audited" else "; ".join(names)
        made = f"{one['built']} of {one['made']}"
        table.add_row(one["task_id"], made, str(one["killed"]), rate, ", ".join(one["less_precise"]), Text(words))
    shown = Console()
    shown.width = max(shown.width, MIN_COLUMNS)
    shown.print(table)
    if audit.built:
        share = f"{100 * audit.killed / audit.built:.1f} %"
        shown.print(f"{audit.killed} of {audit.built} mutants that ran were killed: {share}.", highlight=False)
