"""`podium check`: reads a submission offline with the very code that the site reads it with."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from podium.evaluation.inputs import read_problems
from problems.formats.compute_eval.packs import ProblemPack
from problems.formats.errors import PackRefused
from problems.formats.submission import Catalogue, SubmissionDraft, read_samples

FINE, SOME_INVALID, REFUSED = 0, 1, 2
told = Console(soft_wrap=True)


def check(
    pack: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A solutions pack, zip or .jsonl file.")],
    problems: Annotated[
        Path, typer.Option(exists=True, help="The problem pack (or folder) that the solutions answer.")
    ],
    strict: Annotated[bool, typer.Option("--strict", help="Apply ComputeEval's own rules to the whole pack.")] = False,
) -> None:
    """Check a submission without sending it, line by line.

    Exit status: 0 all samples may be graded, 1 some are invalid or unknown, 2 the file is refused.
    """
    try:
        catalogue = Catalogue.of_pack(_problems(problems, pack))
        draft = read_samples(pack, pack.name, catalogue, strict=strict)
    except PackRefused as refused:
        _say(f"refused ({refused.code}): {refused.message}")
        raise typer.Exit(REFUSED) from None
    for line in report(draft):
        _say(line)
    raise typer.Exit(SOME_INVALID if draft.unknown or any(one.invalid_reason for one in draft.samples) else FINE)


def _problems(source: Path, pack: Path) -> ProblemPack:
    return read_problems(source, [pack])


def report(draft: SubmissionDraft) -> Iterator[str]:
    """What there is to say: notices, every unknown task, every invalid sample, and the sum."""
    yield from (notice.message for notice in draft.notices)
    yield from (f"line {notice.line}: {notice.message}" for notice in draft.unknown)
    bad = [sample for sample in draft.samples if sample.invalid_reason]
    for sample in bad:
        where = f"line {sample.line_number}: " if sample.line_number else ""
        yield f"{where}{sample.task_id} sample {sample.index} is invalid: {sample.invalid_reason}"
    fine = len(draft.samples) - len(bad)
    yield f"{fine} of {len(draft.samples)} samples of {len(draft.sample_counts)} problems may be graded."


def _say(words: str) -> None:
    told.print(words.encode(errors="backslashreplace").decode(), markup=False, highlight=False)
