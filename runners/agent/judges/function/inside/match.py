"""One contestant before the checker: the calls of a case, each with fresh data, timed, and checked afterwards."""

import math
import secrets
import socket
import statistics
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from . import messages
from .buffers import Buffers
from .clock import Clock, Link, Status, Times

START_SECONDS = 120.0
"""Longest time for a contestant to load its solution."""
MAP_SECONDS = 60.0
COPY_SHARE = 0.1
"""Largest share of a case's time that copying all inputs inside the clock may take."""
CALIBRATING_CALLS = 14
WARM_UPS = 2
"""Calls that are checked but not timed. The first may compile; the second decides how the inputs are completed."""
BUSY_FACTOR, BUSY_MARGIN_NS = 1.5, 200_000
"""Writing the arrays of a GPU that takes longer than this shows that something else runs there."""
LEAST_POISON = 0xC0
"""From here on an element whose bytes are all the same is NaN or at most -2 in every floating type: never near 0."""
MOST_WORDS = 1500
MOST_SHOWN = 1000
DEVIATES = 1.96
"""Standard deviations on either side of the middle of a normal distribution that hold 95 % of it."""


class Ended(Exception):
    """The contestant will answer no more. `how`: late, gone, error, bad_answer, not_stopped."""

    def __init__(self, how: str, words: str = "") -> None:
        super().__init__(how)
        self.how, self.words = how, words


class DeviceFault(Exception):
    """The device failed under the checker itself."""


class Plan(NamedTuple):
    """How often a case is called, beyond the calls that are not timed."""

    least_calls: int = 5
    most_calls: int = 20
    enough_seconds: float = 0.2
    """Stop once the timed calls took so long together, and there are enough of them."""
    longest_seconds: float = 4.0
    """Stop once the case has taken so long, checking included; at least three calls are timed."""
    budget_seconds: float = 60.0
    """For all calls of all cases."""
    n_shown: int = 0
    """How many elements of each array of the last call are told, for a trial."""
    precision: float = 0.0
    """If positive, stop once the 95 % interval of the median reaches no farther from it than this share of it, or the
    case has taken `enough_seconds`, checking included."""


class Overhead(NamedTuple):
    """Nanoseconds of a call that are not the solution's, as calibrated with a solution that fills its outputs."""

    call_ns: float = 0.0
    """With a secret scatter of the inputs inside the clock."""
    call_all_ns: float = math.inf
    """With all inputs copied inside the clock."""
    write_ns: float = math.inf
    """Writing the arrays before the clock, on a device that nothing else uses."""
    gap_ns: float = 0.0
    """How much longer a call is by the checker's clock, less its cost, than by the contestant's device events."""
    gap_spread_ns: float = 0.0
    """Between the least and the largest such difference."""


