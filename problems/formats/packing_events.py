"""Messages of `podium uploads pack` to the program that started it: one JSON object a line on standard output."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

MAX_WORDS = 2000
"""Characters of a fault or a note; the rest is cut off."""


class PackingKind(StrEnum):
    """The contents of an uploaded folder."""

    FUNCTIONS = "functions"
    PMPP = "pmpp"
    KERNELBENCH = "kernelbench"
    FLASHINFER = "flashinfer"
    SOL_EXECBENCH = "sol-execbench"
    LEETGPU = "leetgpu"

    @property
    def is_set(self) -> bool:
        """Whether it is a problem set of another platform, which is read with a report."""
        return self not in (PackingKind.FUNCTIONS, PackingKind.PMPP)


class _Event(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Begun(_Event):
    """A problem is being packed."""

    at: Literal["begun"] = "begun"
    number: int
    n_problems: int
    name: str


class Note(_Event):
    """Something that the author should know of a pack that is made."""

    at: Literal["note"] = "note"
    words: str


class SetRow(_Event):
    """A problem of a set that was read, read with a change, or refused."""

    at: Literal["set_row"] = "set_row"
    source: str
    state: Literal["read", "changed", "refused"]
    line: int = 0
    words: str = ""
    """The changes, or why it is refused."""
    remedy: str = ""


class Done(_Event):
    """The pack is written."""

    at: Literal["done"] = "done"
    n_problems: int


class Failed(_Event):
    """No pack is written. `code` is `no_sandbox` where this machine confines nothing, else of the refusal."""

    at: Literal["failed"] = "failed"
    code: str
    faults: list[str]


NO_SANDBOX = "no_sandbox"
Event = Annotated[Begun | Note | SetRow | Done | Failed, Field(discriminator="at")]
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def line_of(event: Begun | Note | SetRow | Done | Failed) -> str:
    return event.model_dump_json() + "\n"


def event_from(line: str | bytes) -> Begun | Note | SetRow | Done | Failed | None:
    """None for a line that is no event."""
    try:
        return _EVENT.validate_json(line)
    except ValidationError:
        return None


def cut(words: str) -> str:
    return words if len(words) <= MAX_WORDS else f"{words[: MAX_WORDS - 1]}…"
