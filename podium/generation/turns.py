"""The turns of a sample: a reply, its trial, and the next request, which shows the model what the trial printed.

A sample's state is what the stores hold. So a run that was cut off goes on exactly where it stopped.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from podium.generation.asked import Asked
from podium.generation.asking import AskedTurn
from podium.generation.manifest import Settings
from podium.generation.outcomes import Outcomes, TrialEnding, TrialOutcome
from podium.generation.prompts import Message, Prompts
from podium.generation.replies import is_refused, problem_of, solution_of, without_thoughts
from podium.generation.store import KeptReply, Store
from problems.spec.solution import FileSolution

NO_TEXT = "(no text)"
"""Quotes an empty reply: some endpoints refuse an empty message."""


class SampleEnded(StrEnum):
    """The reason why a sample has no further turn."""

    PASSED = "passed"
    NOT_TRIED = "not_tried"
    """One reply only: the problem cannot be tried here, or its own reference fails in a trial."""
    REFUSED = "refused"
    LAST_TURN = "last_turn"


@dataclass(frozen=True)
class AskedSample:
    """A sample of a problem, with the messages of its first turn."""

    asked: Asked
    number: int
    messages: Sequence[Message]


@dataclass(frozen=True)
class SolutionToTry:
    """A solution that is to be tried. `digest` identifies solution, problem and sandbox."""

    task_id: str
    sample: int
    turn: int
    solution: FileSolution
    digest: str


@dataclass(frozen=True)
class Turn:
    """A reply, its solution, and what became of that; `outcome` is None where it was not tried."""

    kept: KeptReply
    solution: FileSolution
    outcome: TrialOutcome | None = None

    @property
    def problem(self) -> str:
        return problem_of(self.solution)


@dataclass(frozen=True)
class Progressed:
    """The progress of a sample: `next` is to be done, or it has `ended`. `messages` hold its last reply too."""

    turns: Sequence[Turn]
    messages: Sequence[Message]
    next: AskedTurn | SolutionToTry | None
    ended: SampleEnded | None = None

    @property
    def chosen(self) -> Turn:
        """The last turn whose reply holds a solution, else the last."""
        return next((turn for turn in reversed(self.turns) if not turn.problem), self.turns[-1])


class Turns:
    """Knows what comes next. `trials` has a digest for each problem that can be tried; other problems get one turn."""

    def __init__(
        self, settings: Settings, prompts: Prompts, store: Store, outcomes: Outcomes, trials: Mapping[str, str]
    ) -> None:
        self._settings = settings
        self._prompts = prompts
        self._store = store
        self._outcomes = outcomes
        self._trials = trials
        self._finished: dict[tuple[str, int], Progressed] = {}

    def first(self, sample: AskedSample) -> AskedTurn:
        return self._request(sample, sample.messages, 0)

    def progressed(self, sample: AskedSample) -> Progressed:
        """The progress of the sample."""
        key = sample.asked.task_id, sample.number
        found = self._finished.get(key) or self._through(sample)
        if found.next is None:
            self._finished[key] = found
        return found

    def _through(self, sample: AskedSample) -> Progressed:
        """Go through what is kept of the sample."""
        messages, turns = list(sample.messages), list[Turn]()
        while True:
            request = self._request(sample, messages, len(turns))
            kept = self._store.get(request.key, request.digest)
            if kept is None:
                return Progressed(turns, messages, request)
            reply = kept.reply
            solution = solution_of(sample.asked, reply.text, reply.finish_reason, reply.refusal)
            messages = [*messages, {"role": "assistant", "content": without_thoughts(reply.text) or NO_TEXT}]
            turn = Turn(kept, solution)
            turns.append(turn)
            if ended := self._ends_untried(sample, turn):
                return Progressed(turns, messages, None, ended)
            if not turn.problem:
                attempt = self._attempt(sample, turn)
                outcome = self._outcomes.get(attempt.digest)
                if outcome is None:
                    return Progressed(turns, messages, attempt)
                turn = turns[-1] = Turn(kept, solution, outcome)
                if outcome.ending is not TrialEnding.FAILED:
                    ended = SampleEnded.PASSED if outcome.ending is TrialEnding.PASSED else SampleEnded.NOT_TRIED
                    return Progressed(turns, messages, None, ended)
            messages = [*messages, self._follow_up(turn)]

    def _ends_untried(self, sample: AskedSample, turn: Turn) -> SampleEnded | None:
        """Returns the reason why the sample ends without a trial of its last reply. Nobody would see the outcome of
        the last turn."""
        if sample.asked.task_id not in self._trials:
            return SampleEnded.NOT_TRIED
        if is_refused(turn.kept.reply):
            return SampleEnded.REFUSED
        return SampleEnded.LAST_TURN if turn.kept.turn + 1 >= self._settings.turns else None

    def _request(self, sample: AskedSample, messages: Sequence[Message], turn: int) -> AskedTurn:
        """Equal digests have the same messages, endpoint, model and parameters."""
        fields = [self._settings.base_url, self._settings.parameters.sent(sample.number), list(messages)]
        digest = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
        return AskedTurn(sample.asked.task_id, sample.number, messages, digest, turn)

    def _attempt(self, sample: AskedSample, turn: Turn) -> SolutionToTry:
        task_id, kept = sample.asked.task_id, turn.kept
        files = [[file.path, file.content] for file in turn.solution.files]
        digest = hashlib.sha256(json.dumps([self._trials[task_id], files]).encode()).hexdigest()
        return SolutionToTry(task_id, sample.number, kept.turn, turn.solution, digest)

    def _follow_up(self, turn: Turn) -> Message:
        n_left = self._settings.turns - turn.kept.turn - 1
        if turn.outcome is None:
            return self._prompts.follow_up(f"Your solution could not be tried. {turn.problem}", "", n_left)
        result = f"Your solution was tried and did not pass ({turn.outcome.verdict}). {turn.outcome.reason}"
        return self._prompts.follow_up(result, turn.outcome.output, n_left)