class Match:
    """A contestant at its channel."""

    def __init__(
        self, loaded: Any, arrays: Any, memory: Any, clock: Clock, channel: socket.socket, brake: socket.socket
    ) -> None:
        self._loaded = loaded
        self._arrays = arrays
        self._memory = memory
        self._clock = clock
        self._channel = channel
        self._brake = brake
        self._link = Link(channel.fileno(), brake.fileno())
        self._is_stopped = False
        self._index = 0
        self._kept: dict[str, Any] = {}
        """Weights and structure of the present case, by name: they stay the same in this process."""
        self.device = messages.CUDA if memory.flush is not None else messages.CPU
        self.spent_seconds = 0.0

    def begin(self) -> None:
        """Wait until the solution is loaded. Raises Ended."""
        self._await(messages.LOADED, START_SECONDS)

    def case(self, number: int, plan: Plan, overhead: Overhead) -> dict[str, Any]:
        """Call, time and check one case. Raises Ended and DeviceFault."""
        drawn = self._draw(number)
        self._kept = self._loaded.kept(drawn)
        buffers = Buffers(self._memory, self._arrays, self._loaded.parameters, drawn)
        try:
            self._give(buffers)
            setup = self._set_up(buffers, drawn, plan) if self._kept else {}
            return {**_Case(self, buffers, number, plan, overhead).run(drawn), **setup}
        finally:
            buffers.close()
            self._kept = {}

    def _set_up(self, buffers: Buffers, drawn: Any, plan: Plan) -> dict[str, float]:
        """Have the contestant prepare what depends on weights and structure alone. Raises Ended."""
        buffers.write(self._memory, self._kept, drawn)
        began = time.monotonic()
        self._send(messages.head(messages.SETUP))
        self._await(messages.DONE, max(0.001, plan.budget_seconds - self.spent_seconds))
        seconds = time.monotonic() - began
        self.spent_seconds += seconds
        return {"setup_ms": seconds * 1e3}

    def overhead(self, number: int) -> Overhead:
        """What a call of this case costs beside the solution.

        The contestant is one that does nothing at every odd call and fills the outputs at every even one. The first
        give the way from go to done; with the second the copies find the outputs where a solution leaves them. Data is
        drawn before every call, since that empties the caches before a solution's calls, too. The least of several
        calls counts: other work on the machine only lengthens one, and too much must never be subtracted.
        """
        buffers = Buffers(self._memory, self._arrays, self._loaded.parameters, self._draw(number))
        try:
            self._give(buffers)
            some = self._calibrating(buffers, number, copies_all=False)
            every = self._calibrating(buffers, number, copies_all=True) if self._memory.may_copy_all else []
        finally:
            buffers.close()
        go_ns = min(one.go_ns for one in some[0::2])
        call_ns = go_ns + min(one.complete_ns + one.copy_ns for one in some[1::2])
        gaps_ns = [one.clock_ns - call_ns - one.whole_ms * 1e6 for one in some[1::2]]
        return Overhead(
            call_ns,
            go_ns + min((one.complete_ns + one.copy_ns for one in every[1::2]), default=math.inf),
            statistics.median(one.write_ns for one in some),
            statistics.median(gaps_ns),
            max(gaps_ns) - min(gaps_ns),
        )

    def _calibrating(self, buffers: Buffers, number: int, *, copies_all: bool) -> list[Times]:
        calls = [
            self.call(buffers, self._draw(number), copies_all, START_SECONDS)[0] for _ in range(2 + CALIBRATING_CALLS)
        ]
        return calls[2:]

    def _draw(self, number: int) -> Any:
        return self._loaded.draw(number, secrets.randbits(63), self._kept)

    def draw_again(self, number: int) -> Any:
        return self._draw(number)

    def call(self, buffers: Buffers, drawn: Any, copies_all: bool, timeout_s: float) -> tuple[Times, int, str]:
        """One call: its times, the poison of its outputs, and what it did to its surroundings ("" if nothing)."""
        regions, kept = buffers.regions(drawn)
        self._index += 1
        self._memory.finish()
        poison = 0 if self._loaded.output_init == "zero" else LEAST_POISON | secrets.randbits(6)
        times = self._clock.call(
            self._link,
            regions,
            index=self._index,
            secret=secrets.randbits(64),
            poison=poison,
            timeout_s=timeout_s,
            copies_all=copies_all,
        )
        self._is_stopped = True
        if times.status is Status.DEVICE_FAULT:
            raise DeviceFault("a copy on the device failed")
        if times.status is not Status.DONE:
            raise Ended(times.status.name.lower(), times.words[:MOST_WORDS])
        changed = buffers.changed_input(self._memory, regions)
        overrun = buffers.overrun()
        del kept
        trespass = f"changed its input `{changed}`" if changed else ""
        return times, poison, f"wrote outside of `{overrun}`" if overrun else trespass

    def compare(self, number: int, drawn: Any, buffers: Buffers, poison: int) -> Any:
        unwritten = None
        if self._loaded.output_init != "zero" and self._loaded.form.accuracy.kind == "own":
            unwritten = [self._arrays.unwritten(copy, poison) for copy in buffers.copies]
        return self._loaded.compare(number, drawn, buffers.copies, unwritten)

    def values_of(self, drawn: Any, buffers: Buffers, count: int) -> dict[str, str]:
        """The first elements of a call's inputs, of the answers expected and of those given, in words."""
        names = self._loaded.parameters
        inputs = [
            (one.name, given) for one, given in zip(names, drawn.arguments, strict=True) if one.direction != "out"
        ]
        outputs = [one.name for one in names if one.direction != "in"]
        return {
            "inputs": self._in_words(inputs, count),
            "expected": self._in_words(zip(outputs, drawn.expected, strict=True), count),
            "output": self._in_words(zip(outputs, buffers.copies, strict=True), count),
        }

    def _in_words(self, values: Iterable[tuple[str, Any]], count: int) -> str:
        return "\n".join(f"{name} = {self._value_in_words(value, count)}" for name, value in values)[:MOST_SHOWN]

    def _value_in_words(self, value: Any, count: int) -> str:
        if not hasattr(value, "shape"):
            return f"{value:.9g}" if isinstance(value, float) else str(value)
        first = self._arrays.first(value, count)
        words = [f"{one:.9g}" if isinstance(one, float) else str(one) for one in first]
        return f"[{', '.join(words)}{', …' if math.prod(value.shape) > len(first) else ''}]"

    def _give(self, buffers: Buffers) -> None:
        if self._is_stopped:
            self._clock.let_go(self._link)
            self._is_stopped = False
        self._send(messages.arguments(buffers.values, self.device), buffers.files)
        self._await(messages.MAPPED, MAP_SECONDS)

    def _send(self, message: bytes, files: Sequence[int] = ()) -> None:
        self._channel.settimeout(MAP_SECONDS)  # it may read none of its messages
        try:
            socket.send_fds(self._channel, [message], files)
        except TimeoutError as error:
            raise Ended("late") from error
        except OSError as error:
            raise Ended("gone") from error

    def _await(self, wanted: int, seconds: float) -> None:
        self._channel.settimeout(seconds)
        try:
            message = self._channel.recv(messages.HEAD.size + messages.MOST_WORDS)
        except TimeoutError as error:
            raise Ended("late") from error
        except OSError as error:
            raise Ended("gone") from error
        finally:
            self._channel.settimeout(None)
        if not message:
            raise Ended("gone")
        if len(message) < messages.HEAD.size:
            raise Ended("bad_answer")
        kind = messages.HEAD.unpack_from(message)[1]
        if kind == messages.ERROR:
            raise Ended("error", message[messages.HEAD.size :].decode("utf-8", "replace")[:MOST_WORDS])
        if kind != wanted:
            raise Ended("bad_answer")


