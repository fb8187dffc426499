"""The events of a job. Heartbeats, live pages and timelines are made from them only."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from runners.wire.protocol import CaseReport


@dataclass(frozen=True)
class StageEntered:
    """The job has reached this stage."""

    stage: str


@dataclass(frozen=True)
class BuildPrinted:
    """The solution's build printed these bytes."""

    chunk: bytes


@dataclass(frozen=True)
class CaseEnded:
    """A case of the problem has its verdict."""

    case: CaseReport


@dataclass(frozen=True)
class CommandRan:
    """A build, test or benchmark ended. Times are `time.monotonic_ns` and include waits for a slot or device."""

    step: str
    task_id: str
    is_reference: bool
    began_ns: int
    ended_ns: int


@dataclass(frozen=True)
class TurnChanged:
    """A run at a gate asked for its turn (`ask`, `hold`), got it (`open`, `begin`) or gave it back (`close`)."""

    task_id: str
    is_reference: bool
    alone: bool
    change: str
    at_ns: int


Event = StageEntered | BuildPrinted | CaseEnded | CommandRan | TurnChanged


def _ignore(_event: Event) -> None:
    """Discard the event."""


@dataclass(frozen=True)
class Progress:
    """Receives a job's events from any thread. Setting `cancelled` stops the job."""

    tell: Callable[[Event], None] = _ignore
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def without_output(self) -> "Progress":
        """A progress without `BuildPrinted`, for the reference's build, whose output stays secret."""
        return Progress(lambda event: None if isinstance(event, BuildPrinted) else self.tell(event), self.cancelled)
