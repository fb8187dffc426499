"""`podium check`: checks a submission offline with the site's own reader."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from podium.evaluation.inputs import read_problems
from podium.remote.upload import CannotSend, opened_pack
from problems.formats.compute_eval.packs import read_solution_pack
from problems.formats.coverage import absent_counts
from problems.formats.errors import PackRefused
from problems.formats.submission import Catalogue, IncomingSubmission, read_samples
from problems.spec.command.workspace_rules import WorkspaceRules
from problems.spec.errors import RecordError
from problems.spec.numbered import numbered
from problems.spec.profile import Profile
from problems.spec.solution import load_object

FINE, SOME_INVALID, REFUSED = 0, 1, 2
told = Console(soft_wrap=True)


def check(
    pack: Annotated[
        Path, typer.Argument(exists=True, help="A solutions pack, a folder of solutions, a zip or a .jsonl file.")
    ],
    problems: Annotated[
        Path | None, typer.Option(exists=True, help="The problem pack (or folder) that the solutions answer.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Apply ComputeEval's own rules to the whole pack.")] = False,
) -> None:
    """Check a submission without sending it, line by line.

    Exit status: 0 all samples may be graded, 1 some are invalid or unknown, 2 the file is refused.
    """
    try:
        catalogue = Catalogue.of_pack(read_problems(problems, [pack])) if problems else _catalogue_of_answers(pack)
        with opened_pack(pack) as (name, file):
            incoming = read_samples(file, name, catalogue, strict=strict)
    except PackRefused as refused:
        _say(f"refused ({refused.code}): {refused.message}")
        raise typer.Exit(REFUSED) from None
    except CannotSend as unusable:
        _say(f"refused: {unusable}")
        raise typer.Exit(REFUSED) from None
    for line in report(incoming):
        _say(line)
    if problems:
        _say(coverage_words(incoming, catalogue))
    raise typer.Exit(SOME_INVALID if incoming.unknown or any(one.invalid_reason for one in incoming.samples) else FINE)


def _catalogue_of_answers(pack: Path) -> Catalogue:
    """A catalogue of the pack's own tasks, for checks of records and paths without the release."""
    if not pack.name.endswith((".tar.gz", ".tgz")):
        words = f"only a .tar.gz pack names its tasks; to check {pack.name}, give the problems with --problems"
        raise PackRefused("needs_problems", words)
    _say("Without --problems only records and paths are checked, not what each problem allows.")
    answers = read_solution_pack(pack, pack.name, Profile.PODIUM)
    tasks = dict.fromkeys(task_id for line in answers.lines if (task_id := _task_of(line.line)))
    rules = dict.fromkeys(tasks, WorkspaceRules.without_files())
    return Catalogue(answers.metadata.release, Profile.PODIUM, dict.fromkeys(tasks, ""), rules)


def _task_of(line: bytes) -> str:
    try:
        task_id = load_object(line).get("task_id")
    except RecordError:
        return ""
    return task_id if isinstance(task_id, str) else ""


def report(incoming: IncomingSubmission) -> Iterator[str]:
    """The lines of the report: notices, unknown tasks, invalid samples and the total."""
    yield from (notice.message for notice in incoming.notices)
    yield from (f"{_place(notice.line)}{notice.message}" for notice in incoming.unknown)
    bad = [sample for sample in incoming.samples if sample.invalid_reason]
    for sample in bad:
        where = f"{_place(sample.line_number)}{sample.task_id} sample {sample.index + 1}"
        yield f"{where} is invalid: {sample.invalid_reason}"
    fine = len(incoming.samples) - len(bad)
    held = f"{numbered(len(incoming.samples), 'sample')} of {numbered(len(incoming.sample_counts), 'problem')}"
    yield f"{fine} of {held} may be graded."


def coverage_words(incoming: IncomingSubmission, catalogue: Catalogue) -> str:
    """Whether a site would take it as full or partial, and what that means."""
    held = f"{len(incoming.sample_counts)} of {len(catalogue.problems)} problems"
    if incoming.undecided:
        return f"It has samples of {held}: a site needs --coverage full or partial to take it."
    if not incoming.full:
        return f"A partial submission, {held}: not ranked on a board."
    n_absent = sum(absent_counts(incoming, catalogue).values())
    return f"A full submission, {held}." + (f" {n_absent} absent samples count as failed." if n_absent else "")


def _place(line: int | None) -> str:
    return f"line {line}: " if line else ""


def _say(words: str) -> None:
    told.print(words.encode(errors="backslashreplace").decode(), markup=False, highlight=False)
