"""One contestant before the checker: the calls of a case, each with fresh data, timed, and checked afterwards.

Calls are made in goes. A go of a case with several input sets has one call for each of them. The contestant holds them
all, so each set is also called in a go of its own, which must bear the time out.
"""

import math
import secrets
import socket
import time
from collections.abc import Iterable, Sequence
from typing import Any

from . import messages
from .buffers import Buffers
from .clock import Clock, Link, Status, Times
from .plan import DeviceFault, Ended, Overhead, Plan, deviation

START_SECONDS = 120.0
"""Longest time for a contestant to load its solution."""
MAP_SECONDS = 60.0
COPY_SHARE = 0.1
"""Largest share of a case's time that copying all inputs inside the clock may take."""
BUSY_FACTOR, BUSY_MARGIN_NS = 1.5, 200_000
"""Writing the arrays of a GPU that takes longer than this shows that something else runs there."""
LEAST_POISON = 0xC0
"""From here on an element whose bytes are all the same is NaN or at most -2 in every floating type: never near 0."""
MOST_WORDS = 1500
MOST_SHOWN = 1000


class Match:
    """A contestant at its channel."""

    def __init__(
        self, loaded: Any, arrays: Any, memory: Any, clock: Clock, channel: socket.socket, brake: socket.socket
    ) -> None:
        self.loaded = loaded
        self._arrays = arrays
        self.memory = memory
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

    def begin(self, stub: str) -> None:
        """Have the solution loaded. A Python process waits until it may do so. Raises Ended."""
        if stub == "python":
            self._send(messages.head(messages.START))
        self._await(messages.LOADED, START_SECONDS)

    def case(self, number: int, plan: Plan, overhead: Overhead) -> dict[str, Any]:
        """Call, time and check one case. Raises Ended and DeviceFault."""
        drawn = self.draw(number)
        self._kept = self.loaded.kept(drawn)
        sets = self.sets(number, drawn)
        try:
            self.give(sets)
            setup = self._set_up(sets[0], drawn, plan) if self._kept else {}
            return {**_Case(self, sets, number, plan, overhead).run(drawn), **setup}
        finally:
            close(sets)
            self._kept = {}

    def sets(self, number: int, drawn: Any) -> list[Buffers]:
        """The arrays of all sets of a case. Weights and structure are there once, unless they are written."""
        held = self.loaded.kept(drawn)
        kept = [one.name for one in self.loaded.parameters if one.name in held and not one.is_written]
        return [
            Buffers(self.memory, self._arrays, self.loaded.parameters, drawn, kept if place else ())
            for place in range(self.loaded.input_sets(number))
        ]

    def _set_up(self, buffers: Buffers, drawn: Any, plan: Plan) -> dict[str, float]:
        """Have the contestant prepare what depends on weights and structure alone. Raises Ended."""
        buffers.write(self.memory, self._kept, drawn)
        began = time.monotonic()
        self.call_setup(max(0.001, plan.budget_seconds - self.spent_seconds))
        seconds = time.monotonic() - began
        self.spent_seconds += seconds
        return {"setup_ms": seconds * 1e3}

    def draw(self, number: int) -> Any:
        return self.loaded.draw(number, secrets.randbits(63), self._kept)

    def call(
        self, sets: Sequence[Buffers], draws: Sequence[Any], copies_all: bool, timeout_s: float, n_goes: int = 1
    ) -> tuple[Times, int, str]:
        """A call for each set: the times, the poison of the outputs, and what it did beside them ("" if nothing)."""
        n_calls = len(sets) // n_goes
        called = list(zip(sets, draws, strict=True))
        given = [buffers.regions(drawn, place // n_calls) for place, (buffers, drawn) in enumerate(called)]
        self.memory.finish()
        poison = 0 if self.loaded.output_init == "zero" else LEAST_POISON | secrets.randbits(6)
        times = self._clock.call(
            self._link,
            [region for regions, _ in given for region in regions],
            n_goes=n_goes,
            n_calls=n_calls,
            index=self._index + 1,
            secret=secrets.randbits(64),
            poison=poison,
            timeout_s=timeout_s,
            copies_all=copies_all,
        )
        self._index += n_goes
        self._is_stopped = True
        if times.status is Status.DEVICE_FAULT:
            raise DeviceFault("a copy on the device failed")
        if times.status is not Status.DONE:
            raise Ended(times.status.name.lower(), times.words[:MOST_WORDS])
        trespasses = (buffers.trespass(self.memory, regions) for buffers, (regions, _) in zip(sets, given, strict=True))
        return times, poison, next(filter(None, trespasses), "")

    def compare(self, number: int, drawn: Any, buffers: Buffers, poison: int, *, measures: bool) -> Any:
        unwritten = None
        if self.loaded.output_init != "zero" and self.loaded.form.accuracy.kind == "own":
            unwritten = [self._arrays.unwritten(copy, poison) for copy in buffers.copies]
        return self.loaded.compare(number, drawn, buffers.copies, unwritten, measures=measures)

    def values_of(self, drawn: Any, buffers: Buffers, count: int) -> dict[str, str]:
        """The first elements of a call's inputs, of the answers expected and of those given, in words."""
        names = self.loaded.parameters
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

    def give(self, sets: Sequence[Buffers]) -> None:
        self._let_go()
        for place, buffers in enumerate(sets):
            self._send(messages.arguments(buffers.values, self.device, place), buffers.files)
            self._await(messages.MAPPED, MAP_SECONDS)

    def call_setup(self, seconds: float) -> None:
        self._let_go()
        self._send(messages.head(messages.SETUP))
        self._await(messages.DONE, seconds)

    def _let_go(self) -> None:
        if self._is_stopped:
            self._clock.let_go(self._link)
            self._is_stopped = False

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

    def __init__(self, match: Match, sets: Sequence[Buffers], number: int, plan: Plan, overhead: Overhead) -> None:
        self._match = match
        self._sets = sets
        self._number = number
        self._plan = plan
        self._overhead = overhead
        self._copies_all = False
        self._times: list[Times] = []
        self._singles: list[Times] = []
        self._prepare_s = self._check_s = 0.0
        self._shown: dict[str, str] = {}
        self._differences: dict[str, Any] = {}

    def run(self, first: Any) -> dict[str, Any]:
        began = time.monotonic()
        draws = [first, *self._drawn(len(self._sets) - 1)]
        while True:
            complaint = self._together(draws) or self._singly()
            if complaint is not None:
                return {**self._facts(), **complaint, "verdict": "wrong_answer"}
            if self._is_enough(time.monotonic() - began):
                return {**self._facts(), "verdict": "passed"}
            draws = self._drawn(len(self._sets))

    def _drawn(self, count: int) -> list[Any]:
        since = time.monotonic()
        draws = [self._match.draw(self._number) for _ in range(count)]
        self._prepare_s += time.monotonic() - since
        return draws

    def _together(self, draws: Sequence[Any]) -> dict[str, Any] | None:
        """A go of all sets."""
        complaint = self._called(draws, self._times, copies_all=self._copies_all)
        if len(self._times) == self._plan.warm_ups:
            self._choose_copying(self._times[-1])
        return complaint

    def _singly(self) -> dict[str, Any] | None:
        """A go of each set by itself, in a case that has several: nothing of its inputs is there before the clock."""
        if len(self._sets) == 1 or len(self._singles) == self._plan.warm_ups + self._plan.least_calls:
            return None
        return self._called(self._drawn(len(self._sets)), self._singles, copies_all=True, n_goes=len(self._sets))

    def _called(
        self, draws: Sequence[Any], to: list[Times], *, copies_all: bool, n_goes: int = 1
    ) -> dict[str, Any] | None:
        """Call, time and check; what is wrong, if anything is."""
        left = self._plan.budget_seconds - self._match.spent_seconds
        if left <= 0:
            raise Ended("late")
        times, poison, trespass = self._match.call(self._sets, draws, copies_all, left, n_goes)
        self._match.spent_seconds += times.go_ns / 1e9
        self._prepare_s += times.prepare_ns / 1e9
        to.append(times)
        if trespass:
            return {"message": trespass}
        since = time.monotonic()
        called = zip(self._sets, draws, strict=True)
        complaints = (self._complaint(place, *one, poison) for place, one in enumerate(called, 1))
        complaint = next(filter(None, complaints), None)
        self._check_s += time.monotonic() - since
        return complaint

    def _complaint(self, place: int, buffers: Buffers, drawn: Any, poison: int) -> dict[str, Any] | None:
        is_shown = self._plan.n_shown > 0
        comparison = self._match.compare(self._number, drawn, buffers, poison, measures=is_shown)
        if is_shown and (place == 1 or not comparison.right):
            self._shown = self._match.values_of(drawn, buffers, self._plan.n_shown)
            self._differences = {"largest": number(comparison.largest), "mean": number(comparison.mean)}
        if comparison.right:
            return None
        where = f"in input set {place} of {len(self._sets)}, " if len(self._sets) > 1 else ""
        complaint = told(comparison)
        return {**complaint, "message": f"{where}{complaint['message']}"}

    def _choose_copying(self, times: Times) -> None:
        some_ns, all_ns = self._overhead.call_ns, self._overhead.call_all_ns
        self._copies_all = all_ns - some_ns < COPY_SHARE * (times.clock_ns - some_ns)

    def _is_enough(self, spent_seconds: float) -> bool:
        timed = self._times[self._plan.warm_ups :]
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
        timed = self._times[self._plan.warm_ups :]
        slow_ns = BUSY_FACTOR * self._overhead.write_ns + BUSY_MARGIN_NS
        return {
            "clock_ns": [one.clock_ns for one in timed],
            "go_ns": [one.go_ns for one in timed],
            "overhead_ns": self._overhead_ns,
            "overhead_spread_ns": self._overhead.spread_ns,
            **event_facts(timed, self._overhead),
            **span_facts(timed),
            "n_slow_writes": sum(one.write_ns > slow_ns for one in timed),
            "is_short": self._overhead.is_short,
            "copies_all": self._copies_all,
            "n_calls": len(self._times + self._singles) * len(self._sets),
            **self._single_facts(),
            "prepare_ms": self._prepare_s * 1e3,
            "check_ms": self._check_s * 1e3,
            **({"values": self._shown, **self._differences} if self._shown else {}),
        }

    def _single_facts(self) -> dict[str, Any]:
        """The time of a call with one set: the first decile, because other work on the machine only lengthens it."""
        if len(self._singles) <= self._plan.warm_ups:
            return {}
        singles_ns = sorted(ns for one in self._singles[self._plan.warm_ups :] for ns in one.each_ns[1:])
        least_ns = singles_ns[len(singles_ns) // 10] - self._overhead.single_ns
        return {"one_set_ns": least_ns, "one_set_spread_ns": self._overhead.single_spread_ns}


def close(sets: Iterable[Buffers]) -> None:
    for buffers in sets:
        buffers.close()


def event_facts(timed: Sequence[Times], overhead: Overhead) -> dict[str, Any]:
    """What the contestant's device events told of the timed calls; nothing where it told none."""
    if not timed or any(one.whole_ms <= 0 or one.events_ms <= 0 for one in timed):
        return {}
    return {
        "whole_ms": [one.whole_ms for one in timed],
        "events_ms": [one.events_ms for one in timed],
        "gap_ns": overhead.gap_ns,
        "gap_spread_ns": overhead.gap_spread_ns,
        "whole_gap_ns": overhead.whole_gap_ns,
    }


def span_facts(timed: Sequence[Times]) -> dict[str, Any]:
    """The kernel spans of the timed calls; nothing where one of them has none."""
    if not timed or any(one.span_ms <= 0 for one in timed):
        return {}
    return {"span_ms": [one.span_ms for one in timed]}


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
