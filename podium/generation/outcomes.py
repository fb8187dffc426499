"""Outcomes of trials, kept in a file: a resumed run shows the model the same words again."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self

from podium.generation.journal import Journal, decoded

HEAD_CHARACTERS, TAIL_CHARACTERS = 4_000, 2_000
"""The first error explains most, the end says how it ended."""


class TrialEnding(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNTRIED = "untried"
    """The problem cannot be tried: its own reference fails in the same way."""


@dataclass(frozen=True)
class TrialOutcome:
    """The outcome of one trial. `output` is what the model sees of it, `verdict` and `reason` are the judge's."""

    ending: TrialEnding
    verdict: str = ""
    reason: str = ""
    output: str = ""


class Outcomes:
    """Outcomes of one run in `trials.jsonl`, by the digest of what was tried."""

    def __init__(self, path: Path) -> None:
        self._journal = Journal(path)
        self._known = _read(self._journal)

    def __enter__(self) -> Self:
        self._journal.__enter__()
        return self

    def __exit__(self, *ended: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._journal.__exit__(*ended)

    def get(self, digest: str) -> TrialOutcome | None:
        return self._known.get(digest)

    def add(self, task_id: str, sample: int, turn: int, digest: str, outcome: TrialOutcome) -> None:
        """Append and flush to the disk."""
        where = {"task_id": task_id, "sample": sample, "turn": turn, "digest": digest}
        self._journal.append({**where, **asdict(outcome)})
        self._known[digest] = outcome


def _read(journal: Journal) -> dict[str, TrialOutcome]:
    """A line that cannot be read is left out: that trial runs again."""
    known = {}
    for _, line, _ in journal.lines():
        try:
            data = decoded(line)
            texts = [str(data[name]) for name in ("verdict", "reason", "output")]
            known[str(data["digest"])] = TrialOutcome(TrialEnding(data["ending"]), *texts)
        except (ValueError, TypeError, KeyError):
            continue
    return known


def trimmed(text: str) -> str:
    """The head and the tail of a long text, with the number of characters left out between them."""
    left_out = len(text) - HEAD_CHARACTERS - TAIL_CHARACTERS
    if left_out <= 0:
        return text
    return f"{text[:HEAD_CHARACTERS]}\n[… {left_out:,} characters left out …]\n{text[-TAIL_CHARACTERS:]}"
