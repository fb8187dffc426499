"""Puts a contestant before a checker: gives the checker its order and collects the replies."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from runners.agent.devices.lanes import Seat
from runners.agent.ground.errors import Cancelled
from runners.agent.ground.events import Progress
from runners.agent.judges.function.checkers import SILENCE_SECONDS, Checker
from runners.agent.judges.function.contestants import Contestants, Entry
from runners.agent.judges.function.inside.orders import Calibrate, CallSample, CaseReply, HowEnded
from runners.agent.judges.host import HostRecord, MachineWatch, host_in_goes
from runners.agent.sandbox.policy import Outcome, Running

ENDING_SECONDS = 3.0
"""Time for a process that ended its channel to end itself."""


@dataclass(frozen=True)
class Contest:
    """The checker's replies on one contestant, and the end of its process."""

    cases: tuple[CaseReply, ...]
    ordered: tuple[int, ...]
    """Numbers of the cases that it had to answer."""
    how: HowEnded
    words: str
    """The contestant's own words about its error."""
    outcome: Outcome
    load_ms: float
    """Time until its solution was loaded."""
    host: HostRecord | None = None
    """Observations of the machine during the timed calls, on a CPU."""

    @property
    def is_disturbed(self) -> bool:
        """Whether it was right, and other programs on the machine lengthened its times."""
        has_passed = self.how is HowEnded.NOT and all(one.complaint is None for one in self.cases)
        return has_passed and self.host is not None and self.host.is_busy


def contest(
    contestants: Contestants,
    checker: Checker,
    entry: Entry,
    seat: Seat,
    order: Calibrate | CallSample,
    progress: Progress,
    on_case: Callable[[CaseReply], None] = lambda _: None,
) -> Contest:
    """Run one contestant to its end. Raises Cancelled, and SandboxFault if checker or sandbox fails."""
    limit_seconds = entry.subject.problem.time_limit_seconds
    cases: list[CaseReply] = []

    def note(reply: CaseReply) -> None:
        cases.append(reply)
        on_case(reply)

    began = time.monotonic()
    with contestants.live(entry, seat, progress) as live:
        watch = MachineWatch([*checker.roots, *live.roots])
        checker.order(order, live.channel, live.brake)
        live.channel.close()
        live.brake.close()
        contestants.prepare(entry, seat)
        end = checker.cases(progress, limit_seconds + SILENCE_SECONDS, note)
        if progress.cancelled.is_set():  # it was ended for that, which is no end of its own
            raise Cancelled
        work = watch.seen([*checker.roots, *live.roots])
        outcome = _outcome(live.running, end.how)
        turn_ms = (time.monotonic() - began) * 1e3
    outcome = replace(outcome, wall_ms=min(outcome.wall_ms, turn_ms))  # it may have waited for its turn
    host = None if entry.subject.device == "cuda" else host_in_goes(outcome, work)
    return Contest(tuple(cases), tuple(order.cases), end.how, end.words, outcome, end.load_ms, host)


def _outcome(running: Running, how: HowEnded) -> Outcome:
    """The process's end: its own if it ended its channel, else by our hand, for it may be stopped."""
    deadline = time.monotonic() + (ENDING_SECONDS if how in (HowEnded.GONE, HowEnded.ERROR) else 0.0)
    while not running.has_ended and time.monotonic() < deadline:
        time.sleep(0.01)
    running.stop()
    return running.wait()
