"""The command `podium weights calibrate`."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NoReturn

import typer
import yaml
from rich.console import Console
from rich.table import Table

from podium.weights.pass_rates import PassRateSource, Rates, Unusable, coding_problems, combined, read_source
from problems.formats.errors import PackRefused
from problems.spec.errors import RecordError
from problems.spec.natural import natural_key
from problems.spec.ranking import MAX_NOTE, checked_weights
from scoring.weights import EPSILON, group_weights

WRITTEN, INCOMPLETE, REFUSED = 0, 1, 2
DECIMALS = 6
_DIGEST_CHARACTERS = 16
app = typer.Typer(help="Weigh groups of problems by their difficulty.", no_args_is_help=True)
told = Console(stderr=True, soft_wrap=True)


@app.callback()
def _only_subcommands() -> None:
    """Weigh groups of problems by their difficulty."""


@app.command()
def calibrate(
    files: Annotated[
        list[Path],
        typer.Argument(
            exists=True,
            dir_okay=False,
            help="Graded rows of `podium evaluate`, one file for each model; or pass rates: a CSV file with the columns"
            " group, problems and pass_rate, or the same as JSON by group.",
        ),
    ],
    problems: Annotated[
        Path | None, typer.Option(exists=True, help="The problem pack: tells groups, their sizes and questions.")
    ] = None,
    epsilon: Annotated[float, typer.Option(min=0.0, help="Added to each group's share of failures.")] = EPSILON,
    out: Annotated[Path | None, typer.Option(help="The file to write; standard output when left out.")] = None,
) -> None:
    """Make the weights of a release from pass rates: (1 - pass rate) + epsilon, with a mean of 1 over problems.

    Writes `weights` and `weights_note` for release.yaml, and a table to standard error. The files' pass rates of a
    group are averaged. Questions, skipped samples and platform errors do not count.

    Exit status: 0 written, 1 written but a group has no result and so no weight, 2 refused.
    """
    if out is not None and out.exists():
        _refuse(f"{out} is there already; choose another name, or leave --out away and copy the block")
    sources, rates = _read(files, problems)
    weights = _weights(rates, epsilon)
    told.print(_table(rates, weights))
    _refuse_zeros(weights)
    block = _block(weights, _note(sources, epsilon))
    if out is None:
        typer.echo(block, nl=False)
    else:
        out.write_text(block, encoding="utf-8")
    raise typer.Exit(_warned(rates))


def _read(files: Sequence[Path], pack: Path | None) -> tuple[list[PassRateSource], Rates]:
    try:
        known = coding_problems(pack) if pack else None
        sources = [read_source(path, known) for path in files]
        if len({one.sha256 for one in sources}) < len(sources):
            raise Unusable("two of the files have the same content; give each model once")
        rates = combined(sources, known)
    except (PackRefused, Unusable) as refused:
        _refuse(str(refused))
    return sources, {group: rates[group] for group in sorted(rates, key=natural_key)}


def _weights(rates: Rates, epsilon: float) -> dict[str, float]:
    """The weight of each group with a result, rounded."""
    judged = {group: rate for group, rate in rates.items() if rate.pass_rate is not None}
    if not judged:
        _refuse("no coding problem has a result")
    shares = [rate.pass_rate for rate in judged.values() if rate.pass_rate is not None]
    try:
        found = group_weights(shares, [rate.problems for rate in judged.values()], epsilon)
    except ValueError as error:
        _refuse(str(error))
    return dict(zip(judged, (round(float(weight), DECIMALS) for weight in found), strict=True))


def _refuse_zeros(weights: Mapping[str, float]) -> None:
    if zeros := [group for group, weight in weights.items() if not weight]:
        words = f"the weight of {', '.join(zeros)} is 0, so these problems would not count"
        _refuse(f"{words}, and no release takes it; give an --epsilon above 0")
    try:
        checked_weights(dict(weights))
    except RecordError as error:
        _refuse(f"no release takes these weights: {error}")


def _note(sources: Sequence[PassRateSource], epsilon: float) -> str:
    files = ", ".join(f"{one.name} (sha256 {one.sha256[:_DIGEST_CHARACTERS]})" for one in sources)
    note = f"Calibrated on {datetime.now(UTC):%Y-%m-%d} with epsilon {epsilon:g} from {files}."
    if len(note) > MAX_NOTE:
        _refuse(f"the files' names do not fit into `weights_note` of {MAX_NOTE} characters; give a CSV of rates")
    return note


def _block(weights: Mapping[str, float], note: str) -> str:
    block: str = yaml.safe_dump(
        {"weights": dict(weights), "weights_note": note}, sort_keys=False, allow_unicode=True, width=100
    )
    return block


def _table(rates: Rates, weights: Mapping[str, float]) -> Table:
    table = Table("Group")
    for name in ("Problems", "Pass rate", "Weight"):
        table.add_column(name, justify="right")
    for group, rate in rates.items():
        share = "–" if rate.pass_rate is None else f"{100 * rate.pass_rate:.1f} %"
        table.add_row(group, str(rate.problems), share, f"{weights[group]:.{DECIMALS}f}" if group in weights else "–")
    return table


def _warned(rates: Rates) -> int:
    """Name the groups without a result. Returns the exit status."""
    without = [group for group, rate in rates.items() if rate.pass_rate is None]
    if not without:
        return WRITTEN
    words = "no result, and so no weight, for: " + ", ".join(without)
    _say(f"{words}. A release with weights needs one for each group of its coding problems.")
    return INCOMPLETE


def _refuse(words: str) -> NoReturn:
    _say(f"refused: {words}")
    raise typer.Exit(REFUSED)


def _say(words: str) -> None:
    told.print(words, markup=False, highlight=False)
