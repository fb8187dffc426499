"""Runs the `podium` program in processes that are forked from one which has imported its libraries.

Each start of Python imports for half a second what the program is built on: over a hundred times in a run of the tests.
A forked process imports the modules of `podium` itself, so all that they read of their environment is its own.
"""

import atexit
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = 1 << 18
"""Limit of an order, with its environment."""


def run_podium(
    arguments: Sequence[str], environment: Mapping[str, str], folder: Path | None = None, stdin: str = "",
    timeout_seconds: float = 120,
) -> "subprocess.CompletedProcess[str]":  # fmt: skip
    """Like `subprocess.run` of the program with what it printed as text. Raises TimeoutError."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        order = {"arguments": [*arguments], "environment": dict(environment), "folder": str(folder or Path.cwd())}
        status = _server().run(order, [given.fileno(), out.fileno(), err.fileno()], timeout_seconds)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return subprocess.CompletedProcess(["podium", *arguments], status, *texts)


class _Server:
    """The process that forks."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "tests.warm_podium", str(theirs.fileno())]
            self._process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        atexit.register(self.close)

    def run(self, order: dict[str, Any], files: list[int], timeout_seconds: float) -> int:
        self._channel.settimeout(None)
        socket.send_fds(self._channel, [json.dumps(order).encode()], files)
        pid = int(self._channel.recv(MOST_BYTES))
        self._channel.settimeout(timeout_seconds)
        try:
            return int(self._channel.recv(MOST_BYTES))
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            self._channel.settimeout(None)
            self._channel.recv(MOST_BYTES)
            raise

    def close(self) -> None:
        self._channel.close()
        self._process.wait()


@cache
def _server() -> _Server:
    return _Server()


def _import_libraries() -> None:
    """All that the commands import, without the program's own modules."""
    commands = importlib.import_module("podium.cli").LOCAL_COMMANDS
    for module in (*commands.values(), "podium.remote.commands"):
        importlib.import_module(module)
    for name in list(sys.modules):
        if name.partition(".")[0] == "podium":
            del sys.modules[name]


def _serve(channel: socket.socket) -> None:
    """Returns in a forked process, once what it was ordered is in its place; never in the one that forks."""
    while True:
        message, files, *_ = socket.recv_fds(channel, MOST_BYTES, 3)
        if not message:
            sys.exit()
        if not (pid := os.fork()):
            channel.close()
            return _become(json.loads(message), files)
        for file in files:
            os.close(file)
        channel.send(str(pid).encode())
        channel.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())


def _become(order: dict[str, Any], files: Sequence[int]) -> None:
    for place, file in enumerate(files):
        os.dup2(file, place)
        os.close(file)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    sys.argv = ["podium", *order["arguments"]]


def _end(status: object) -> None:
    """End as Python does, without freeing all that was imported: that takes as long as to import it."""
    if isinstance(status, str):
        print(status, file=sys.stderr)  # noqa: T201 - as for SystemExit
        status = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(status or 0))


if __name__ == "__main__":
    _import_libraries()
    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    from podium.cli import main

    try:
        main()
        _end(0)
    except SystemExit as end:
        _end(end.code)
    except BaseException:  # noqa: BLE001 - as Python does
        traceback.print_exc()
        _end(1)
