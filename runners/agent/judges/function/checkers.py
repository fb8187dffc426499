"""Checkers as the agent holds them: each serves the samples of one problem, and those used last are kept idle."""

import json
import os
import socket
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

import problems.formats.functions.inside as functions_inside
from problems.formats.functions.comparison import differences
from problems.spec.errors import explain
from problems.spec.function.manifest import Manifest
from runners.agent.devices.gpus import Gpus
from runners.agent.devices.lanes import Seat
from runners.agent.ground.errors import Cancelled, SandboxFault, UnusableProblem
from runners.agent.ground.events import Progress
from runners.agent.ground.native import Recipe, default_cache_directory, find_or_build
from runners.agent.job.environment import NodeEnvironment, limits_for
from runners.agent.judges.function.inside.orders import (
    MOST_BYTES,
    VERSION,
    Broken,
    CaseReply,
    CheckerFault,
    End,
    Load,
    Order,
    Ready,
    Reply,
    Unreadable,
    decoded,
    encoded,
)
from runners.agent.judges.function.subject import INSIDE, FunctionSubject
from runners.agent.judges.function.waiting import (
    LIFE_SECONDS,
    OwnSlots,
    give,
    n_waiting,
    needs_of,
    still_serves,
)
from runners.agent.sandbox.policy import Command, Mount, Running

NATIVE = Path(__file__).parent / "native"
LIBRARY = "libpodium_clock.so"
FLAGS = ("-std=c++17", "-O2", "-fPIC", "-shared", "-static-libstdc++", "-static-libgcc")
"""Without libstdc++ of this machine: an image may have an older one."""


def build(cache_dir: Path) -> Path:
    """The library's path, in a folder of its own. Raises SandboxFault where it can neither be found nor built."""
    prebuilt = os.environ.get("PODIUM_CLOCK_LIBRARY")
    recipe = Recipe(
        name=LIBRARY,
        prefix="clock",
        variable="PODIUM_CLOCK_LIBRARY",
        sources=NATIVE,
        inputs=("clock.cpp", "hand_off.cpp"),
        flags=((*FLAGS, "-ldl"),),
        unavailable=SandboxFault,
        prebuilt=Path(prebuilt) if prebuilt else None,
    )
    return find_or_build(recipe, cache_dir).path


FUNCTIONS = Path(functions_inside.__file__).parent
JUDGE_HOME, FUNCTIONS_HOME, NATIVE_HOME = "/podium-judge", "/podium-functions", "/podium-clock"
MOUNTS = (Mount(INSIDE, f"{JUDGE_HOME}/judge"), Mount(FUNCTIONS, f"{FUNCTIONS_HOME}/inside"))
"""ShownCall to checker and contestant alike: a reference solution calls the problem's class."""
ENVIRONMENT = {"PYTHONPATH": f"{JUDGE_HOME}:{FUNCTIONS_HOME}", "PYTHONDONTWRITEBYTECODE": "1"}
SLEEPY_THREADS = {"OPENBLAS_THREAD_TIMEOUT": "16"}
"""For processes that load while others are timed: numpy starts a thread for each core, which would keep it busy for
some tens of milliseconds. The timeout is 2^16 processor cycles."""
DEFINITION = "def.py"
FIRST_SLOT = 1000
"""Checkers have slots of their own, because one outlives the samples that it serves."""
READY_SECONDS = 180.0
"""Longest time for a checker to load the problem's class. A bound: loading torch takes some seconds."""
SILENCE_SECONDS = 300.0
"""Longest time between two replies beyond a contestant's own time."""
LOOK_SECONDS = 0.1
"""Interval at which a wait for a reply looks whether the job was cancelled."""
MOST_ON_CPU, MOST_ON_GPU = 8, 4
"""Number of checkers kept on a device. Samples of several problems alternate, and a new checker calibrates its calls
for seconds. An idle one holds about 40 MB on a CPU, and on a GPU a context of 0.5 GB."""
LONGEST_SERVICE = 1000
"""Number of samples after which a checker is renewed, so that what a problem's class keeps stays bounded."""


