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
from podium.evaluation.evaluate import SandboxName, evaluate
from podium.generation import commands
from podium.generation.commands import BAD_INPUT, DONE, Effort, generate
from podium.generation.endpoint import DEFAULT_URL
from podium.generation.errors import CannotGenerate
from podium.generation.pack import manifest_path, pack_name
from podium.remote import commands as remote
from podium.remote.api_client import ApiClient
from podium.remote.site_config import load
from podium.remote.tables import board_table
from problems.formats.compute_eval.packs import datapack_name, graded_filename
from problems.spec.solution import load_object
from runners.wire.protocol import Profiler, TimingPolicy

RANKED_WITHIN_SECONDS, POLL_SECONDS = 60.0, 1.0
shown = Console(stderr=True, soft_wrap=True)


def run(
    model: Annotated[str, typer.Argument(help="The model's name at the endpoint.")],
    problems: Annotated[Path | None, typer.Option(exists=True, help="A problem pack, or a folder of problems.")] = None,
    release: Annotated[str, typer.Option(help="Instead: a release on the site of `podium login`, by its slug.")] = "",
    base_url: Annotated[str, typer.Option(help="An OpenAI-compatible endpoint.")] = DEFAULT_URL,
    api_key_env: Annotated[str | None, typer.Option(help="The environment variable with the key.")] = None,
    include: Annotated[list[str] | None, typer.Option(help="Only these groups, separated by commas.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="All groups but these.")] = None,
    samples: Annotated[int, typer.Option("--samples", "-n", min=1, max=100, help="Samples of each problem.")] = 1,
    temperature: Annotated[float | None, typer.Option(min=0, max=5)] = None,
    top_p: Annotated[float | None, typer.Option(min=0, max=1)] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Most tokens of a reply.")] = None,
    seed: Annotated[int | None, typer.Option(help="Sample k is asked for with seed + k.")] = None,
    reasoning: Annotated[Effort | None, typer.Option(help="Reasoning effort, for endpoints that know it.")] = None,
    thinking: Annotated[bool | None, typer.Option("--thinking/--no-thinking")] = None,
    requests: Annotated[int, typer.Option(min=1, max=256, help="Requests at a time.")] = 10,
    k: Annotated[str, typer.Option("--k", help="The k of pass@k: 1,3 or (1, 3).")] = "1",
    sandbox: Annotated[SandboxName | None, typer.Option(help="What confines the commands.")] = None,
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
    try:
        chosen = commands.problems_of(problems, release)
        if bool(entrant) != bool(release):
            raise CannotGenerate("--entrant and --release belong together; to grade here, give --problems alone")
    except CannotGenerate as error:
        shown.print(str(error), style="red", markup=False, highlight=False)
        raise typer.Exit(BAD_INPUT) from None
    out_dir.mkdir(parents=True, exist_ok=True)
    pack = out_dir / pack_name(chosen.release, model)
    _step(
        lambda: generate(
            model=model, problems=problems, release=release, base_url=base_url, api_key_env=api_key_env, out=pack,
            include=include, exclude=exclude, samples=samples, temperature=temperature, top_p=top_p,
            max_tokens=max_tokens, seed=seed, reasoning=reasoning, thinking=thinking, workers=requests,
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


def _step(command: Callable[[], None]) -> None:
    """Run another command; its exit status ends this one unless it is 0."""
    try:
        command()
    except typer.Exit as ended:
        if ended.exit_code != DONE:
            raise


def _table(model: str, pack: Path, graded: Path) -> Table:
    """What became of the samples, and what they cost."""
    rows = [load_object(line) for line in graded.read_bytes().splitlines()]
    usage = load_object(manifest_path(pack).read_bytes())["usage"]
    verdicts = Counter(str(row["podium"]["verdict"]) for row in rows)
    table = Table("Model", "Samples", *verdicts, "Tokens in", "Tokens out")
    figures = [len(rows), *verdicts.values(), usage["prompt_tokens"], usage["completion_tokens"]]
    table.add_row(model, *map(str, figures))
    return table


def _show_rank(release: str, entrant: str) -> None:
    """The entrant's row of each board, once it is ranked."""
    client = ApiClient(load())
    for track in client.get(f"releases/{release}")["tracks"]:
        board = _board(client, release, track, entrant)
        own = [row for row in board["standings"] if row["entrant"] == entrant]
        shown.print(board_table({**board, "standings": own}))


def _board(client: ApiClient, release: str, track: str, entrant: str) -> Any:
    """The board with the entrant's row, or as it stands after a minute."""
    until = time.monotonic() + RANKED_WITHIN_SECONDS
    while True:
        board = client.get(f"releases/{release}/board", track=track)
        own = [row for row in board["standings"] if row["entrant"] == entrant]
        if any(not row["incomplete"] for row in own) or time.monotonic() > until:
            return board
        time.sleep(POLL_SECONDS)
