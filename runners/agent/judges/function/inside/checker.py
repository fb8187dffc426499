"""The checker's process: holds one problem, and checks and times one contestant after another.

Started as `python3 -m judge.checker DEFINITION ARRAYS DEVICE LIBRARY`. It serves the orders of `orders` on the agent's
channel. The definition is there when the first order comes. An order with a contestant brings the checker's ends of its
channel and brake as descriptors.
"""

import contextlib
import importlib
import json
import os
import socket
import sys
import time
import traceback
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from inside.errors import DefinitionError, SizesRefused
from inside.loaded import load
from inside.mutants import mutants_of

from .arrays import arrays_of
from .buffers import Buffers
from .calibration import Calibration
from .case import HostCase
from .clock import Clock
from .device_calibration import DeviceCalibration
from .device_case import DeviceCase
from .match import MOST_WORDS, Match
from .orders import (
    MOST_BYTES,
    AcceptedMutants,
    Broken,
    Calibrate,
    CallSample,
    CaseReply,
    CheckerFault,
    DeviceFault,
    End,
    Ended,
    HowEnded,
    Ready,
    Reply,
    TryMutants,
    decoded,
    encoded,
)
from .plan import DeviceCost, Overhead


def memory_of(device: str) -> Any:
    if device == "cuda":
        from .cuda_memory import CudaMemory

        return CudaMemory()
    from .host_memory import HostMemory

    return HostMemory()


class Checker:
    """Serves the agent's orders until it hangs up."""

    def __init__(self, channel: socket.socket, loaded: Any, memory: Any, clock: Clock) -> None:
        self._channel = channel
        self._loaded = loaded
        self._arrays = arrays_of(loaded.arrays)
        self._memory = memory
        self._clock = clock
        self._overheads: dict[str, dict[int, Overhead]] = {}
        """Costs by kind of stub and case, on a CPU."""
        self._costs: dict[str, dict[int, DeviceCost]] = {}
        """Likewise on a GPU."""

    def serve(self) -> None:
        while True:
            datagram, files, *_ = socket.recv_fds(self._channel, MOST_BYTES, 2)
            if not datagram:
                return
            order = decoded(datagram)
            if isinstance(order, TryMutants):
                self._try_mutants(order.case)
                continue
            channel, brake = (socket.socket(fileno=file) for file in files)
            with channel, brake:
                match = Match(self._loaded, self._arrays, self._memory, self._clock, channel, brake)
                self._obey(order, match)

    def _obey(self, order: Calibrate | CallSample, match: Match) -> None:
        began = loaded = time.monotonic()
        how, words = HowEnded.NOT, ""
        try:
            match.begin(order.stub)
            loaded = time.monotonic()
            if isinstance(order, Calibrate):
                self._calibrate(order, match)
            elif order.sizes:
                self._own_sizes(order, match)
            else:
                self._sample(order, match)
        except Ended as end:
            how, words = end.how, end.words
        except DeviceFault as fault:
            self.say(CheckerFault(str(fault)))
            raise SystemExit(5) from fault
        match.end()
        self._memory.give_back()
        self.say(End(how, words, (loaded - began) * 1e3))

    def _calibrate(self, order: Calibrate, match: Match) -> None:
        if match.is_on_gpu:
            costs = self._costs.setdefault(order.stub, {})
            for number in order.cases:
                costs[number] = DeviceCalibration(match).cost(number, costs.get(number))
        else:
            known = self._overheads.get(order.stub, {})
            self._overheads[order.stub] = calibrated(Calibration(match), order.cases, known, order.timed or ())

    def _sample(self, order: CallSample, match: Match) -> None:
        for number in order.cases:
            self.say(self._case(order, number, match))

    def _case(self, order: CallSample, number: int, match: Match) -> CaseReply:
        plan = order.plan
        if match.is_on_gpu:
            cost = self._costs.get(order.stub, {}).get(number, DeviceCost())
            on_host = number in order.host_cases

            def on_gpu(sets: Sequence[Buffers], first: Any) -> CaseReply:
                return DeviceCase(match, sets, number, plan, cost, on_host=on_host).run(first)

            return match.case(number, plan, on_gpu)
        overhead = self._overheads.get(order.stub, {}).get(number, Overhead())
        if overhead.is_short if order.timed is None else number not in order.timed:
            plan = order.short_plan
        return match.case(number, plan, lambda sets, first: HostCase(match, sets, number, plan, overhead).run(first))

    def _try_mutants(self, number: int) -> None:
        """Tell which wrong answers the check of a case accepts, and where it rules otherwise on the CPU. No contestant
        takes part."""
        found = mutants_of(self._loaded, number)
        self._memory.finish()
        self.say(AcceptedMutants(found.faults, found.differing, found.admits))

    def _own_sizes(self, order: CallSample, match: Match) -> None:
        """Call a case of the contestant's own sizes. What the class says of them stays here: it may quote the class."""
        (number,) = order.cases
        try:
            with self._loaded.own_case(order.like, order.sizes):
                reply = self._case(order, number, match)
        except SizesRefused as error:
            raise Ended(HowEnded.REFUSED, str(error)) from None
        except DefinitionError:
            raise Ended(HowEnded.REFUSED, "The problem's class has no data of these sizes.") from None
        self.say(reply)

    def say(self, reply: Reply) -> None:
        self._channel.send(encoded(reply))


def calibrated(
    calibration: Calibration, cases: Sequence[int], known: Mapping[int, Overhead], timed: Collection[int]
) -> dict[int, Overhead]:
    """The cost of calls of these cases beside the solution: all of it, or the addition of one process to a known cost.

    A case in `timed` is never too short, whatever its reference takes here.
    """
    return {
        number: calibration.again(number, known[number])
        if number in known and not (known[number].is_short and number in timed)
        else calibration.overhead(number, is_timed=number in timed)
        for number in cases
    }


def main() -> None:
    channel = socket.socket(fileno=int(os.environ["PODIUM_CHANNEL_FD"]))
    definition, arrays, device, library = sys.argv[1:]
    with contextlib.suppress(ImportError):  # which the definition meets again
        importlib.import_module(arrays)  # takes seconds, and may be done before there is a problem
    try:
        if not channel.recv(MOST_BYTES):
            return
        loaded = load(definition, device)
        memory = memory_of(device)
        clock = Clock(library, memory.flush)
    except DefinitionError as error:
        channel.send(encoded(Broken(str(error))))
        raise SystemExit(3) from None
    except Exception:  # noqa: BLE001 - its words go to the organiser
        channel.send(encoded(Broken(traceback.format_exc()[-MOST_WORDS:])))
        raise SystemExit(3) from None
    facts: dict[str, Any] = loaded.facts()
    for part in facts_in_parts(facts):
        channel.send(part)
    Checker(channel, loaded, memory, clock).serve()


def facts_in_parts(facts: dict[str, Any]) -> list[bytes]:
    """The problem's facts as datagrams; the last one is marked. They may be longer than one datagram."""
    text = json.dumps(facts)
    size = MOST_BYTES // 4
    parts = [text[start : start + size] for start in range(0, len(text), size)]
    return [encoded(Ready(part, last=number == len(parts))) for number, part in enumerate(parts, 1)]


if __name__ == "__main__":
    main()
