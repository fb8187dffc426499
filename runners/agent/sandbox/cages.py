"""Bounds a command's memory and processes from outside, by the first method that works on this machine."""

import logging
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from runners.agent.sandbox.groups import find_home
from runners.agent.sandbox.policy import Limits
from runners.agent.sandbox.processes import (
    driver_bytes,
    file_bytes,
    mapped_bytes,
    private_bytes,
    read,
    scratch_of,
    shared_bytes,
    started_at,
    tree_of,
)

logger = logging.getLogger(__name__)
CGROUP_ROOT = Path("/sys/fs/cgroup")
WATCH_SECONDS = 0.02
SLOW_LOOK_SECONDS = 0.25
GROUP_PREFIX = "podium-"


@dataclass(frozen=True)
class UsageReading:
    exceeded: bool
    peak_bytes: int


class Cage(Protocol):
    """The cage of one command. `join` names control group files that the command enters before it starts."""

    join: tuple[str, ...]
    prefix: tuple[str, ...]
    environment: Mapping[str, str]
    bounds_processes: bool
    kills_by_hand: bool
    """True if the agent must kill at the limit because the kernel does not."""
    vanishes: bool
    """True if the cage vanishes with its last process, so that it must be read before."""
    tick_seconds: float | None

    def attach(self, pid: int) -> None: ...
    def exceeded(self) -> bool: ...
    def kill(self) -> None: ...
    def close(self, *, was_killed: bool = False) -> UsageReading:
        """Closes the cage and returns its use. `was_killed`: something else than the agent and the supervisor may
        have killed it."""
        ...


CageMaker = Callable[[Limits], Cage]


@dataclass(frozen=True)
class MemoryLimit:
    """A method to bound memory. Results record `name`; `why` is the reason why no better method works here."""

    name: str
    cage: CageMaker
    why: str = ""


Found = MemoryLimit | str
"""A method that works here, or the reason why it does not."""


def _counter(text: str, key: str) -> int:
    for line in text.splitlines():
        word, _, value = line.partition(" ")
        if word == key:
            return int(value)
    return 0


@dataclass
class GroupFiles:
    """The names that differ between the two versions of control groups."""

    events: str
    peak: str


V1_FILES = GroupFiles(events="memory.oom_control", peak="memory.max_usage_in_bytes")
V2_FILES = GroupFiles(events="memory.events", peak="memory.peak")


class GroupCage:
    """A control group (v2), or one group per controller (v1), made for one command. `folders[0]` bounds memory."""

    prefix: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    kills_by_hand = False
    vanishes = False
    tick_seconds: float | None = None

    def __init__(self, folders: list[Path], files: GroupFiles, settings: list[tuple[Path, str]]) -> None:
        self._folders = folders
        self._files = files
        try:
            self._make(settings)
        except OSError:
            self._remove()
            raise
        self.join = tuple(str(folder / "cgroup.procs") for folder in folders)
        self.bounds_processes = any((folder / "pids.max").exists() for folder in folders)

    def _make(self, settings: list[tuple[Path, str]]) -> None:
        for folder in self._folders:
            folder.mkdir(parents=True, exist_ok=True)
        for index, (path, value) in enumerate(settings):
            if index == 0 or path.exists():  # the memory limit is a must; swap and process counts may be compiled out
                path.write_text(value)

    def _remove(self) -> None:
        for folder in self._folders:
            _remove_group(folder)

    def attach(self, pid: int) -> None:
        """Do nothing: the command joins the group by itself."""

    def exceeded(self) -> bool:
        return _counter(read(self._folders[0] / self._files.events), "oom_kill") > 0

    def kill(self) -> None:
        """Kill all members until none is left. A fork bomb may outrun one sweep, but not its process limit."""
        for _ in range(200):
            members = [int(pid) for folder in self._folders for pid in read(folder / "cgroup.procs").split()]
            if not members:
                return
            for pid in members:
                with suppress(ProcessLookupError):
                    os.kill(pid, 9)
            time.sleep(0.002)

    def close(self, *, was_killed: bool = False) -> UsageReading:  # noqa: ARG002 - what an engine needs
        peak = read(self._folders[0] / self._files.peak).strip()
        reading = UsageReading(self.exceeded(), int(peak) if peak.isdigit() else 0)
        self._remove()
        return reading


