"""Says which of a device's runs may use it now: a small program of ours, since Python would be late at every turn.

One porter serves one device. The program looks at the runs' pages ten thousand times a second and tells what it sees;
gate_native/porter.cpp has the words. Where it dies, every run at its gate fails as a fault of this node, and the next
one gets a new porter.
"""

import math
import os
import subprocess
import threading
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from typing import Protocol

from runners.agent.native import Recipe, default_cache_directory, find_or_build
from runners.agent.sandbox.policy import SandboxFault

NATIVE = Path(__file__).parent / "gate_native"
INHERITED = ("LD_LIBRARY_PATH",)
FAREWELL_SECONDS = 5.0
LONGEST_SECONDS = 1e6


class PorterFailed(SandboxFault):
    """The porter is not to be had or has died: a platform error, never the contestant's."""


class Client(Protocol):
    """A run at the gate. Both are called in the porter's own thread and must not block."""

    def told(self, event: str, at_ns: int) -> None:
        """`ask`, `open`, `close`, `hold` or `begin`, and when, by `time.monotonic_ns`."""
        ...

    def deserted(self) -> None:
        """The porter has died: nobody opens any more."""
        ...


@cache
def program() -> Path:
    """The porter, compiled unless that is done already. Raises PorterFailed."""
    prebuilt = os.environ.get("PODIUM_PORTER")
    recipe = Recipe(
        name="podium-porter",
        prefix="porter",
        variable="PODIUM_PORTER",
        sources=NATIVE,
        inputs=("porter.cpp", "driver.cpp", "-ldl"),
        flags=(("-std=c++17", "-O2"),),
        unavailable=PorterFailed,
        prebuilt=Path(prebuilt) if prebuilt else None,
    )
    return find_or_build(recipe, default_cache_directory()).path


class Porter:
    """One device's; started with the first run, and again should it die. Safe to use from several threads.

    Where the device's UUID is given, the driver is kept open for it as long as the porter lives.
    """

    def __init__(self, uuid: str = "", find: Callable[[], Path] = program) -> None:
        self._uuid, self._find = uuid, find
        self._guard = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._clients: dict[str, Client] = {}
        self._gone: dict[str, threading.Event] = {}
        self._names = count()

    def admit(self, client: Client, page: str, *, alone: bool, is_long: bool = False, seconds: float = math.inf) -> str:
        """Attend to the page at this path; returns a name for `dismiss`. Raises PorterFailed.

        `seconds` are expected of the sample's runs from here: CUDA starts for the longest first. A benchmark that
        `is_long` does not wait until nothing starts beside it.
        """
        how = ("long" if is_long else "alone") if alone else "shared"
        with self._guard:
            process = self._running()
            name = str(next(self._names))
            self._clients[name] = client
            self._gone[name] = threading.Event()
            try:
                expected_ms = round(1e3 * min(seconds, LONGEST_SECONDS))
                self._send(process, f"add {name} {page} {how} {expected_ms}\n")
            except OSError as error:
                del self._clients[name], self._gone[name]
                raise PorterFailed(f"the porter does not listen: {error}") from error
        return name

    def dismiss(self, name: str) -> None:
        """The run has ended; once this returns its client is told nothing more."""
        with self._guard:
            gone = self._gone.get(name)
            try:
                if gone and self._process:
                    self._send(self._process, f"drop {name}\n")
            except OSError:
                gone = None
        if gone:
            gone.wait(FAREWELL_SECONDS)
        with self._guard:
            self._clients.pop(name, None)
            self._gone.pop(name, None)

    def close(self) -> None:
        """End the program; what is still at the gate fails."""
        with self._guard:
            process, self._process = self._process, None
        if process:
            process.kill()
            process.wait()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        try:
            self._process = subprocess.Popen(
                [self._find(), *(["keep-driver"] if self._uuid else [])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                env={name: os.environ[name] for name in INHERITED if name in os.environ}
                | {"CUDA_VISIBLE_DEVICES": self._uuid},
            )
        except OSError as error:
            raise PorterFailed(f"the porter cannot be started: {error}") from error
        threading.Thread(target=self._listen, args=(self._process,), name="porter", daemon=True).start()
        return self._process

    @staticmethod
    def _send(process: subprocess.Popen[bytes], line: str) -> None:
        assert process.stdin
        process.stdin.write(line.encode())

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout
        with process.stdout as stream:
            held = b""
            while part := stream.read(1 << 16):
                *lines, held = (held + part).split(b"\n")
                for line in lines:
                    event, name, at = line.decode().split()
                    self._dispatch(event, name, int(at))
        process.wait()
        with self._guard:
            if self._process is process:
                self._process = None
            deserted = list(self._clients.values())
            for gone in self._gone.values():
                gone.set()
        for client in deserted:
            client.deserted()

    def _dispatch(self, event: str, name: str, at_ns: int) -> None:
        with self._guard:
            client, gone = self._clients.get(name), self._gone.get(name)
        if event == "gone":
            if gone:
                gone.set()
        elif client:
            client.told(event, at_ns)
