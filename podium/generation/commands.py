"""The command `podium generate`."""

import hashlib
import json
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from podium.config_file import ConfigFile
from podium.generation import options
from podium.generation.asking import Asker, Failure, Request
from podium.generation.endpoint import DEFAULT_URL, Endpoint, Parameters, key_for
from podium.generation.errors import CannotGenerate
from podium.generation.manifest import Prices, Settings
from podium.generation.pack import pack_name, replies_folder, solution_from, write_pack
from podium.generation.problems import Problems, of_pack, of_site
from podium.generation.prompts import Machine, Message, Prompts
from podium.generation.retrieval import Retrieval
from podium.generation.store import Kept, Key, Store

DONE, INCOMPLETE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 3
SHOWN = 10
told = Console(stderr=True, soft_wrap=True)


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
    debug: Annotated[bool, typer.Option("--debug", help="Keep prompt and reply in each record.")] = False,
    config_file: ConfigFile = None,  # noqa: ARG001 - read before the other options
) -> None:
    """Ask a model for solutions and write them as a solutions pack.

    Every reply is kept beside the pack as it comes. The same command goes on where it stopped and asks for what is
    missing.

    Exit status: 0 pack written, 1 some samples have no reply yet, 2 bad input, 3 interrupted.
    """
    parameters = Parameters(
        model, temperature, top_p, max_tokens, seed, reasoning.value if reasoning else None, thinking
    )
    try:
        chosen = problems_of(problems, release).narrowed(_split(include), _split(exclude))
        if include and exclude:
            raise CannotGenerate("--include and --exclude exclude each other; give one")
        prompts = Prompts(templates, system_prompt, Machine(toolkit, arch))
        prices = Prices(price_in, price_out)
        settings = Settings(chosen.release, base_url, parameters, samples, prompts.digest, rag or [], prices)
        endpoint = Endpoint(base_url, key_for(base_url, api_key_env), parameters, timeout)
        path = out or Path(pack_name(chosen.release, model))
        run = Run(path, chosen, settings, prompts, debug=debug)
        raise typer.Exit(run.go(endpoint, workers, rpm))
    except CannotGenerate as error:
        _say(str(error), style="red")
        raise typer.Exit(BAD_INPUT) from None


def problems_of(path: Path | None, release: str) -> Problems:
    """The problems of a pack or folder, or of a release on a site. Raises CannotGenerate."""
    if bool(path) == bool(release):
        raise CannotGenerate("give --problems PACK, or --release SLUG of a release on a site")
    return of_pack(path) if path else of_site(release)


def _split(values: Sequence[str] | None) -> list[str]:
    return [word.strip() for value in values or () for word in value.split(",") if word.strip()]


def _say(words: str, style: str = "") -> None:
    told.print(words.encode(errors="backslashreplace").decode(), style=style, markup=False, highlight=False)


@dataclass
class Run:
    """One run: the requests, those that are still to be asked, and the pack once none is left."""

    path: Path
    problems: Problems
    settings: Settings
    prompts: Prompts
    debug: bool

    def go(self, endpoint: Endpoint, workers: int, rpm: float | None) -> int:
        """Returns the exit status. Raises CannotGenerate."""
        folder = replies_folder(self.path)
        requests = self._requests(Retrieval(self.settings.rag, folder / "rag.jsonl"))
        with Store(folder / "replies.jsonl") as store:
            missing = [one for one in requests if store.get((one.task_id, one.sample), one.digest) is None]
            self._say_kept(store, requests, len(missing))
            if missing:
                asker = Asker(endpoint, store, workers, rpm)
                with _interrupts(asker) as interrupted:
                    failures = asker.ask(missing, _Bar(len(missing), self.settings.prices).told)
                if interrupted:
                    _say("Interrupted. Every reply is kept: run the same command again to go on.", style="yellow")
                    return INTERRUPTED
                if failures:
                    return self._incomplete(failures)
            return self._write(store, requests)

    def _requests(self, retrieval: Retrieval) -> list[Request]:
        made = []
        for asked in self.problems.asked:
            plain = self.prompts.messages(asked)
            messages = self.prompts.messages(asked, retrieval.text_for(asked.task_id, plain[-1]["content"]))
            for sample in range(self.settings.samples):
                made.append(Request(asked.task_id, sample, messages, self._digest(messages, sample)))
        return made

    def _digest(self, messages: Sequence[Message], sample: int) -> str:
        """Identifies a request: equal digests have the same messages, endpoint, model and parameters."""
        fields = [self.settings.base_url, self.settings.parameters.sent(sample), list(messages)]
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()

    def _say_kept(self, store: Store, requests: Sequence[Request], n_missing: int) -> None:
        if n_missing < len(requests):
            _say(f"{store.path} has {len(requests) - n_missing} of {len(requests)} replies; going on from there.")
        by_key: dict[Key, str] = {(one.task_id, one.sample): one.digest for one in requests}
        if others := store.others(by_key):
            _say(f"{others} kept replies are to other requests (model, parameters or prompts changed) and stay unused.")

    def _incomplete(self, failures: Sequence[Failure]) -> int:
        for failure in failures[:SHOWN]:
            _say(f"{failure.request.task_id} sample {failure.request.sample + 1}: {failure.reason}", style="red")
        _say(f"{len(failures)} samples have no reply. No pack is written: run the same command again.", style="red")
        return INCOMPLETE

    def _write(self, store: Store, requests: Sequence[Request]) -> int:
        by_task = {one.task_id: one for one in self.problems.asked}
        kept = [found for one in requests if (found := store.get((one.task_id, one.sample), one.digest))]
        solutions = [
            solution_from(by_task[one.task_id], found, one.messages if self.debug else None)
            for one, found in zip(requests, kept, strict=True)
        ]
        manifest = write_pack(self.path, self.problems, self.settings, kept, solutions)
        usage = manifest["usage"]
        cost = f", cost {usage['cost']:g}" if usage["cost"] is not None else ""
        _say(
            f"{self.path}: {len(solutions)} samples of {len(by_task)} problems; {usage['prompt_tokens']} tokens in,"
            f" {usage['completion_tokens']} out{cost}."
        )
        for reason, count in manifest["reply_problems"].items():
            _say(f"{count} replies: {reason}", style="yellow")
        return DONE


class _Bar:
    """The progress on standard error: replies, tokens and failures."""

    def __init__(self, total: int, prices: Prices) -> None:
        columns = (TextColumn("Asking"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, TextColumn("{task.description}"), console=told, transient=True)
        self._task = self._bar.add_task("", total=total)
        self._prices = prices
        self._tokens_in = self._tokens_out = self._failed = 0
        self._bar.start()

    def told(self, ended: Kept | Failure) -> None:
        if isinstance(ended, Failure):
            self._failed += 1
        else:
            self._tokens_in += ended.reply.prompt_tokens
            self._tokens_out += ended.reply.completion_tokens
        cost = self._prices.cost(self._tokens_in, self._tokens_out)
        words = f"{self._tokens_in + self._tokens_out:,} tokens, {self._failed} failed"
        self._bar.update(self._task, advance=1, description=words + (f", cost {cost:g}" if cost is not None else ""))
        if self._bar.finished:
            self._bar.stop()


@contextmanager
def _interrupts(asker: Asker) -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM let requests in flight end; the list then holds the signal."""
    seen: list[int] = []

    def stop(number: int, _: Any) -> None:
        seen.append(number)
        asker.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
