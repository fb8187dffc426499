"""The command `podium run`: from a model's name to graded rows, or to a ranked row on a site."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from podium.config_file import ConfigFile
from podium.evaluation.evaluate import evaluate
from podium.generation import commands, options
from podium.generation.commands import generate
from podium.generation.endpoint import DEFAULT_URL
from podium.generation.errors import CannotGenerate
from podium.generation.pack import manifest_path, pack_name
from podium.generation.pipeline import BAD_INPUT, DONE
from podium.remote import commands as remote
from podium.remote.api_client import ApiClient
from podium.remote.site_config import load
from podium.remote.tables import MISSING, print_board
from problems.formats.compute_eval.packs import datapack_name, graded_filename
from problems.spec.solution import load_object
from runners.wire.protocol import Profiler, TimingPolicy

RANKED_WITHIN_SECONDS, POLL_SECONDS = 60.0, 1.0
shown = Console(stderr=True, soft_wrap=True)


def run(
    model: Annotated[str, typer.Argument(help="The model's name at the endpoint.")],
    problems: options.Problems = None,
    release: options.Release = "",
    base_url: options.BaseUrl = DEFAULT_URL,
    api_key_env: options.KeyName = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    samples: options.Samples = 1,
    temperature: options.Temperature = None,
    top_p: options.TopP = None,
    max_tokens: options.MaxTokens = None,
    seed: options.Seed = None,
    reasoning: options.Reasoning = None,
    thinking: options.Thinking = None,
    price_in: options.Price = None,
    price_out: options.Price = None,
    requests: Annotated[int, typer.Option(min=1, max=256, help="Requests at a time.")] = 10,
    k: Annotated[str, typer.Option("--k", help="The k of pass@k: 1,3 or (1, 3).")] = "1",
    agentic: options.Agentic = 1,
    trials: options.Trials = None,
    sandbox: options.Sandbox = None,
    profile: Annotated[Profiler, typer.Option(help="What times kernels, regions and GPUs.")] = Profiler.NONE,
    timing: Annotated[TimingPolicy, typer.Option(help="How many processes a time rests on.")] = TimingPolicy.QUICK,
    benchmark: Annotated[bool, typer.Option("--benchmark", help="Also time benchmarks of mode `process`.")] = False,
    out_dir: Annotated[Path, typer.Option(help="Folder of the pack, the replies and the graded rows.")] = Path(),
    entrant: Annotated[
        str, typer.Option("--entrant", "-e", help="Submit for this entrant, in place of grading here. Needs --release.")
    ] = "",
    track: Annotated[list[str] | None, typer.Option("--track", "-t", help="Where to submit. Default: all.")] = None,
    config_file: ConfigFile = None,  # noqa: ARG001 - read before the other options
) -> None:
    """Ask a model for solutions, then grade them here or submit them to a site. Run it again to go on.

    Exit status: 0 done, 1 incomplete, 2 bad input, 3 interrupted.
    """
    pack = _pack_path(model, problems, release, entrant, out_dir)
    _step(
        lambda: generate(
            model=model, problems=problems, release=release, base_url=base_url, api_key_env=api_key_env, out=pack,
            price_in=price_in, price_out=price_out,
            include=include, exclude=exclude, samples=samples, temperature=temperature, top_p=top_p,
            max_tokens=max_tokens, seed=seed, reasoning=reasoning, thinking=thinking, workers=requests,
            agentic=agentic, sandbox=sandbox, trials=trials,
        )
    )  # fmt: skip
    if entrant:
        _step(lambda: remote.submit(pack, release=release, entrant=entrant, track=track, wait=True))
        _show_rank(release, entrant)
    elif problems:
        folder: dict[str, Any] = {
            "problems": problems,
            "solutions": [pack],
            "out_dir": out_dir,
            "k": k,
            "sandbox": sandbox,
        }
        _step(lambda: evaluate(**folder, profile=profile, timing=timing, benchmark=benchmark))
        shown.print(_table(model, pack, out_dir / graded_filename(datapack_name(pack.name))))


def _pack_path(model: str, problems: Path | None, release: str, entrant: str, folder: Path) -> Path:
    """Where the pack goes. Ends the command where the options do not fit together."""
    try:
        if bool(entrant) != bool(release):
            raise CannotGenerate("--entrant and --release belong together; to grade here, give --problems alone")
        name = pack_name(commands.problems_of(problems, release).release, model)
    except CannotGenerate as error:
        shown.print(str(error), style="red", markup=False, highlight=False)
        raise typer.Exit(BAD_INPUT) from None
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


def _step(command: Callable[[], None]) -> None:
    """Run another command; its exit status ends this one unless it is 0."""
    try:
        command()
    except typer.Exit as ended:
        if ended.exit_code != DONE:
            raise


def _table(model: str, pack: Path, graded: Path) -> Table:
    """The table of samples by their outcome, and their cost."""
    rows = [load_object(line) for line in graded.read_bytes().splitlines()]
    usage = load_object(manifest_path(pack).read_bytes())["usage"]
    verdicts = Counter(str(row["podium"]["verdict"]) for row in rows)
    table = Table("Model", "Samples", *verdicts, "Tokens in", "Tokens out")
    figures = [len(rows), *verdicts.values(), usage["prompt_tokens"], usage["completion_tokens"]]
    table.add_row(model, *(MISSING if one is None else str(one) for one in figures))
    return table


def _show_rank(release: str, entrant: str) -> None:
    """The entrant's row of each board, once it is ranked."""
    client = ApiClient(load())
    for track in client.get(f"releases/{release}")["tracks"]:
        board = _board(client, release, track, entrant)
        own = [row for row in board["standings"] if row["entrant"] == entrant]
        if left_out := print_board({**board, "standings": own}, stderr=True):
            shown.print(f"No room here for {', '.join(left_out)}: `podium board {release} --json` shows them.")


def _board(client: ApiClient, release: str, track: str, entrant: str) -> Any:
    """The board with the entrant's row, or as it stands after a minute."""
    until = time.monotonic() + RANKED_WITHIN_SECONDS
    while True:
        board = client.get(f"releases/{release}/board", track=track)
        own = [row for row in board["standings"] if row["entrant"] == entrant]
        if any(not row["incomplete"] for row in own) or time.monotonic() > until:
            return board
        time.sleep(POLL_SECONDS)
