"""One run of `podium generate`: takes each sample through its turns, and writes the pack once none is left."""

import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.generation.asking import AskedTurn, Asker, AskingFailure
from podium.generation.bar import Bar, say
from podium.generation.crew import Crew, Hands
from podium.generation.endpoint import Endpoint
from podium.generation.errors import CannotGenerate, TrialFailed
from podium.generation.manifest import Settings, usage_words
from podium.generation.outcomes import Outcomes, TrialOutcome
from podium.generation.pack import replies_folder, write_pack
from podium.generation.problems import Problems
from podium.generation.prompts import Prompts
from podium.generation.retrieval import Retrieval
from podium.generation.store import Store
from podium.generation.turns import AskedSample, SolutionToTry, Turns
from problems.spec.numbered import numbered
from runners.wire.extras import how_to_install

if TYPE_CHECKING:
    from podium.generation.trials import Trials

DONE, INCOMPLETE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 3
SHOWN = 10


@dataclass
class GenerationRun:
    """The samples, what is still to be asked and tried of them, and the pack once nothing is."""

    path: Path
    problems: Problems
    settings: Settings
    prompts: Prompts
    debug: bool
    sandbox: str | None = None
    trials_at_a_time: int | None = None

    def go(self, endpoint: Endpoint, workers: int, rpm: float | None) -> int:
        """Returns the exit status. Raises CannotGenerate."""
        folder = replies_folder(self.path)
        trials = self._trials()
        samples = self._samples(Retrieval(self.settings.rag, folder / "rag.jsonl"))
        with Store(folder / "replies.jsonl") as store, Outcomes(folder / "trials.jsonl") as outcomes:
            turns = Turns(self.settings, self.prompts, store, outcomes, trials.digests if trials else {})
            left = [one for one in samples if turns.progressed(one).next is not None]
            _say_kept(store, [turns.first(one) for one in samples], len(left))
            if left:
                asker = Asker(endpoint, store, rpm)
                hands = _hands(asker, trials, outcomes, workers)
                if status := self._work(left, turns, hands, trials):
                    return status
            return self._write(turns, samples)

    def _work(self, samples: Sequence[AskedSample], turns: Turns, hands: Hands, trials: "Trials | None") -> int:
        """Returns DONE if every sample has come to its end."""
        with ExitStack() as stack:
            if trials:
                stack.enter_context(trials.open())
            interrupted = stack.enter_context(_interrupts(hands.stop))
            bar = stack.enter_context(Bar(len(samples), self.settings.prices))
            try:
                failures = Crew(turns, hands, bar).work(samples)
            except TrialFailed as error:
                say(f"{error}. Every reply is kept: run the same command again to go on.", style="red")
                return INCOMPLETE
        if interrupted:
            say("Interrupted. Every reply is kept: run the same command again to go on.", style="yellow")
            return INTERRUPTED
        return _incomplete(failures) if failures else DONE

    def _trials(self) -> "Trials | None":
        """The trials, or None where each sample has one turn. Raises CannotGenerate."""
        if self.settings.turns == 1:
            return None
        if find_spec("docker") is None:
            raise CannotGenerate(f"--agentic needs the packages of a node: {how_to_install('node')}")
        from podium.generation.trials import Trials

        trials = Trials(self.problems.records, self.sandbox, self.trials_at_a_time)
        for reason, count in Counter(trials.why_not.values()).items():
            say(f"{count} of {len(self.problems.asked)} problems get one reply a sample: {reason}.", style="yellow")
        return trials

    def _samples(self, retrieval: Retrieval) -> list[AskedSample]:
        made = []
        for asked in self.problems.asked:
            plain = self.prompts.messages(asked)
            messages = self.prompts.messages(asked, retrieval.text_for(asked.task_id, plain[-1]["content"]))
            made += [AskedSample(asked, number, messages) for number in range(self.settings.samples)]
        return made

    def _write(self, turns: Turns, samples: Sequence[AskedSample]) -> int:
        finished = [turns.progressed(one) for one in samples]
        manifest = write_pack(self.path, self.problems, self.settings, finished, debug=self.debug)
        held = f"{numbered(len(samples), 'sample')} of {numbered(len(self.problems.asked), 'problem')}"
        say(f"{self.path}: {held}; {usage_words(manifest['usage'])}.")
        if agentic := manifest.get("agentic"):
            say(_in_words(agentic))
        for reason, count in manifest["reply_problems"].items():
            say(f"{count} replies: {reason}", style="yellow")
        return DONE


def _hands(asker: Asker, trials: "Trials | None", outcomes: Outcomes, workers: int) -> Hands:
    def attempt(one: SolutionToTry) -> TrialOutcome | None:
        assert trials, "only trials make attempts"
        outcome = trials.outcome_of(one)
        if outcome is not None:
            outcomes.add(one.task_id, one.sample, one.turn, one.digest, outcome)
        return outcome

    def stop() -> None:
        asker.stop()
        if trials:
            trials.stop()

    return Hands(asker.reply_to, attempt, stop, workers, trials.at_a_time if trials else 1)


def _say_kept(store: Store, first: Sequence[AskedTurn], n_left: int) -> None:
    if n_left < len(first):
        say(f"{store.path}: {len(first) - n_left} of {len(first)} samples are finished; going on from there.")
    if others := store.others({one.key: one.digest for one in first}):
        say(f"{others} kept replies are to other requests (model, parameters or prompts changed) and stay unused.")


def _incomplete(failures: Sequence[AskingFailure]) -> int:
    for failure in failures[:SHOWN]:
        say(f"{failure.request.task_id} sample {failure.request.sample + 1}: {failure.reason}", style="red")
    say(f"{len(failures)} samples have no reply. No pack is written: run the same command again.", style="red")
    return INCOMPLETE


def _in_words(agentic: dict[str, Any]) -> str:
    turns = ", ".join(f"{count} after {number}" for number, count in agentic["samples_by_turns"].items())
    ended = ", ".join(f"{count} {why}" for why, count in agentic["ended"].items())
    return f"Replies until a sample ended: {turns}. Why they ended: {ended}."


@contextmanager
def _interrupts(stop: Callable[[], None]) -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM let requests in flight end; the list then holds the signal."""
    seen: list[int] = []

    def interrupted(number: int, _: Any) -> None:
        seen.append(number)
        stop()

    before = {number: signal.signal(number, interrupted) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