class _Case:
    """The calls of one case."""

    def __init__(self, match: Match, buffers: Buffers, number: int, plan: Plan, overhead: Overhead) -> None:
        self._match = match
        self._buffers = buffers
        self._number = number
        self._plan = plan
        self._overhead = overhead
        self._copies_all = False
        self._times: list[Times] = []
        self._prepare_s = self._check_s = 0.0
        self._shown: dict[str, str] = {}

    def run(self, drawn: Any) -> dict[str, Any]:
        began = time.monotonic()
        while True:
            complaint = self._once(drawn)
            if complaint is not None:
                return {**self._facts(), **complaint, "verdict": "wrong_answer"}
            if self._is_enough(time.monotonic() - began):
                return {**self._facts(), "verdict": "passed"}
            since = time.monotonic()
            drawn = self._match.draw_again(self._number)
            self._prepare_s += time.monotonic() - since

    def _once(self, drawn: Any) -> dict[str, Any] | None:
        left = self._plan.budget_seconds - self._match.spent_seconds
        if left <= 0:
            raise Ended("late")
        times, poison, trespass = self._match.call(self._buffers, drawn, self._copies_all, left)
        self._match.spent_seconds += times.go_ns / 1e9
        self._prepare_s += times.prepare_ns / 1e9
        self._times.append(times)
        if len(self._times) == WARM_UPS:
            self._choose_copying(times)
        if trespass:
            return {"message": trespass}
        since = time.monotonic()
        comparison = self._match.compare(self._number, drawn, self._buffers, poison)
        self._check_s += time.monotonic() - since
        if self._plan.n_shown:
            self._shown = self._match.values_of(drawn, self._buffers, self._plan.n_shown)
        return None if comparison.right else told(comparison)

    def _choose_copying(self, times: Times) -> None:
        some_ns, all_ns = self._overhead.call_ns, self._overhead.call_all_ns
        self._copies_all = all_ns - some_ns < COPY_SHARE * (times.clock_ns - some_ns)

    def _is_enough(self, spent_seconds: float) -> bool:
        timed = self._times[WARM_UPS:]
        if len(timed) >= self._plan.most_calls:
            return True
        if spent_seconds > self._plan.longest_seconds and len(timed) >= min(3, self._plan.least_calls):
            return True
        if len(timed) < self._plan.least_calls:
            return False
        clocks_ns = [one.clock_ns for one in timed]
        if self._plan.precision > 0:
            is_precise = deviation([one - self._overhead_ns for one in clocks_ns]) <= self._plan.precision
            return is_precise or spent_seconds >= self._plan.enough_seconds
        return sum(clocks_ns) / 1e9 >= self._plan.enough_seconds

    @property
    def _overhead_ns(self) -> float:
        return self._overhead.call_all_ns if self._copies_all else self._overhead.call_ns

    def _facts(self) -> dict[str, Any]:
        timed = self._times[WARM_UPS:]
        slow_ns = BUSY_FACTOR * self._overhead.write_ns + BUSY_MARGIN_NS
        return {
            "clock_ns": [one.clock_ns for one in timed],
            "go_ns": [one.go_ns for one in timed],
            "overhead_ns": self._overhead_ns,
            **event_facts(timed, self._overhead),
            "n_slow_writes": sum(one.write_ns > slow_ns for one in timed),
            "copies_all": self._copies_all,
            "n_calls": len(self._times),
            "prepare_ms": self._prepare_s * 1e3,
            "check_ms": self._check_s * 1e3,
            **({"values": self._shown} if self._shown else {}),
        }


