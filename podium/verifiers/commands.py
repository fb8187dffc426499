"""The command `podium verifiers import`."""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from podium.generation.commands import problems_of
from podium.generation.errors import CannotGenerate
from podium.generation.problems import Problems
from podium.refusals import refuse, refusing, say
from podium.verifiers.importing import Cause, ImportedSamples, import_rollouts
from podium.verifiers.serving import judge, tasks
from problems.formats.compute_eval.packs import write_solution_pack
from problems.formats.errors import PackRefused
from problems.formats.verifiers.files import read_rollouts, rollouts_file, run_facts
from problems.spec.errors import RecordError
from problems.spec.pack import SolutionPackMetadata

FINE, SOME_LEFT_OUT = 0, 1
SHOWN = 20
app = typer.Typer(help="Import evaluations of verifiers, and grade for its environments.", no_args_is_help=True)
app.command()(tasks)
app.command()(judge)
shown = Console(soft_wrap=True)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(exists=True, help="results.jsonl, traces.jsonl, or a run's folder.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The pack to write, as my-model-solutions.tar.gz.")],
    problems: Annotated[Path | None, typer.Option(exists=True, help="The problem pack or folder of problems.")] = None,
    release: Annotated[str, typer.Option(help="Instead: a release on the site of `podium login`, by its slug.")] = "",
    key: Annotated[str, typer.Option(help="Where a row names its problem, as info.task_dir. Default: found out.")] = "",
    uneven: Annotated[
        bool, typer.Option("--uneven", help="Keep every usable rollout, also if problems then have unequal numbers.")
    ] = False,
    report: Annotated[Path | None, typer.Option(help="Also write the report to this file, as JSON.")] = None,
) -> None:
    """Turn the rollouts of an evaluation into a solutions pack, to be graded anew: the file's rewards decide nothing.

    Exit status: 0 every rollout is in the pack, 1 some were left out, 2 nothing was written.
    """
    with refusing(PackRefused, CannotGenerate, RecordError):
        asked = problems_of(problems, release)
        source = rollouts_file(file)
        imported = import_rollouts(read_rollouts(source), asked.asked, key, uneven=uneven)
        if report is not None:
            report.write_text(json.dumps(_report(imported), indent=2, ensure_ascii=True) + "\n", encoding="utf-8")
        _tell(imported)
        _check(imported, uneven=uneven)
        _write(out, asked, imported, run_facts(source))
    n_rollouts = len(imported.samples) + len(imported.left_out)
    say(f"{out}: {len(imported.samples)} of {n_rollouts} rollouts, {len(imported.counts)} problems.")
    raise typer.Exit(SOME_LEFT_OUT if imported.left_out else FINE)


def _check(imported: ImportedSamples, *, uneven: bool) -> None:
    """Refuse to write a pack whose absent samples a site would count as failed."""
    if not imported.samples:
        refuse("No rollout can be used, so no pack was written.")
    if imported.without_samples and not uneven:
        names = ", ".join(imported.without_samples[:5])
        refuse(
            f"No pack was written: every rollout of {len(imported.without_samples)} problems ended in an "
            f"infrastructure error ({names}). A site would count them as failed. Run these again (verifiers' "
            "--resume), or give --uneven for a pack to grade with `podium evaluate`."
        )


def _write(out: Path, asked: Problems, imported: ImportedSamples, facts: dict[str, Any]) -> None:
    lines = [one.solution.to_line() for one in imported.samples]
    metadata = SolutionPackMetadata.model_validate(
        {"release": asked.release, "total_count": len(lines), "groups": asked.groups},
        context={"profile": asked.profile},
    )
    left_out = dict(Counter(one.cause.value for one in imported.left_out))
    generation = {"source": "verifiers", **facts, "left_out": left_out}
    head = json.dumps({**json.loads(metadata.to_bytes()), "generation": generation}, indent=2).encode()
    write_solution_pack(out, head, lines)


def _tell(imported: ImportedSamples) -> None:
    _print_table(imported)
    for cause in Cause:
        found = [one for one in imported.left_out if one.cause is cause]
        if found:
            say(f"Left out, {cause.value}: {len(found)}")
        for one in found[:SHOWN]:
            say(f"  line {one.line}{f' {one.task_id}' if one.task_id else ''}: {one.reason}")
        if len(found) > SHOWN:
            say(f"  and {len(found) - SHOWN} more; --report has all.")
    for reason, count in Counter(filter(None, (one.problem for one in imported.samples))).most_common():
        say(f"{count} samples will fail: {reason}")
    if imported.unscored:
        say(f"{imported.unscored} rollouts have a reply that verifiers could not score. They stay: Podium grades anew.")
    if imported.wrong_ids:
        say(f"The column `id` of verifiers 0.1.5 is wrong for {imported.wrong_ids} examples. It was not used.")


def _print_table(imported: ImportedSamples) -> None:
    faults = Counter(one.task_id for one in imported.left_out if one.cause is Cause.INFRASTRUCTURE)
    surplus = Counter(one.task_id for one in imported.left_out if one.cause is Cause.SURPLUS)
    table = Table("Problem", "Rollouts", "Samples", "Infrastructure errors", "Surplus")
    for task_id, count in imported.rollouts.items():
        cells = (count, imported.counts[task_id], faults[task_id], surplus[task_id])
        table.add_row(Text(task_id), *map(str, cells))
    shown.print(table)


def _report(imported: ImportedSamples) -> dict[str, Any]:
    samples = [
        {"line": one.line, "task_id": one.solution.task_id, **({"problem": one.problem} if one.problem else {})}
        for one in imported.samples
    ]
    facts = {"unscored": imported.unscored, "wrong_ids": imported.wrong_ids}
    return {"samples": samples, "left_out": [asdict(one) for one in imported.left_out], **facts}
