"""One contestant before the checker, at its channel."""

import math
import secrets
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import messages
from .buffers import Buffers
from .clock import Clock, Link, Status, Times
from .orders import CaseReply, DeviceFault, Ended, HowEnded
from .plan import Plan

START_SECONDS = 120.0
"""Longest time for a contestant to load its solution."""
MAP_SECONDS = 60.0
"""Longest time for a contestant to read a message or to map its arrays. A bound: both take milliseconds."""
LEAST_POISON = 0xC0
"""From here on an element whose bytes are all the same is NaN or at most -2 in every floating type: never near 0."""
MOST_WORDS = 1500
"""Characters of a contestant's or a comparison's own words that are told."""
MOST_SHOWN = 1000
"""Characters of the values of a call that are shown."""
CALIBRATION_BYTES = 64 << 20
"""Bytes that a calibrating contestant and the checker fill: about 25 µs. Less hides in the hand-off, and what uses no
memory has no cold translations of addresses, which cost others 2 to 3 µs after a change of processes."""


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
        self._words: Any = None

    @property
    def is_on_gpu(self) -> bool:
        return self.device == messages.CUDA

    def begin(self, stub: str) -> None:
        """Have the solution loaded. A Python process waits until it may do so. Raises Ended."""
        if stub == "python":
            self._send(messages.head(messages.START))
        self._await(messages.LOADED, START_SECONDS)
        if self.is_on_gpu:
            self._words = self.memory.words()
            self._send(messages.head(messages.WORDS, self._words.size), self._words.files)
            self._await(messages.MAPPED, MAP_SECONDS)

    def end(self) -> None:
        """Give back what the contestant shared with the checker alone."""
        if self._words is not None:
            self._words.close()
            self._words = None

    def case(self, number: int, plan: Plan, run: Callable[[Sequence[Buffers], Any], CaseReply]) -> CaseReply:
        """Give the contestant the arrays of one case, and call `run` with them and the first draw. Raises Ended and
        DeviceFault."""
        drawn = self.draw(number)
        self._kept = self.loaded.kept(drawn)
        sets = self.sets(number, drawn)
        try:
            self.give(sets)
            setup_ms = self._set_up(sets[0], drawn, plan) if self._kept else None
            return run(sets, drawn)._replace(setup_ms=setup_ms)
        finally:
            close(sets)
            self._kept = {}

    def sets(self, number: int, drawn: Any) -> list[Buffers]:
        """The arrays of all sets of a case; a GPU needs one. Weights and structure are there once, unless they are
        written."""
        count = 1 if self.is_on_gpu else self.loaded.input_sets(number)
        held = self.loaded.kept(drawn)
        kept = [one.name for one in self.loaded.parameters if one.name in held and not one.is_written]
        return [
            Buffers(self.memory, self._arrays, self.loaded.parameters, drawn, kept if place else ())
            for place in range(count)
        ]

    def _set_up(self, buffers: Buffers, drawn: Any, plan: Plan) -> float:
        """Have the contestant prepare what depends on weights and structure alone; its milliseconds. Raises Ended."""
        buffers.write(self.memory, self._kept, drawn)
        began = time.monotonic()
        self.call_setup(max(0.001, plan.budget_seconds - self.spent_seconds))
        seconds = time.monotonic() - began
        self.spent_seconds += seconds
        return seconds * 1e3

    def draw(self, number: int) -> Any:
        return self.loaded.draw(number, secrets.randbits(63), self._kept)

    def call(
        self, sets: Sequence[Buffers], draws: Sequence[Any], copies_all: bool, timeout_s: float, n_goes: int = 1
    ) -> tuple[Times, int, str]:
        """A call for each set by the host's clock: the times, the poison of the outputs, and what it did beside them
        ("" if nothing)."""
        n_calls = len(sets) // n_goes
        called = list(zip(sets, draws, strict=True))
        given = [buffers.regions(drawn, place // n_calls) for place, (buffers, drawn) in enumerate(called)]
        self.memory.finish()
        poison = self._poison()
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
        self._look_at(times)
        trespasses = (buffers.trespass(self.memory, regions) for buffers, (regions, _) in zip(sets, given, strict=True))
        return times, poison, next(filter(None, trespasses), "")

    def hand_off(
        self, buffers: Buffers, drawn: Any, timeout_s: float, *, word_last: bool = False
    ) -> tuple[Times, int, str]:
        """The same of one call by a GPU's clock."""
        self._let_go()
        regions, _kept = buffers.regions(drawn, 0)
        self.memory.finish()
        poison = self._poison()
        self._index += 1
        times = self._clock.hand_off(
            self._link,
            regions,
            self._words.addresses,
            word_last=word_last,
            index=self._index,
            secret=secrets.randbits(64),
            poison=poison,
            timeout_s=timeout_s,
        )
        self._look_at(times)
        return times, poison, buffers.trespass(self.memory, regions)

    def fill_ns(self) -> float:
        """The work of a contestant that calibrates, in the checker."""
        return float(self.memory.fill_ns(CALIBRATION_BYTES))

    def _poison(self) -> int:
        return 0 if self.loaded.output_init == "zero" else LEAST_POISON | secrets.randbits(6)

    @staticmethod
    def _look_at(times: Times) -> None:
        if times.status is Status.DEVICE_FAULT:
            raise DeviceFault("a copy on the device failed")
        if times.status is not Status.DONE:
            raise Ended(HowEnded(times.status.name.lower()), times.words[:MOST_WORDS])

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
            raise Ended(HowEnded.LATE) from error
        except OSError as error:
            raise Ended(HowEnded.GONE) from error

    def _await(self, wanted: int, seconds: float) -> None:
        self._channel.settimeout(seconds)
        try:
            message = self._channel.recv(messages.HEAD.size + messages.MOST_WORDS)
        except TimeoutError as error:
            raise Ended(HowEnded.LATE) from error
        except OSError as error:
            raise Ended(HowEnded.GONE) from error
        finally:
            self._channel.settimeout(None)
        if not message:
            raise Ended(HowEnded.GONE)
        if len(message) < messages.HEAD.size:
            raise Ended(HowEnded.BAD_ANSWER)
        kind = messages.HEAD.unpack_from(message)[1]
        if kind == messages.ERROR:
            raise Ended(HowEnded.ERROR, message[messages.HEAD.size :].decode("utf-8", "replace")[:MOST_WORDS])
        if kind != wanted:
            raise Ended(HowEnded.BAD_ANSWER)


def close(sets: Iterable[Buffers]) -> None:
    for buffers in sets:
        buffers.close()
