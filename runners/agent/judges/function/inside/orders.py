"""The orders that the agent gives a checker, and its replies. Both sides import this module.

An order or a reply is one datagram of JSON with the name of its class. The contestant takes no part in this channel.
"""

import json
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from .plan import Plan

VERSION = 1
"""Version of these classes. A checker tells it with its first reply."""
MOST_BYTES = 1 << 16
"""Bytes of a datagram: a reply on 300 calls takes about 8,000. Linux sends up to 212,992 (`net.core.wmem_default`)."""


class HowEnded(Enum):
    """How a contestant ended before its time."""

    NOT = ""
    LATE = "late"
    GONE = "gone"
    ERROR = "error"
    BAD_ANSWER = "bad_answer"
    NOT_STOPPED = "not_stopped"
    """It ran while it was to stand still between two calls."""
    REFUSED = "refused"
    """The problem does not take the own sizes of its trial."""


class Ended(Exception):
    """The contestant will answer no more."""

    def __init__(self, how: HowEnded, words: str = "") -> None:
        super().__init__(how)
        self.how, self.words = how, words


class DeviceFault(Exception):
    """The device failed under the checker itself."""


class Unreadable(Exception):
    """A datagram that holds no order and no reply of this version."""


class Load(NamedTuple):
    """Load the problem's class. The replies are `Ready` in parts, or `Broken`."""


class Calibrate(NamedTuple):
    """Time what a call of these cases costs, with a contestant that fills its outputs. The reply is an `End`."""

    stub: str
    """The kind of the contestant's process: `native` or `python`."""
    cases: Sequence[int]
    timed: Sequence[int] | None
    """Cases that are never too short to be timed; None if no cases are fixed."""


class CallSample(NamedTuple):
    """Call, time and check a contestant. The replies are a `CaseReply` for each case, and an `End`."""

    stub: str
    cases: Sequence[int]
    timed: Sequence[int] | None
    plan: Plan
    short_plan: Plan
    """The plan of a case that is too short to be timed, or is not timed."""
    host_cases: Sequence[int] = ()
    """Cases that are timed by the host's clock on a GPU."""
    like: int | None = None
    """With `sizes`, the case to which the only case is like."""
    sizes: Mapping[str, int] = {}
    """Own sizes of a trial, by the name of a scalar."""


class TryMutants(NamedTuple):
    """Tell which wrong answers the check of a case accepts, without a contestant. The reply is `AcceptedMutants`."""

    case: int


class Ready(NamedTuple):
    """A part of the JSON of the problem's facts."""

    part: str
    last: bool
    version: int = VERSION


class Broken(NamedTuple):
    """The problem's class cannot be loaded."""

    words: str


class Complaint(NamedTuple):
    """A wrong answer. Differences that JSON cannot hold are words."""

    message: str
    largest: float | str | None = None
    mean: float | str | None = None
    n_wrong: int | None = None
    n_total: int | None = None
    first_wrong: Sequence[tuple[str, Sequence[int], str, str]] = ()
    """Output, index, expected and given value of the first wrong elements."""


class ShownCall(NamedTuple):
    """The values of a trial's call, in words, and how far its answer was off."""

    values: Mapping[str, str]
    largest: float | str
    mean: float | str


class DeviceFacts(NamedTuple):
    """Facts of a case that was called on a GPU."""

    clock: str
    """`device`, or `host` if it was timed by the host's clock."""
    overheads_ns: Sequence[float]
    """The cost of a call beside the solution's, by process in which it was calibrated."""
    n_handed: int
    n_disturbed: int
    why_host: str
    late_copies_ns: float
    copies_ns: float


class CaseReply(NamedTuple):
    """A case that was called and checked."""

    case: int
    n_calls: int
    clock_ns: Sequence[int]
    """The time of each go that counts."""
    go_ns: Sequence[int]
    overhead_ns: float
    is_short: bool
    """Whether it is too short to have a time."""
    prepare_ms: float
    check_ms: float
    complaint: Complaint | None = None
    """None if all answers were right."""
    shown: ShownCall | None = None
    overhead_spread_ns: float = 0.0
    one_set_ns: float | None = None
    """The time of a call with one set, in a case that has several."""
    one_set_spread_ns: float = 0.0
    setup_ms: float | None = None
    device: DeviceFacts | None = None


class CheckerFault(NamedTuple):
    """The device failed under the checker."""

    words: str


class End(NamedTuple):
    """The end of an order with a contestant."""

    how: HowEnded
    words: str
    """The contestant's own words about its error."""
    load_ms: float
    """Time until its solution was loaded."""


class AcceptedMutants(NamedTuple):
    """The wrong answers that a check accepts."""

    faults: Sequence[str]
    differing: Sequence[str]
    """Where it rules otherwise on the CPU."""
    admits: str
    """The narrowest data type whose rounding it accepts."""


Order = Load | Calibrate | CallSample | TryMutants
Reply = Ready | Broken | CaseReply | CheckerFault | End | AcceptedMutants
_KINDS: Mapping[str, Any] = {
    one.__name__: one
    for one in (Load, Calibrate, CallSample, TryMutants, Ready, Broken, CaseReply, CheckerFault, End, AcceptedMutants)
}
_NESTED: Mapping[str, Any] = {
    "plan": lambda fields: Plan(*fields), "short_plan": lambda fields: Plan(*fields),
    "complaint": lambda fields: Complaint(*fields), "shown": lambda fields: ShownCall(*fields),
    "device": lambda fields: DeviceFacts(*fields), "how": HowEnded,
}  # fmt: skip
"""Functions that make a field's value of its JSON."""


def encoded(value: Order | Reply) -> bytes:
    plain = [field.value if isinstance(field, Enum) else field for field in value]
    return json.dumps([type(value).__name__, *plain]).encode()


def decoded(datagram: bytes) -> Any:
    """The order or reply. Raises Unreadable."""
    try:
        name, *values = json.loads(datagram)
        kind = _KINDS[name]
        fields = dict(zip(kind._fields, values, strict=True))
        made = {field: of(fields[field]) for field, of in _NESTED.items() if fields.get(field) is not None}
        return kind(**{**fields, **made})
    except (ValueError, TypeError, KeyError) as error:
        raise Unreadable(str(error)) from error