@dataclass
class Checker:
    """A checker's process and the agent's end of its channel."""

    running: Running
    channel: socket.socket
    facts: dict[str, Any]
    """The manifest's facts as the class gives them here."""
    calibrations: dict[tuple[str, tuple[int, ...] | None], int] = field(default_factory=dict)
    """In how many processes it has calibrated calls, by kind of stub and by the cases that are timed, if fixed."""
    n_samples: int = 0
    roots: list[int] = field(default_factory=list)
    """Its first process on this machine."""

    def order(self, order: Order, *ends: socket.socket) -> None:
        """Give an order, and its ends of a contestant's channel and brake if one takes part."""
        try:
            socket.send_fds(self.channel, [encoded(order)], [one.fileno() for one in ends])
        except OSError as error:
            raise SandboxFault(f"the checker takes no orders: {self._last_words()}") from error

    def cases(self, progress: Progress, seconds: float, on_case: Callable[[CaseReply], None]) -> End:
        """Pass on the cases of an order with a contestant. Raises Cancelled, and SandboxFault if checker or device
        fails."""
        while not isinstance(reply := self.reply(progress, seconds), End):
            if isinstance(reply, CheckerFault):
                raise SandboxFault(f"the device failed under the checker: {reply.words}")
            if isinstance(reply, CaseReply):
                on_case(reply)
        return reply

    def reply(self, progress: Progress, seconds: float) -> Reply:
        """The next reply. Raises Cancelled, and SandboxFault if the checker ends or stays silent for so long."""
        deadline = time.monotonic() + seconds
        self.channel.settimeout(LOOK_SECONDS)
        while time.monotonic() < deadline:
            if progress.cancelled.is_set():
                raise Cancelled
            try:
                message = self.channel.recv(MOST_BYTES)
            except TimeoutError:
                continue
            if not message:
                raise SandboxFault(f"the checker ended: {self._last_words()}")
            try:
                reply: Reply = decoded(message)
            except Unreadable as error:
                raise SandboxFault(f"the checker's reply cannot be read: {error}") from error
            return reply
        raise SandboxFault(f"the checker said nothing for {seconds:.0f} s")

    def close(self) -> None:
        self.channel.close()
        self.running.stop()

    def _last_words(self) -> str:
        self.running.stop()
        outcome = self.running.wait()
        said = outcome.stderr.strip()[-1500:] or f"status {outcome.exit_code}"
        return f"it ran out of memory; {said}" if outcome.memory_exceeded else said


@dataclass(frozen=True)
class _Kept:
    checker: Checker
    closing: ExitStack
    workspace: Path
    started: float


class Checkers:
    """Keeps a few checkers per device. The caller holds the device, so nobody else uses its checkers meanwhile.

    On a GPU one more process has loaded torch and waits for the next problem.
    """

    def __init__(self, environment: NodeEnvironment) -> None:
        self._environment = environment
        self._kept: dict[str, dict[Hashable, _Kept]] = {}
        """Checkers by device and problem; the one used last comes last."""
        self._spares: dict[str, tuple[Hashable, _Kept]] = {}
        """The waiting process of each device, after its settings."""
        self._slots = OwnSlots(FIRST_SLOT)

    @contextmanager
    def at(self, seat: Seat, subject: FunctionSubject, progress: Progress) -> Iterator[Checker]:
        """The checker of this problem on the seat's device, started if none is kept. A failure inside ends it.

        Raises UnusableProblem if the problem's class fails or differs from its manifest, and SandboxFault.
        """
        key = _key(subject)
        there = self._kept.setdefault(seat.gpu_uuid, {})
        _end_surplus(there, key, MOST_ON_GPU if seat.gpu_uuid else MOST_ON_CPU)
        kept = there.pop(key, None) or self._start(seat, subject, progress)
        try:
            if n_waiting(subject, seat, len(self._environment.capabilities.gpus)):
                self._keep_spare(seat, subject)
            kept.checker.n_samples += 1
            yield kept.checker
        except BaseException:
            kept.closing.close()
            raise
        there[key] = kept

    def close(self) -> None:
        """End all checkers."""
        for there in self._kept.values():
            while there:
                there.popitem()[1].closing.close()
        for device in list(self._spares):
            self.end_spare(device)

    def end_spare(self, device: str) -> None:
        """End the process that waits for a problem there."""
        if spare := self._spares.pop(device, None):
            spare[1].closing.close()

    def _start(self, seat: Seat, subject: FunctionSubject, progress: Progress) -> _Kept:
        kept = self._taken_spare(seat, subject) or self._process(seat, subject)
        try:
            give(kept.workspace, {DEFINITION: subject.problem.definition.content.encode()})
            kept.checker.order(Load())
            kept.checker.facts = _facts(kept.checker, progress)
            _compare(subject, kept.checker.facts)
        except BaseException:
            kept.closing.close()
            raise
        return kept

    def _taken_spare(self, seat: Seat, subject: FunctionSubject) -> _Kept | None:
        what, spare = self._spares.pop(seat.gpu_uuid, ((), None))
        if spare is not None and (what != needs_of(subject) or not still_serves(spare.checker.running, spare.started)):
            spare.closing.close()
            return None
        return spare

    def _keep_spare(self, seat: Seat, subject: FunctionSubject) -> None:
        spare = self._taken_spare(seat, subject) or self._process(seat, subject)
        self._spares[seat.gpu_uuid] = needs_of(subject), spare

    def _process(self, seat: Seat, subject: FunctionSubject) -> _Kept:
        """A process that has no problem yet."""
        with ExitStack() as stack:
            mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            stack.enter_context(mine)
            workspace = stack.enter_context(self._environment.workspaces.open({}))
            command = self._command(seat, subject, workspace, stack.enter_context(self._slots.taken()))
            residence = stack.enter_context(_Residence(self._environment.gpus))
            command = replace(command, on_started=residence.begin)
            running = stack.enter_context(self._environment.sandbox.start(command, theirs))
            return _Kept(
                Checker(running, mine, {}, roots=residence.roots), stack.pop_all(), workspace, time.monotonic()
            )

    def _command(self, seat: Seat, subject: FunctionSubject, workspace: Path, slot: int) -> Command:
        library = build(default_cache_directory())
        limits, arrays = limits_for(subject.job.rules.limits, LIFE_SECONDS), subject.problem.manifest.arrays
        return Command(  # noqa: S604 - the sandbox runs it
            shell=f"exec python3 -m judge.checker {DEFINITION} {arrays} {subject.device} {NATIVE_HOME}/{LIBRARY}",
            workspace=workspace,
            limits=replace(limits, file_bytes=subject.job.rules.limits.memory_bytes),
            environment=environment_for(subject),
            mounts=(*MOUNTS, Mount(library.parent, NATIVE_HOME)),
            image=subject.job.image,
            gpu_uuids=seat.gpu_uuids,
            slot=slot,
            user="checker",
        )


