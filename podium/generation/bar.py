"""Messages of `podium generate` on standard error, and its bar of progress."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from podium.generation.asking import AskingFailure
from podium.generation.manifest import Prices
from podium.generation.outcomes import TrialOutcome
from podium.generation.store import KeptReply

told = Console(stderr=True, soft_wrap=True)


def say(words: str, style: str = "") -> None:
    told.print(words.encode(errors="backslashreplace").decode(), style=style, markup=False, highlight=False)


class Bar:
    """The progress: finished samples, tokens, trials and failures."""

    def __init__(self, total: int, prices: Prices) -> None:
        columns = (TextColumn("Asking"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, TextColumn("{task.description}"), console=told, transient=True)
        self._task = self._bar.add_task("", total=total)
        self._prices = prices
        self._tokens_in = self._tokens_out = self._n_trials = self._n_failed = 0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._bar.stop()

    def asked(self, kept: KeptReply) -> None:
        self._tokens_in += kept.reply.prompt_tokens
        self._tokens_out += kept.reply.completion_tokens
        self._show()

    def tried(self, _: TrialOutcome) -> None:
        self._n_trials += 1
        self._show()

    def ended(self, failure: AskingFailure | None) -> None:
        self._n_failed += failure is not None
        self._show(advance=1)

    def _show(self, advance: int = 0) -> None:
        cost = self._prices.cost(self._tokens_in, self._tokens_out)
        words = f"{self._tokens_in + self._tokens_out:,} tokens, {self._n_failed} failed"
        words += f", {self._n_trials} trials" if self._n_trials else ""
        words += f", cost {cost:g}" if cost is not None else ""
        self._bar.update(self._task, advance=advance, description=words)
