"""Finds a control group (v2) below which every command can have its own group, and prepares it.

Except for the root group, the kernel forbids processes in a group that gives controllers to its children. The agent
therefore moves itself and the processes started with it into a leaf. If there are others, it tries a group further up.
https://docs.kernel.org/admin-guide/cgroup-v2.html, "No Internal Process Constraint"
"""

import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from runners.agent.sandbox.processes import ancestors_of, read, tree_of

CONTROLLERS = ("memory", "pids", "cpuset")
"""The first is required. The others are enabled if the kernel allows it."""
LEAF = "agent"
SYSTEMD = Path("/run/systemd/system")
SWEEPS = 20
"""Number of attempts to empty a group, because its processes may fork meanwhile."""
NOT_MOUNTED = "no cgroup v2 hierarchy is mounted (mount -t cgroup2 none /sys/fs/cgroup)"
Movable = Callable[[set[int]], set[int]]


@dataclass(frozen=True)
class Home:
    """The folder in which groups can be made, or the reason why there is none."""

    folder: Path | None
    why_not: str = ""


@dataclass(frozen=True)
class CgroupPlace:
    """A process's place in the unified hierarchy."""

    mount: Path
    own: Path


def find_home(controllers: tuple[str, ...] = CONTROLLERS) -> Home:
    """The nearest group of this process's, or above it, that can hand the controllers on."""
    place = find_place(read(Path("/proc/self/mountinfo")), read(Path("/proc/self/cgroup")))
    if isinstance(place, str):
        return Home(None, place)
    complaints = []
    for folder in candidates(place, SYSTEMD.is_dir()):
        complaint = hand_on(folder, controllers, our_tree_among if SYSTEMD.is_dir() else ours_among)
        if not complaint:
            return Home(folder)
        complaints.append(f"{folder} {complaint}")
    return Home(None, "; ".join(complaints))


def find_place(mountinfo: str, groups: str) -> CgroupPlace | str:
    """This process's place, or the reason why it has none; from the texts of /proc/self/mountinfo and cgroup."""
    path = next((line[3:] for line in groups.splitlines() if line.startswith("0::")), None)
    if path is None or path.startswith("/.."):
        return "this process is in no cgroup v2 that can be seen from here"
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split()
        if right.startswith("cgroup2 ") and len(fields) > 4:
            root, mount = _unescaped(fields[3]), Path(_unescaped(fields[4]))
            if Path(path).is_relative_to(root):
                return CgroupPlace(mount, mount / Path(path).relative_to(root))
    return NOT_MOUNTED


def _unescaped(word: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), word)


def candidates(place: CgroupPlace, systemd: bool) -> Iterator[Path]:
    """The groups to try, in order: the parent if this process is in an agent's leaf, its own group, the groups above.

    Groups above one that bounds memory are left out, because commands would escape a limit set on the agent. If systemd
    runs, groups above our own are left out, because only systemd may change groups that it has not delegated.
    """
    if place.own.name == LEAF and place.own != place.mount:
        yield place.own.parent
    yield place.own
    folder = place.own
    while not systemd and folder != place.mount and read(folder / "memory.max").strip() in ("", "max"):
        folder = folder.parent
        yield folder


def hand_on(folder: Path, controllers: tuple[str, ...], movable: Movable) -> str:
    """Enable the controllers for the group's children. Returns "", or the reason for failing; all is then undone."""
    must, *wishes = controllers
    if must not in read(folder / "cgroup.controllers").split():
        return f"was not given the controller {must}"
    if not os.access(folder, os.W_OK):
        return "may not be written: it belongs to another user, or the hierarchy is mounted read-only"
    if must not in read(folder / "cgroup.subtree_control").split():
        is_root_of_all = not (folder / "cgroup.type").exists()
        moved: list[int] = []
        complaint = "" if is_root_of_all else make_leaf(folder, movable, moved)
        complaint = complaint or _enable(folder, must)
        if complaint:
            _put_back(folder, moved)
            return complaint
    for wish in wishes:
        _enable(folder, wish)
    return ""


def _enable(folder: Path, controller: str) -> str:
    try:
        (folder / "cgroup.subtree_control").write_text(f"+{controller}")
    except OSError as error:
        busy = ": a process came into it meanwhile" if error.errno == errno.EBUSY else ""
        return f"does not hand on {controller} ({error.strerror}{busy})"
    return ""


def make_leaf(folder: Path, movable: Movable, moved: list[int]) -> str:
    """Move the group's processes into a leaf below it and list them in `moved`. Returns "" or the failure's reason."""
    leaf = folder / LEAF
    try:
        for _ in range(SWEEPS):
            members = members_of(folder)
            strangers = members - movable(members)
            if strangers:
                return f"holds processes of others ({_named(strangers)})"
            if not members:
                return ""
            leaf.mkdir(exist_ok=True)
            for pid in members:
                with suppress(ProcessLookupError):
                    (leaf / "cgroup.procs").write_text(str(pid))
                    moved.append(pid)
    except OSError as error:
        return f"does not let its processes be moved ({error.strerror})"
    return "is filled faster than it can be emptied"


def _put_back(folder: Path, moved: list[int]) -> None:
    with suppress(OSError):
        for pid in moved:
            with suppress(ProcessLookupError):
                (folder / "cgroup.procs").write_text(str(pid))
        (folder / LEAF).rmdir()


def members_of(folder: Path) -> set[int]:
    """Processes directly in the group; 0 stands for one that cannot be seen from this pid namespace."""
    return {int(pid) for pid in read(folder / "cgroup.procs").split()}


def our_tree_among(members: set[int]) -> set[int]:
    """This process and its descendants."""
    return members & set(tree_of(os.getpid()))


def ours_among(members: set[int]) -> set[int]:
    """Processes started with the agent: its tree, its starter, the rest of the command line.

    A group with the first process of our pid namespace is a container's own, with all that it holds.
    """
    if 1 in members:
        return members - {0}
    session = os.getsid(0)
    together = {pid for pid in members - {0} if _session_of(pid) == session}
    return our_tree_among(members) | (members & set(ancestors_of(os.getpid()))) | together


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _named(pids: set[int]) -> str:
    shown = [f"{pid} {read(Path(f'/proc/{pid}/comm')).strip()}".strip() for pid in sorted(pids)[:3]]
    return ", ".join([*shown, "…"] if len(pids) > 3 else shown)
