"""`podium slim`: removes problems, tests and outputs from graded rows, so that they may be published."""

from pathlib import Path
from typing import Annotated

import typer

from problems.formats.errors import PackRefused
from problems.formats.graded_rows import lean_file

BAD_INPUT = 2


def slim(
    graded: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="What `podium evaluate` wrote.")],
    out: Annotated[Path, typer.Option(help="The lean file to write: gzipped JSON lines.")],
) -> None:
    """Take problem texts, tests and outputs out of graded rows; solutions, verdicts, times and provenance stay.

    `manage.py import_results` takes both forms. Exit status: 0 written, 2 the file is refused.
    """
    try:
        content = lean_file(graded)
    except PackRefused as refused:
        typer.echo(f"{graded}: {refused.message}", err=True)
        raise typer.Exit(BAD_INPUT) from None
    out.write_bytes(content)
    typer.echo(f"{out}: {len(content):,} bytes.")
