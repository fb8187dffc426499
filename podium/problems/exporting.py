"""`podium problems export`: graded rows in the forms of KernelBench and FlashInfer Trace, for their own tools."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from podium.refusals import refuse, refusing, say
from problems.formats.errors import PackRefused
from problems.formats.flashinfer.checkout import definition_files
from problems.formats.flashinfer.traces import flashinfer_traces
from problems.formats.graded_rows import GradedRow, read_graded_rows
from problems.formats.kernelbench.results import kernelbench_results
from problems.formats.set_files import slug_of

FINE, SOME_LEFT_OUT = 0, 1
MOST_SAID = 20


def export(
    format_: Annotated[
        Literal["kernelbench", "flashinfer", "sol-execbench"], typer.Argument(metavar="FORMAT", help="The form.")
    ],
    graded: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="What `podium evaluate` wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write into.")],
    problem_set: Annotated[
        Path | None, typer.Option("--set", exists=True, file_okay=False, help="The set's folder; traces need it.")
    ] = None,
    author: Annotated[str, typer.Option(help="The author of the traces' solutions.")] = "podium",
) -> None:
    """Write results for another benchmark's tools: `eval_results.json` of each level, or traces of each definition.

    Times are this judge's, and the files say so.

    Exit status: 0 all rows are written, 1 some have no place there, 2 nothing was written.
    """
    with refusing(PackRefused):
        rows = [one.row for one in read_graded_rows(graded)]
        written, left_out = (
            _kernelbench(rows) if format_ == "kernelbench" else _traces(rows, format_, problem_set, author)
        )
        for words in left_out[:MOST_SAID]:
            say(f"left out: {words}")
        if len(left_out) > MOST_SAID:
            say(f"and {len(left_out) - MOST_SAID} more are left out.")
        if not written:
            refuse("No row has a place in this form; nothing was written.")
        for path, text in written.items():
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            (out / path).write_text(text, encoding="utf-8")
    say(f"{out}: {', '.join(sorted(map(str, written)))}.")
    raise typer.Exit(SOME_LEFT_OUT if left_out else FINE)


def _kernelbench(rows: list[GradedRow]) -> tuple[dict[Path, str], list[str]]:
    found = kernelbench_results(rows)
    files = {
        Path(f"level{level}", "eval_results.json"): json.dumps(problems, indent=4) + "\n"
        for level, problems in found.levels.items()
    }
    return files, found.left_out


def _traces(
    rows: list[GradedRow], dialect: Literal["flashinfer", "sol-execbench"], root: Path | None, author: str
) -> tuple[dict[Path, str], list[str]]:
    if root is None:
        refuse("Traces name the workloads of their set: give its folder with --set.")
    if not author.replace("-", "").replace("_", "").isalnum():
        refuse("--author is a name of letters, digits, - and _: it is a folder of the set.")
    found = flashinfer_traces(rows, definition_files(root, dialect), author)
    files = {
        Path("traces", author, _plain(found.op_types[name] or "imported"), f"{_plain(name)}.jsonl"): "\n".join(lines)
        + "\n"
        for name, lines in found.lines.items()
    }
    return files, found.left_out


def _plain(name: str) -> str:
    """The name as a file's: itself if it is one, for the set's names are any text."""
    letters = name.replace("_", "").replace("-", "")
    return name if letters.isascii() and letters.isalnum() else slug_of(name)
