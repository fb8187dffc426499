"""The command `podium pmpp import`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from podium.refusals import refuse, told
from problems.formats.compute_eval.packs import write_problem_pack
from problems.formats.errors import PackRefused
from problems.formats.pmpp.packs import ImportedPack, TaskReport, read_pmpp_checkout
from problems.spec.errors import RecordError

FINE, SOME_REFUSED = 0, 1
MIN_COLUMNS = 160
"""Narrower, the notes would be columns of single words."""
app = typer.Typer(help="Import tasks in the layout of PMPP.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Import tasks in the layout of PMPP."""


@app.command("import")
def import_(
    checkout: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="The checkout, or one task's folder.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The pack to write, as pmpp-problems.tar.gz.")],
    release: Annotated[str, typer.Option(help="The pack's name.")] = "pmpp",
    report: Annotated[Path | None, typer.Option(help="Also write the report to this file, as JSON.")] = None,
) -> None:
    """Turn a checkout into a pack of command problems, one for each folder with a Makefile. Nothing of it runs.

    Exit status: 0 all tasks were imported, 1 some were left out, 2 nothing was written.
    """
    try:
        imported = read_pmpp_checkout(checkout, release)
        write_problem_pack(out, imported.pack.metadata_bytes, imported.pack.jsonl_bytes)
        if report is not None:
            tasks = [asdict(task) for task in imported.tasks]
            report.write_text(json.dumps(tasks, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except (PackRefused, RecordError) as error:
        refuse(str(error))
    except OSError as error:
        refuse(f"{error.filename or 'A file'} cannot be used: {error.strerror or error}")
    shown = Console()
    shown.width = max(shown.width, MIN_COLUMNS)
    shown.print(_table(imported))
    for task in imported.refused:
        told.print(task.refused, style="red", markup=False, highlight=False)
    count = len(imported.pack.records)
    told.print(f"{out}: {count} of {len(imported.tasks)} tasks imported.", markup=False, highlight=False)
    raise typer.Exit(SOME_REFUSED if imported.refused else FINE)


def _table(imported: ImportedPack) -> Table:
    table = Table("Chapter", "Task", "Files", "Architecture", "Counts", "Notes")
    for column in table.columns[:-1]:
        column.no_wrap = True
    for task in imported.tasks:
        table.add_row(*(Text(cell) for cell in _cells(task)))
    return table


def _cells(task: TaskReport) -> tuple[str, ...]:
    dropped = [f"dropped {one.path}: {one.reason}" for one in task.dropped]
    notes = ["not imported; see below"] if task.refused else list(task.notes)
    counts = "yes" if task.counts else "no"
    return task.group, task.name, str(len(task.files)), task.architecture, counts, "\n".join([*dropped, *notes])
