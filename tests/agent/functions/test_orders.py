"""The orders to a checker and its replies keep their values on the way, and nothing else is read."""

import pytest

from runners.agent.ground.errors import SandboxFault
from runners.agent.judges.function import checkers
from runners.agent.judges.function.inside.orders import (
    MOST_BYTES,
    AcceptedMutants,
    Broken,
    Calibrate,
    CallSample,
    CaseReply,
    CheckerFault,
    Complaint,
    DeviceFacts,
    End,
    HowEnded,
    Load,
    Order,
    Ready,
    Reply,
    ShownCall,
    TryMutants,
    Unreadable,
    decoded,
    encoded,
)
from runners.agent.judges.function.inside.plan import Plan
from runners.agent.judges.function.plans import RANKED
from tests.agent.functions.table import SCALE, SCALE_PYTHON, Table, problem

PLAN = Plan(3, 7, n_shown=12)
CALLED = CaseReply(1, 12, [10, 11], [7, 8], 2.5, False, 1.0, 2.0)
SENT: list[Order | Reply] = [
    Load(),
    Calibrate("python", [0, 1], None),
    CallSample("native", [4], [0], PLAN, PLAN, [1], like=0, sizes={"n": 3}),
    TryMutants(2),
    Ready("{}", last=True),
    Broken("no class"),
    CALLED._replace(shown=ShownCall({"inputs": "x"}, 0.5, "inf"), one_set_ns=3.0, setup_ms=1.5),
    CALLED._replace(complaint=Complaint("wrong", 1.0, "nan", 1, 7, [["y", [4], "3", "4"]])),  # type: ignore[list-item]
    CALLED._replace(device=DeviceFacts("host", [1.0], 3, 1, "why", 0.0, 2.0)),
    CheckerFault("the device"),
    *(End(how, "words", 3.0) for how in HowEnded),
    AcceptedMutants(["zeros"], [], "fp8"),
]


@pytest.mark.parametrize("value", SENT, ids=lambda value: type(value).__name__)
def test_it_arrives_as_it_was_sent(value: Order | Reply) -> None:
    arrived = decoded(encoded(value))
    assert (type(arrived), arrived) == (type(value), value)


@pytest.mark.parametrize(
    "datagram",
    [b"", b"{}", b'["Other"]', b'["CheckerFault"]', b'["CheckerFault", 1, 2]', b'["End", "slept", "", 1.0]', b"\xff"],
)
def test_anything_else_is_refused(datagram: bytes) -> None:
    with pytest.raises(Unreadable):
        decoded(datagram)


def test_the_longest_reply_fits_into_a_datagram() -> None:
    calls = [10**10] * RANKED["most_calls"]
    words = "\N{GREEK SMALL LETTER MU}" * 1000
    complaint = Complaint(words, 1.0, 1.0, 1, 1, [("output", [1] * 8, "1" * 30, "1" * 30)] * 5)
    shown = ShownCall(dict.fromkeys(("inputs", "expected", "output"), words), 1.0, 1.0)
    assert len(encoded(CALLED._replace(clock_ns=calls, go_ns=calls, complaint=complaint, shown=shown))) < MOST_BYTES


def test_a_checker_of_another_version_serves_nobody(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkers, "VERSION", 99)
    with pytest.raises(SandboxFault, match="does not speak version 99"):
        table.judge(problem(f"# another version\n{SCALE}"), SCALE_PYTHON)
