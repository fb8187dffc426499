"""The commands `podium questions check` and `pack`."""

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from podium.refusals import refusing, say
from problems.formats.compute_eval.packs import problem_metadata_for, write_problem_pack
from problems.formats.errors import PackRefused
from problems.formats.questions.lines import Questions, read_questions
from problems.spec.errors import RecordError
from problems.spec.kinds import Kind
from problems.spec.pack import parse_problem_metadata
from problems.spec.profile import Profile
from problems.spec.question.problem import Grading

app = typer.Typer(help="Check and pack questions: choices and short answers.", no_args_is_help=True)
shown = Console(soft_wrap=True)

File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="One question a line, as JSON.")]
Reading = Annotated[
    Grading, typer.Option(help="How replies are read where a line does not say: lenient, or as pmpp-eval does.")
]


@app.command()
def check(file: File, grading: Reading = "lenient") -> None:
    """Read a file of questions and count them by group and kind. Exit status: 0 fine, 2 refused."""
    with refusing(PackRefused, RecordError):
        _tell(read_questions(file, grading))


@app.command()
def pack(
    file: File,
    out: Annotated[Path, typer.Option("--out", "-o", help="The pack to write, as quiz-problems.tar.gz.")],
    release: Annotated[str, typer.Option(help="The release's name.")],
    title: Annotated[str, typer.Option(help="The release's title; its name where it is left out.")] = "",
    grading: Reading = "lenient",
) -> None:
    """Write a problem pack of the questions alone. Exit status: 0 written, 2 refused."""
    with refusing(PackRefused, RecordError):
        questions = read_questions(file, grading)
        lines = [(one.task_id, one.to_line()) for one in questions.problems]
        fields = {"release": release, "title": title, "profile": Profile.PODIUM.value, "total_count": len(lines)}
        created = {"created_at": datetime.fromtimestamp(file.stat().st_mtime).isoformat()}
        metadata = problem_metadata_for(parse_problem_metadata(fields | created), lines)
        write_problem_pack(out, metadata, [line for _, line in lines])
    _tell(questions)
    say(f"{out}: {len(lines)} questions.")


def _tell(questions: Questions) -> None:
    counts = Counter((one.group, one.kind) for one in questions.problems)
    table = Table("Group", "Choices", "Short answers")
    for group in sorted({group for group, _ in counts}):
        table.add_row(group, *(str(counts[group, kind]) for kind in (Kind.CHOICE, Kind.SHORT_ANSWER)))
    table.add_section()
    totals = (sum(n for (_, one), n in counts.items() if one is kind) for kind in (Kind.CHOICE, Kind.SHORT_ANSWER))
    table.add_row("all", *map(str, totals))
    shown.print(table)
    if questions.ignored:
        say(f"These fields were not read: {', '.join(questions.ignored)}.")