def environment_for(subject: FunctionSubject) -> dict[str, str]:
    """Variables of a checker's and of a contestant's process."""
    return {**ENVIRONMENT, **(SLEEPY_THREADS if subject.device == "cuda" else {})}


def _key(subject: FunctionSubject) -> Hashable:
    return subject.job.problem_sha256, subject.job.image, subject.job.rules.limits.memory_bytes


def _end_surplus(there: dict[Hashable, _Kept], wanted: Hashable, most: int) -> None:
    """End the wanted checker if it has served long enough, and those used longest ago until one more has room."""
    if wanted in there and there[wanted].checker.n_samples >= LONGEST_SERVICE:
        there.pop(wanted).closing.close()
    while wanted not in there and len(there) >= most:
        there.pop(next(iter(there))).closing.close()


class _Residence:
    """The time for which a checker may stay on its GPU between jobs."""

    def __init__(self, gpus: Gpus | None) -> None:
        self._gpus = gpus
        self._root: int | None = None
        self.roots: list[int] = []

    def begin(self, root: int) -> None:
        self.roots.append(root)
        if self._gpus is not None:
            self._root = root
            self._gpus.residents.admit(root)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._gpus is not None and self._root is not None:
            self._gpus.residents.dismiss(self._root)


def _facts(checker: Checker, progress: Progress) -> dict[str, Any]:
    text = ""
    while True:
        reply = checker.reply(progress, READY_SECONDS)
        if isinstance(reply, Broken):
            raise UnusableProblem(f"the problem's class cannot be used: {reply.words}")
        if not isinstance(reply, Ready) or reply.version != VERSION:
            raise SandboxFault(f"the checker does not speak version {VERSION} of its orders")
        text += reply.part
        if reply.last:
            facts: dict[str, Any] = json.loads(text)
            return facts


def _compare(subject: FunctionSubject, facts: Mapping[str, Any]) -> None:
    """Raises UnusableProblem if the class gives other facts here than when its manifest was made."""
    try:
        made = Manifest.model_validate({**facts, "is_run": True})
    except ValidationError as error:
        raise UnusableProblem(f"the class gives no valid manifest here: {explain(error)}") from error
    if found := differences(subject.problem.manifest, made):
        words = "; ".join(found)[:1500]
        raise UnusableProblem(f"the class differs from its manifest here, so pack the problem again: {words}")
