"""The porter: a native program that decides which run may use a device now. Python would react too slowly.

One porter serves one device. The program reads the runs' pages up to ten thousand times a second and reports changes;
gate_native/porter.cpp lists its messages. If it dies, every run at its gate fails as a fault of this node, and the next
run starts a new porter.
"""

import os
import subprocess
import threading
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from typing import Protocol

from runners.agent.ground.errors import SandboxFault
from runners.agent.ground.native import Recipe, default_cache_directory, find_or_build

NATIVE = Path(__file__).parent / "gate_native"
INHERITED = ("LD_LIBRARY_PATH",)
FAREWELL_SECONDS = 5.0


class PorterFailed(SandboxFault):
    """The porter cannot be started or has died. The result is a platform error."""


class GateClient(Protocol):
    """A run at the gate. The porter's thread calls both methods; they must not block."""

    def told(self, event: str, at_ns: int) -> None:
        """`event` is `ask`, `open`, `close`, `hold` or `begin`; `at_ns` is its `time.monotonic_ns`."""
        ...

    def deserted(self) -> None:
        """The porter has died. It will not open the gate again."""
        ...


@cache
def program() -> Path:
    """Path of the porter's program. Compiles it if needed. Raises PorterFailed."""
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
    """The porter of one device. It starts with the first run, and again if it dies. Safe to use from several threads.

    If the device's UUID is given, the porter keeps the driver open for it.
    """

    def __init__(self, uuid: str = "", find: Callable[[], Path] = program) -> None:
        self._uuid, self._find = uuid, find
        self._guard = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._clients: dict[str, GateClient] = {}
        self._gone: dict[str, threading.Event] = {}
        self._names = count()

    def admit(self, client: GateClient, page: str, *, alone: bool) -> str:
        """Serve the page at this path. Returns a name for `dismiss`. Raises PorterFailed."""
        how = "alone" if alone else "shared"
        with self._guard:
            process = self._running()
            name = str(next(self._names))
            self._clients[name] = client
            self._gone[name] = threading.Event()
            try:
                self._send(process, f"add {name} {page} {how}\n")
            except OSError as error:
                del self._clients[name], self._gone[name]
                raise PorterFailed(f"the porter cannot be reached: {error}") from error
        return name

    def dismiss(self, name: str) -> None:
        """End the service of a run. After this returns, its client is not called again."""
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
        """End the program. Runs that are still at the gate fail."""
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
