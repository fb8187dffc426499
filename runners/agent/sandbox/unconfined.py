"""The unconfined backend, for trusted code alone: same supervisor, limits and seccomp, but the machine's own root."""

import os
import warnings
from functools import partial
from pathlib import Path
from socket import socket
from threading import Event

from runners.agent.ground.errors import SandboxFault
from runners.agent.ground.native import default_cache_directory
from runners.agent.sandbox.bubblewrap import enter
from runners.agent.sandbox.cages import Cage, MemoryLimit, choose_memory_limit
from runners.agent.sandbox.gpu import NO_CACHE, find_driver_libraries, gpu_environment
from runners.agent.sandbox.policy import Command, Outcome, Running, Sandbox
from runners.agent.sandbox.privilege import Identity, identity_for, reachable_by_others
from runners.agent.sandbox.process import run_supervised
from runners.agent.sandbox.root import base_environment, find_toolchains, interpreter
from runners.agent.sandbox.supervisor import Orders, build, launcher_for

WARNING = (
    "SANDBOX=unconfined: commands see this machine's files and processes. Run only code that you trust yourself; "
    "for anybody else's use docker or bubblewrap."
)


class UnconfinedSandbox(Sandbox):
    """Enforces limits but does not hide this machine's files."""

    name = "unconfined"

    def __init__(self, cache_dir: Path | None = None, memory_limit: MemoryLimit | None = None) -> None:
        warnings.warn(WARNING, stacklevel=2)
        self._memory_limit = memory_limit or choose_memory_limit()
        self.memory_limit_by, self.memory_limit_why = self._memory_limit.name, self._memory_limit.why
        self._supervisor = build(cache_dir or default_cache_directory())
        self._toolchains = find_toolchains()
        self._driver = find_driver_libraries()

    def start(self, command: Command, channel: socket | None = None, brake: socket | None = None) -> Running:
        """See `policy.Sandbox`. A mount that stands elsewhere inside than outside is a fault, and so is a brake."""
        return Running(partial(self._attend, command, channel, brake), channel, brake)

    def _attend(self, command: Command, channel: socket | None, brake: socket | None, stopped: Event) -> Outcome:
        if brake is not None:
            raise SandboxFault("unconfined cannot stop exactly one command's processes: use bubblewrap or docker")
        moved = [mount.target for mount in command.mounts if str(mount.source) != mount.target]
        if moved:
            raise SandboxFault(f"unconfined cannot show files elsewhere ({', '.join(moved)}): use bubblewrap")
        identity = self._identity(command)
        cage = self._memory_limit.cage(command.limits)
        arguments = [*enter(self._supervisor, identity, cage), str(self._supervisor), "supervise"]
        return run_supervised(arguments, self._orders(command, identity, cage), cage, channel, stopped)

    def _identity(self, command: Command) -> Identity:
        """The slot's user, if it can reach the tools and the workspace, which no private root shows here."""
        needed = [command.workspace, interpreter(), self._supervisor]
        if os.geteuid() == 0 and all(map(reachable_by_others, needed)):
            return identity_for(command)
        return Identity(os.geteuid(), os.getegid(), dropped=False)

    def _orders(self, command: Command, identity: Identity, cage: Cage) -> Orders:
        return Orders(
            command=command,
            workspace=str(command.workspace),
            home=str(self._supervisor.parent),
            launcher=launcher_for(interpreter(), self._supervisor.parent),
            environment={
                **base_environment(self._toolchains),
                **gpu_environment(command.gpu_uuids, command.environment, NO_CACHE, self._driver.search_path),
            },
            own_network=False,
            # Another root agent's slots have the same users: only without a group to kill by is the user all there is.
            exposed=True,
            owns_everyone=identity.dropped and not cage.join,
            processes=0 if cage.bounds_processes else command.limits.processes + tasks_of(identity.uid),
            linger=cage.vanishes,
        )

    def why_no_gpus(self, uuids: tuple[str, ...]) -> str:  # noqa: ARG002 - commands see them all
        return ""

    def close(self) -> None:
        """Do nothing: the sandbox holds no resources between commands."""


def tasks_of(uid: int) -> int:
    """The number of a user's present tasks, which the kernel counts against the same limit."""
    total = 0
    for entry in os.scandir("/proc"):
        try:
            if entry.name.isdigit() and entry.stat().st_uid == uid:
                total += sum(1 for _ in Path(f"{entry.path}/task").iterdir())
        except OSError:
            continue
    return total
