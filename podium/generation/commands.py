"""The command `podium generate`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from podium.config_file import ConfigFile
from podium.generation import options
from podium.generation.bar import say
from podium.generation.endpoint import DEFAULT_URL, Endpoint, EndpointParameters, key_for
from podium.generation.errors import CannotGenerate
from podium.generation.manifest import Prices, Settings
from podium.generation.pack import pack_name
from podium.generation.pipeline import BAD_INPUT, GenerationRun
from podium.generation.problems import Problems, of_pack, of_site
from podium.generation.prompts import Machine, Prompts


def generate(
    model: Annotated[str, typer.Option(help="The model's name at the endpoint.")],
    problems: options.Problems = None,
    release: options.Release = "",
    base_url: options.BaseUrl = DEFAULT_URL,
    api_key_env: options.KeyName = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The pack. Default: <release>-<model>-solutions.tar.gz.")
    ] = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    samples: options.Samples = 1,
    temperature: options.Temperature = None,
    top_p: options.TopP = None,
    max_tokens: options.MaxTokens = None,
    seed: options.Seed = None,
    reasoning: options.Reasoning = None,
    thinking: options.Thinking = None,
    system_prompt: Annotated[str | None, typer.Option(help="Instead of the template's; empty for none.")] = None,
    templates: Annotated[Path | None, typer.Option(exists=True, file_okay=False, help="A folder of templates.")] = None,
    toolkit: Annotated[str, typer.Option(help="CUDA toolkit that solutions are built with, told to the model.")] = "",
    arch: Annotated[str, typer.Option(help="GPU architecture that they run on, told to the model.")] = "",
    rag: Annotated[list[str] | None, typer.Option(help="A text file, or the address of a retrieval service.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Requests at a time.")] = 10,
    rpm: Annotated[float | None, typer.Option(min=0.1, help="Most requests a minute.")] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds for one reply.")] = 900.0,
    price_in: options.Price = None,
    price_out: options.Price = None,
    agentic: options.Agentic = 1,
    sandbox: options.Sandbox = None,
    trials: options.Trials = None,
    debug: Annotated[bool, typer.Option("--debug", help="Keep prompt and reply in each record.")] = False,
    config_file: ConfigFile = None,  # noqa: ARG001 - read before the other options
) -> None:
    """Ask a model for solutions and write them as a solutions pack.

    Every reply is kept beside the pack as it comes. The same command goes on where it stopped and asks for what is
    missing.

    Exit status: 0 pack written, 1 some samples have no reply yet, 2 bad input, 3 interrupted.
    """
    parameters = EndpointParameters(
        model, temperature, top_p, max_tokens, seed, reasoning.value if reasoning else None, thinking
    )
    try:
        if release and agentic > 1:
            raise CannotGenerate("--agentic tries solutions on this machine and needs the tests: give --problems PACK")
        chosen = problems_of(problems, release).narrowed(_split(include), _split(exclude))
        prompts = Prompts(templates, system_prompt, Machine(toolkit, arch))
        given = chosen.release, base_url, parameters, samples, prompts.digest, rag or []
        settings = Settings(*given, Prices(price_in, price_out), agentic)
        endpoint = Endpoint(base_url, key_for(base_url, api_key_env), parameters, timeout)
        run = GenerationRun(
            out or Path(pack_name(chosen.release, model)), chosen, settings, prompts, debug, sandbox, trials
        )
        raise typer.Exit(run.go(endpoint, workers, rpm))
    except CannotGenerate as error:
        say(str(error), style="red")
        raise typer.Exit(BAD_INPUT) from None


def problems_of(path: Path | None, release: str) -> Problems:
    """The problems of a pack or folder, or of a release on a site. Raises CannotGenerate."""
    if bool(path) == bool(release):
        raise CannotGenerate("give --problems PACK, or --release SLUG of a release on a site")
    return of_pack(path) if path else of_site(release)


def _split(values: Sequence[str] | None) -> list[str]:
    return [word.strip() for value in values or () for word in value.split(",") if word.strip()]
