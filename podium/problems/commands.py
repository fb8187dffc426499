"""The commands `podium problems import` and `podium problems audit`."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from podium.evaluation.sandboxes import SandboxName
from podium.problems.exporting import export
from podium.problems.importing import pack_of, write_folder, write_references, write_solutions
from podium.problems.readers import SetFormat, read_pmpp, read_set
from podium.refusals import refuse, refusing, say
from problems.formats.compute_eval.packs import ProblemPack, read_problem_pack, write_problem_pack
from problems.formats.errors import PackRefused
from problems.formats.problem_sets import SetRead, State
from problems.formats.set_solutions import converted
from problems.spec.function.problem import FunctionProblem
from runners.agent import capabilities
from runners.agent.devices.gpus import UnknownGpu
from runners.agent.devices.tool import ToolUnavailable
from runners.agent.sandbox import SandboxUnavailable, choose

FINE, SOME_REFUSED = 0, 1
MIN_COLUMNS = 160
app = typer.Typer(help="Import problems of other forms, and audit packs.", no_args_is_help=True)
app.command()(export)


@app.callback()
def _group() -> None:
    """Import problems of other forms, and audit packs."""


@app.command("import")
def import_(
    format_: Annotated[SetFormat, typer.Argument(metavar="FORMAT", help="The set's form.")],
    path: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="The set's folder on this machine.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The pack to write, as set.tar.gz.")] = None,
    folders: Annotated[Path | None, typer.Option(help="Also write each problem's folder here, to be changed.")] = None,
    release: Annotated[str, typer.Option(help="The pack's name.")] = "imported",
    device: Annotated[Literal["gpu", "cpu"], typer.Option(help="Where the problems' tensors are.")] = "gpu",
    report: Annotated[Path | None, typer.Option(help="Also write the report to this file, as JSON.")] = None,
    references: Annotated[Path | None, typer.Option(help="Also write the references, as a solutions pack.")] = None,
    sandbox: Annotated[SandboxName | None, typer.Option(help="What confines the set's files.")] = None,
) -> None:
    """Read another's problem set. Without targets, only the report is made.

    Exit status: 0 all problems were read, 1 some were refused, 2 nothing but the report was written.
    """
    _refuse_without_folder(out, folders, report, references)
    with refusing(PackRefused, SandboxUnavailable, ToolUnavailable, UnknownGpu):
        box = choose(sandbox.value if sandbox else None)
        try:
            uuids = tuple(gpu.uuid for gpu in capabilities.gpus_by_nvidia_smi())[:1] if device == "gpu" else ()
            if format_ == "pmpp":
                found: tuple[SetRead, ProblemPack | None] = read_pmpp(path, release)
            else:
                found = pack_of(read_set(format_, path, device, box), release, box, uuids)
        finally:
            box.close()
        read, pack = found
        _show(read)
        if report is not None:
            rows = [one.as_json() for one in read.problems]
            report.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        if pack is None:
            refuse("No problem of the set could be read; nothing was written.")
        if folders is not None:
            for one in read.readable:
                write_folder(folders / one.slug, one.files)
        if out is not None:
            write_problem_pack(out, pack.metadata_bytes, pack.jsonl_bytes)
            say(f"{out}: {len(pack.records)} of {len(read.problems)} problems imported.")
        if references is not None:
            write_references(references, pack)
    raise typer.Exit(SOME_REFUSED if read.having("refused") else FINE)


@app.command()
def adapt(
    format_: Annotated[SetFormat, typer.Argument(metavar="FORMAT", help="The solutions' form.")],
    path: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="A folder of solutions of this form.")],
    problems: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="The pack that `import` made.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The solutions pack to write.")],
) -> None:
    """Turn solutions of another form, such as files with a `ModelNew`, into samples. Nothing of them runs.

    Exit status: 0 all were converted, 1 some were refused, 2 nothing was written.
    """
    with refusing(PackRefused):
        pack = read_problem_pack(problems)
        functions = {one.problem.task_id: one.problem for one in pack.records}
        rows = converted(
            format_, path, {name: one for name, one in functions.items() if isinstance(one, FunctionProblem)}
        )
        samples = [one.solution for one in rows if one.solution is not None]
        for one in rows:
            if one.refused:
                say(f"{one.source}: {one.refused}")
        if not samples:
            refuse("No solution could be converted; nothing was written.")
        write_solutions(out, pack, samples)
    say(f"{out}: {len(samples)} of {len(rows)} solutions converted.")
    raise typer.Exit(SOME_REFUSED if len(samples) < len(rows) else FINE)


@app.command()
def audit(
    pack: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A problem pack.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write the audit to this file, as JSON; run again to go on.")
    ] = None,
    explained: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="JSON: problem, survivor, the reason it is fine.")
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="Only this problem; may be given several times.")] = None,
    most: Annotated[int, typer.Option(min=1, max=1000, help="The most mutants of a problem.")] = 60,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Mutants judged at a time.")] = 2,
    sandbox: Annotated[SandboxName | None, typer.Option(help="What confines the mutants.")] = None,
) -> None:
    """Judge answers that do no work, and say which of them each problem's check accepts.

    A mutant counts if it was built and ran.

    Exit status: 0 none survived, 1 some did or a problem was not audited, 2 the pack cannot be used.
    """
    from podium.problems.audit.report import AuditOrder, audit_pack, show  # a node's packages load slowly

    _refuse_without_folder(out)
    order = AuditOrder(pack, sandbox.value if sandbox else None, workers, most, task or [], explained, out)
    with refusing(PackRefused, SandboxUnavailable, ToolUnavailable, UnknownGpu):
        found = audit_pack(order)
    show(found)
    raise typer.Exit(FINE if all(one["state"] == "passed" for one in found.rows) else SOME_REFUSED)


def _refuse_without_folder(*targets: Path | None) -> None:
    for target in targets:
        if target is not None and not target.parent.is_dir():
            refuse(f"there is no folder {target.parent} for {target.name}: make it, or name another place")


def _counts(read: SetRead) -> str:
    counts = ", ".join(f"{len(read.having(state))} {words}" for state, words in _STATES)
    return f"{len(read.problems)} problem{'' if len(read.problems) == 1 else 's'}: {counts}."


_STATES: tuple[tuple[State, str], ...] = (("read", "read"), ("changed", "read with a change"), ("refused", "refused"))


def _show(read: SetRead) -> None:
    """Print the report: every problem that was changed or refused."""
    table = Table("Problem", "State", "Line", "What and what would help")
    table.columns[0].overflow = "fold"
    for one in read.problems:
        if one.state != "read":
            words = f"{one.refused}; {one.remedy}" if one.refused else "; ".join(one.notes)
            table.add_row(one.source, one.state, str(one.line or ""), Text(words))
    shown = Console()
    shown.width = max(shown.width, MIN_COLUMNS)
    shown.print(_counts(read), markup=False, highlight=False)
    if table.row_count:
        shown.print(table)
    if read.terms:
        shown.print(read.terms, markup=False, highlight=False)