def event_facts(timed: Sequence[Times], overhead: Overhead) -> dict[str, Any]:
    """What the contestant's device events told of the timed calls; nothing where it told none."""
    if not timed or any(one.whole_ms <= 0 or one.events_ms <= 0 for one in timed):
        return {}
    return {
        "whole_ms": [one.whole_ms for one in timed],
        "events_ms": [one.events_ms for one in timed],
        "gap_ns": overhead.gap_ns,
        "gap_spread_ns": overhead.gap_spread_ns,
    }


def deviation(times_ns: Sequence[float]) -> float:
    """How far the 95 % interval of the median reaches from it, as a share of it, by the normal approximation of ranks;
    infinite if the median is not positive or there are too few times."""
    ordered, count = sorted(times_ns), len(times_ns)
    low = math.floor((count - DEVIATES * math.sqrt(count)) / 2)  # ranks from 1 on
    high = math.ceil(1 + (count + DEVIATES * math.sqrt(count)) / 2)
    median = statistics.median(ordered) if ordered else 0.0
    if median <= 0 or low < 1 or high > count:
        return math.inf
    return max(ordered[high - 1] - median, median - ordered[low - 1]) / median


def number(value: Any) -> float | str:
    """The number, or its word where JSON has none for it."""
    return float(value) if math.isfinite(value) else str(float(value))


def told(comparison: Any) -> dict[str, Any]:
    """A comparison that failed, as plain values; numbers that JSON cannot hold become words."""
    first = [
        [str(output), list(map(int, index)), str(want), str(got)] for output, index, want, got in comparison.first_wrong
    ]
    return {
        "message": str(comparison.message)[:MOST_WORDS],
        "largest": number(comparison.largest),
        "mean": number(comparison.mean),
        "n_wrong": int(comparison.n_wrong),
        "n_total": int(comparison.n_total),
        "first_wrong": first[:5],
    }