def _remove_group(folder: Path) -> None:
    """A group stays busy for a moment after its last process is gone."""
    for _ in range(100):
        try:
            folder.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.005)


@dataclass
class TreeCage:
    """No control group: the agent adds up the memory of the tree and its scratch folders every few milliseconds.

    CUDA's managed memory is resident as file pages of the driver, and a mapped file of a scratch folder is resident in
    each process that maps it. Both are looked at only if the sum could exceed the limit, because looking is slow.
    Other memory that no process maps is not counted.
    """

    limit_bytes: int
    join: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    bounds_processes: bool = False
    kills_by_hand: bool = True
    vanishes: bool = False
    tick_seconds: float | None = WATCH_SECONDS
    _root: int = 0
    _peak: int = 0
    _met: dict[int, str] = field(default_factory=dict)
    """Start time of every process seen in the tree, so that it is found again after its supervisor was killed."""
    _next_look: float = 0.0

    def attach(self, pid: int) -> None:
        self._root = pid

    def exceeded(self) -> bool:
        if self._root:
            tree = tree_of(self._root)
            self._met.update((pid, started_at(pid)) for pid in tree if pid not in self._met)
            self._peak = max(self._peak, self._held_bytes(tree))
        return self._peak > self.limit_bytes

    def _held_bytes(self, tree: list[int]) -> int:
        """Bytes of memory that the tree holds, its files in scratch folders included. The exact sum is slow: see the
        class."""
        private, shared = sum(map(private_bytes, tree)), sum(map(shared_bytes, tree))
        scratch = scratch_of(tree)
        in_files = scratch.used_bytes
        if private + shared + in_files + sum(map(file_bytes, tree)) <= self.limit_bytes:
            return private + max(shared, in_files)
        now = time.monotonic()
        if now < self._next_look:
            return private + (in_files or shared)
        self._next_look = now + SLOW_LOOK_SECONDS
        mapped = sum(mapped_bytes(pid, scratch.devices) for pid in tree) if in_files else 0
        return private + in_files + max(0, shared - mapped) + sum(map(driver_bytes, tree))

    def kill(self) -> None:
        alive = [pid for pid, start in self._met.items() if start and started_at(pid) == start]
        for member in {member for pid in alive for member in tree_of(pid)}:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(member, 9)

    def close(self, *, was_killed: bool = False) -> UsageReading:  # noqa: ARG002 - what an engine needs
        return UsageReading(self._peak > self.limit_bytes, self._peak)


