"""Starts a sandbox that is a process of this machine, and holds it by its pipes."""

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from socket import socket
from threading import Event

from runners.agent.sandbox.cages import Cage
from runners.agent.sandbox.policy import Outcome
from runners.agent.sandbox.supervisor import Orders
from runners.agent.sandbox.watch import Received, attend

CHUNK_BYTES = 1 << 16


def run_supervised(
    arguments: Sequence[str],
    orders: Orders,
    cage: Cage,
    channel: socket | None,
    stopped: Event,
    brake: socket | None = None,
) -> Outcome:
    """Run a program whose descendant is the supervisor. Raises SandboxFault if the sandbox never came up."""
    passed = [one for one in (channel, brake) if one is not None]
    handle = ProcessHandle(arguments, cage, [one.fileno() for one in passed])
    orders = replace(
        orders,
        channel=None if channel is None else channel.fileno(),
        brake=None if brake is None else brake.fileno(),
    )
    for one in passed:
        one.close()
    return attend(handle, orders, cage, stopped)


class ProcessHandle:
    """See `watch.Handle`."""

    def __init__(self, arguments: Sequence[str], cage: Cage, inherited: Sequence[int] = ()) -> None:
        self._process = subprocess.Popen(
            [*cage.prefix, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(cage.environment),
            cwd="/",
            bufsize=0,
            pass_fds=inherited,
        )
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin, self._stdout, self._stderr = self._process.stdin, self._process.stdout, self._process.stderr
        self.pid = self._process.pid
        for file in self.files():
            os.set_blocking(file, False)

    def first_process(self) -> int:
        """See `watch.Handle`."""
        return self.pid

    def files(self) -> Sequence[int]:
        return self._stdout.fileno(), self._stderr.fileno()

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._stdin.write(view) or 0 :]

    def receive(self, file: int) -> Received:
        chunk = os.read(file, CHUNK_BYTES)
        if file == self._stdout.fileno():
            return Received(stdout=chunk, ended=not chunk)
        return Received(stderr=chunk, ended=not chunk)

    def hang_up(self) -> None:
        with suppress(BrokenPipeError):
            self._stdin.close()

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> int:
        self.hang_up()
        self._stdout.close()
        self._stderr.close()
        return self._process.wait()
