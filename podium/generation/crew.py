"""Takes samples through their turns. Requests and trials have their own threads: neither waits for the other."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Protocol

from podium.generation.asking import AskedTurn, AskingFailure
from podium.generation.errors import AskFailed
from podium.generation.outcomes import TrialOutcome
from podium.generation.store import KeptReply
from podium.generation.turns import AskedSample, SolutionToTry, Turns


class Told(Protocol):
    """A listener to the run's progress, in the thread that runs it."""

    def asked(self, kept: KeptReply) -> None: ...

    def tried(self, outcome: TrialOutcome) -> None: ...

    def ended(self, failure: AskingFailure | None) -> None: ...


@dataclass(frozen=True)
class Hands:
    """The callables that do the work. `ask` and `attempt` store their results; after `stop` they return None."""

    ask: Callable[[AskedTurn], KeptReply | None]
    attempt: Callable[[SolutionToTry], TrialOutcome | None]
    stop: Callable[[], None]
    n_requests: int
    n_trials: int


_Future = Future[KeptReply | None] | Future[TrialOutcome | None]


class Crew:
    """Runs each sample's next step until none is left."""

    def __init__(self, turns: Turns, hands: Hands, told: Told) -> None:
        self._turns = turns
        self._hands = hands
        self._told = told
        self._done: SimpleQueue[tuple[AskedSample, AskedTurn | SolutionToTry, _Future]] = SimpleQueue()
        self._n_open = 0

    def work(self, samples: Sequence[AskedSample]) -> list[AskingFailure]:
        """Raises CannotGenerate where every request would fail, and TrialFailed."""
        failures: list[AskingFailure] = []
        hands = self._hands
        with (
            ThreadPoolExecutor(hands.n_requests, thread_name_prefix="ask") as asking,
            ThreadPoolExecutor(hands.n_trials, thread_name_prefix="try") as trying,
        ):
            try:
                for sample in samples:
                    self._begin(sample, asking, trying)
                while self._n_open:
                    sample, step, future = self._done.get()
                    self._n_open -= 1
                    if failure := self._ended(step, future):
                        failures.append(failure)
                    elif future.result() is not None:
                        self._begin(sample, asking, trying)
            except BaseException:
                hands.stop()
                for pool in (asking, trying):
                    pool.shutdown(wait=False, cancel_futures=True)
                raise
        return failures

    def _begin(self, sample: AskedSample, asking: ThreadPoolExecutor, trying: ThreadPoolExecutor) -> None:
        step = self._turns.progressed(sample).next
        if step is None:
            self._told.ended(None)
            return
        future: _Future
        if isinstance(step, AskedTurn):
            future = asking.submit(self._hands.ask, step)
        else:
            future = trying.submit(self._hands.attempt, step)
        self._n_open += 1
        future.add_done_callback(lambda done: self._done.put((sample, step, done)))

    def _ended(self, step: AskedTurn | SolutionToTry, future: _Future) -> AskingFailure | None:
        """Tell what came of a step. Raises what it raised, but for a request without a reply."""
        try:
            result = future.result()
        except AskFailed as error:
            assert isinstance(step, AskedTurn), "only requests fail in this way"
            failure = AskingFailure(step, str(error))
            self._told.ended(failure)
            return failure
        if isinstance(result, KeptReply):
            self._told.asked(result)
        elif result is not None:
            self._told.tried(result)
        return None
