"""The test of a reference starts with one connection to its device; a contestant's never does."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from runners.agent.devices.lanes import Lanes, Place
from runners.agent.ground.events import Progress
from runners.agent.job.job import Author
from runners.agent.judges.command.runs import test as run_test
from runners.agent.judges.command.subject import CommandSubject
from runners.agent.sandbox.policy import Command, Outcome
from runners.wire.protocol import Witness
from tests.agent.machine import Machine, job_of, shell_problem

CONNECTIONS = "CUDA_DEVICE_MAX_CONNECTIONS"
GPU = "GPU-1"


class Commands:
    """Stands in for the sandbox: a command fails with this number of connections; notes that of each command."""

    def __init__(self, fails_with: str | None = "none ever") -> None:
        self.fails_with = fails_with
        self.connections: list[str | None] = []

    def run(self, command: Command) -> Outcome:
        self.connections.append(_connections(command.environment))
        code = int(self.connections[-1] == self.fails_with)
        return Outcome(
            exit_code=code, signal=None, timed_out=False, memory_exceeded=False, cancelled=False, stdout="", stderr="",
            truncated=False, wall_ms=1.0, cpu_ms=1.0, peak_memory_bytes=0, witness=Witness.UNAVAILABLE,
        )  # fmt: skip


def _connections(environment: Mapping[str, str]) -> str | None:
    return environment.get(CONNECTIONS)


def passes(machine: Machine, commands: Commands, *, trusted: bool, device: str = GPU) -> bool:
    lanes = Lanes(1, 1, (device,) if device else ())
    environment = replace(machine.environment, gate_library=Path("gate.so"), lanes=lanes, sandbox=commands)
    job = job_of(shell_problem(), {})
    author = Author.PROBLEM if trusted else Author.CONTESTANT
    subject = CommandSubject(job, (), place=Place("", device), author=author)
    return run_test(environment, subject, b"", Progress()).succeeded


def test_a_references_test_starts_with_one_connection(machine: Machine) -> None:
    commands = Commands()
    assert passes(machine, commands, trusted=True)
    assert commands.connections == ["1"]


def test_a_reference_that_fails_so_is_tested_as_it_is(machine: Machine) -> None:
    commands = Commands(fails_with="1")
    assert passes(machine, commands, trusted=True)
    assert commands.connections == ["1", None]


def test_a_contestants_test_is_left_as_it_is(machine: Machine) -> None:
    commands = Commands(fails_with=None)
    assert not passes(machine, commands, trusted=False)
    assert commands.connections == [None]


def test_without_a_device_nothing_is_added(machine: Machine) -> None:
    commands = Commands()
    assert passes(machine, commands, trusted=True, device="")
    assert commands.connections == [None]