class ScopeCage:
    """A transient scope of the user's own systemd: it exists as long as the command does."""

    join: tuple[str, ...] = ()
    environment: Mapping[str, str]
    bounds_processes = True
    kills_by_hand = False
    vanishes = True
    tick_seconds: float | None = WATCH_SECONDS

    def __init__(self, limits: Limits) -> None:
        bounds = {"MemoryMax": limits.memory_bytes, "MemorySwapMax": 0, "TasksMax": limits.processes + 8}
        settings = [word for name, value in bounds.items() for word in ("-p", f"{name}={value}")]
        self.prefix = ("systemd-run", "--user", "--scope", "--quiet", "--collect", *settings, "--")
        wanted = ("PATH", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
        self.environment = {name: os.environ[name] for name in wanted if name in os.environ}
        self._group: Path | None = None
        self._exceeded = False
        self._peak = 0

    def attach(self, pid: int) -> None:
        for line in read(Path(f"/proc/{pid}/cgroup")).splitlines():
            if line.startswith("0::"):
                self._group = CGROUP_ROOT / line[3:].lstrip("/")

    def exceeded(self) -> bool:
        if self._group is not None:
            self._exceeded = self._exceeded or _counter(read(self._group / "memory.events"), "oom_kill") > 0
            peak = read(self._group / "memory.peak").strip()
            self._peak = max(self._peak, int(peak) if peak.isdigit() else 0)
        return self._exceeded

    def kill(self) -> None:
        if self._group is not None:
            with suppress(OSError):
                (self._group / "cgroup.kill").write_text("1")

    def close(self, *, was_killed: bool = False) -> UsageReading:  # noqa: ARG002 - what an engine needs
        return UsageReading(self._exceeded, self._peak)


def choose_memory_limit() -> MemoryLimit:
    """The first method that works here, found by trial. Logs a warning if it is not a bound of the kernel."""
    complaints = []
    for find in (groups_v2, user_scope, groups_v1):
        found = find()
        if isinstance(found, MemoryLimit):
            return found
        complaints.append(found)
    why = "; ".join(filter(None, complaints))
    logger.warning("memory is bounded by watching, for want of control groups: %s", why)
    return MemoryLimit("watcher", lambda limits: TreeCage(limits.memory_bytes), why)


def sweep(parent: Path) -> None:
    """Remove the groups of dead agents. A living agent's group may be empty until its command joins."""
    for folder in parent.glob(f"{GROUP_PREFIX}*"):
        agent = folder.name.removeprefix(GROUP_PREFIX).partition("-")[0]
        if not Path(f"/proc/{agent}").exists():
            with suppress(OSError):
                folder.rmdir()


def _group_name() -> str:
    return f"{GROUP_PREFIX}{os.getpid()}-{secrets.token_hex(6)}"


def _own_group(controller: str) -> Path | None:
    """The folder of this process's group (v1) for a controller."""
    for line in read(Path("/proc/self/cgroup")).splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return CGROUP_ROOT / controller / path.lstrip("/")
    return None


def _why_it_fails(maker: CageMaker) -> str:
    """The reason why no process can enter such a cage; empty if one can."""
    trial = Limits(1.0, 64 << 20, 16, 1 << 20, 1 << 20, 1 << 10)
    try:
        cage = maker(trial)
    except OSError as error:
        return f"no group can be made and bounded ({error})"
    try:
        with subprocess.Popen(["sleep", "5"]) as sleeper:
            try:
                for path in cage.join:
                    Path(path).write_text(str(sleeper.pid))
            except OSError as error:
                return f"no process can be put into a new group ({error})"
            finally:
                sleeper.kill()
        return ""
    finally:
        cage.close()


def groups_v2() -> Found:
    """A delegated part of the unified hierarchy, as by `Delegate=yes` in the agent's unit or in a container."""
    home = find_home()
    if home.folder is None:
        return f"cgroup v2: {home.why_not}"
    parent = home.folder
    sweep(parent)

    def cage(limits: Limits) -> Cage:
        folder = parent / _group_name()
        settings = {
            "memory.max": limits.memory_bytes,
            "memory.swap.max": 0,
            "pids.max": limits.processes + 8,
        }
        return GroupCage([folder], V2_FILES, [(folder / name, str(value)) for name, value in settings.items()])

    complaint = _why_it_fails(cage)
    return f"cgroup v2: {parent}: {complaint}" if complaint else MemoryLimit("cgroup2", cage)


def user_scope() -> Found:
    if os.geteuid() == 0 or shutil.which("systemd-run") is None or not os.environ.get("XDG_RUNTIME_DIR"):
        return ""
    trial = ["systemd-run", "--user", "--scope", "--quiet", "--collect", "-p", "MemoryMax=64M", "--", "true"]
    try:
        done = subprocess.run(trial, capture_output=True, text=True, errors="replace", timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"systemd: {error}"
    if done.returncode:
        return f"systemd: {done.stderr.strip()[-200:]}"
    return MemoryLimit("systemd-scope", ScopeCage)


def groups_v1() -> Found:
    memory, pids = _own_group("memory"), _own_group("pids")
    if memory is None:
        return ""
    if not os.access(memory, os.W_OK):
        return f"cgroup v1: {memory} may not be written"
    for parent in filter(None, (memory, pids)):
        sweep(parent)

    def cage(limits: Limits) -> Cage:
        name = _group_name()
        folders = [memory / name]
        settings = [
            (folders[0] / "memory.limit_in_bytes", str(limits.memory_bytes)),
            (folders[0] / "memory.memsw.limit_in_bytes", str(limits.memory_bytes)),
        ]
        if pids is not None and os.access(pids, os.W_OK):
            folders.append(pids / name)
            settings.append((folders[1] / "pids.max", str(limits.processes + 8)))
        return GroupCage(folders, V1_FILES, settings)

    complaint = _why_it_fails(cage)
    return f"cgroup v1: {complaint}" if complaint else MemoryLimit("cgroup1", cage)
