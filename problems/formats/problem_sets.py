"""The report of reading another's problem set: each problem read, read with a change, or refused."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["read", "changed", "refused"]


@dataclass(frozen=True)
class ProblemRead:
    """One problem of a set.

    `files` is the folder of the function problem made of it, by path. It is empty if the problem is refused.
    """

    slug: str
    source: str
    """Its file or folder within the set."""
    files: Mapping[str, str]
    notes: Sequence[str] = ()
    """Differences between its use here and in its set, in words."""
    refused: str = ""
    line: int = 0
    remedy: str = ""

    @property
    def state(self) -> State:
        if self.refused:
            return "refused"
        return "changed" if self.notes else "read"

    def as_json(self) -> dict[str, Any]:
        """The problem's row of the report, without its files."""
        row = asdict(self)
        del row["files"]
        return {"state": self.state, **row, "notes": list(self.notes)}


@dataclass(frozen=True)
class SetRead:
    """All problems of a set in the order of their names, and what its licence asks of the user."""

    problems: Sequence[ProblemRead]
    terms: str = ""

    def having(self, state: State) -> list[ProblemRead]:
        return [one for one in self.problems if one.state == state]

    @property
    def readable(self) -> list[ProblemRead]:
        return [one for one in self.problems if not one.refused]
