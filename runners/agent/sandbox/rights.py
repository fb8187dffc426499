"""Names the rights that this machine or container withholds from bubblewrap and from GPU work, each with its remedy."""

import errno
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from runners.agent.ground.native import default_cache_directory
from runners.agent.sandbox.gpu import DRIVER, SHARED_NODES

PROBE = Path(__file__).with_name("rights_probe.py")
PROBE_SECONDS = 20
SYSTEM = Path("/proc/sys")
SECCOMP = (
    "a seccomp profile refuses them. In a container use Podium's: --security-opt seccomp=deploy/node-seccomp.json, on"
    " Kubernetes seccompProfile: {type: Localhost}"
)
APPARMOR = (
    "an AppArmor profile denies them: --security-opt apparmor=unconfined, on Kubernetes"
    " appArmorProfile: {type: Unconfined}"
)
PROC = (
    "the kernel allows it only where the container's own /proc is unmasked: --security-opt systempaths=unconfined, on"
    " Kubernetes procMount: Unmasked with hostUsers: false"
)
PROFILING = "only ncu needs them: load the driver with NVreg_RestrictProfilingToAdminUsers=0 on the machine itself"


@dataclass(frozen=True)
class Lack:
    """A right that is withheld."""

    right: str
    words: str
    """The reason and the remedy."""
    is_needed: bool = True
    """Whether nothing can be judged without it."""


def lacks() -> list[Lack]:
    """All rights that a node with bubblewrap does not have here, in the order in which it needs them."""
    return [*lacks_of_sandbox(), *_lacks_of_folders(), *lacks_of_gpus()]


def lacks_of_sandbox() -> list[Lack]:
    """The rights that bubblewrap itself is refused."""
    try:
        tried = subprocess.run(
            [sys.executable, "-I", "-S", str(PROBE)], capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
        )
        found = json.loads(tried.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return [Lack("probe", f"the kernel could not be asked: {error}")]
    return explain(found, is_filtered=_is_filtered())


def explain(found: dict[str, int], *, is_filtered: bool, system: Path = SYSTEM) -> list[Lack]:
    """The lacks behind the errnos of the probe's steps. `is_filtered`: a seccomp filter holds for this process."""
    return [
        Lack(name, f"{_TITLES[name]} ({os.strerror(code)}): {_remedy(name, code, is_filtered, system)}")
        for name, code in found.items()
        if code
    ]


_TITLES = {
    "user": "user namespaces are refused",
    "map": "a user namespace gets no rights in it",
    "namespaces": "namespaces of processes, mounts and network are refused",
    "mount": "mounts are refused",
    "proc": "a /proc of its own is refused",
    "pivot_root": "pivot_root is refused",
}


def _remedy(name: str, code: int, is_filtered: bool, system: Path) -> str:
    if name == "proc" and code == errno.EPERM:
        return PROC
    if setting := _sysctl(name, code, is_filtered, system):
        return f"sudo sysctl -w {setting}"
    if code == errno.EACCES:
        return APPARMOR
    return SECCOMP if is_filtered else "the kernel or a security module refuses them; in a chroot there are none"


def _sysctl(name: str, code: int, is_filtered: bool, system: Path) -> str:
    """The setting of the machine that lets the step pass; empty if none refuses it."""
    none_at_all = code == errno.ENOSPC or _setting(system / "user/max_user_namespaces") == "0"
    for_root_alone = name == "user" and _setting(system / "kernel/unprivileged_userns_clone") == "0"
    # Ubuntu's restriction; a filter refuses already the first step
    for_known_programs = _setting(system / "kernel/apparmor_restrict_unprivileged_userns") == "1"
    refusals = {
        "user.max_user_namespaces=15000": none_at_all,
        "kernel.unprivileged_userns_clone=1": for_root_alone,
        "kernel.apparmor_restrict_unprivileged_userns=0": for_known_programs and not (name == "user" and is_filtered),
    }
    return next((setting for setting, refuses in refusals.items() if refuses), "")


def _setting(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _is_filtered() -> bool:
    lines = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace").splitlines()
    return "Seccomp:\t2" in lines


def _lacks_of_folders() -> list[Lack]:
    """Folders from which programs may not be started. Builds lie in the one, native programs in the other."""
    cache = default_cache_directory()
    there = next((folder for folder in (cache, *cache.parents) if folder.is_dir()), cache)
    return [
        Lack(
            str(folder),
            f"programs in {folder} may not be started: mount it with exec, for Docker --tmpfs {folder}:exec",
        )
        for folder in dict.fromkeys((Path(tempfile.gettempdir()), there))
        if os.statvfs(folder).f_flag & os.ST_NOEXEC
    ]


def lacks_of_gpus(driver: Path = DRIVER, devices: Path = Path("/dev")) -> list[Lack]:
    """Device files that this user may not open, and counters that are for root alone; none without a driver."""
    if not driver.is_dir():
        return []
    boards = sorted(devices.glob("nvidia[0-9]*"))
    shared = [
        devices / Path(node).name for node in SHARED_NODES[:-1]
    ]  # the last one is for profilers of managed memory
    found = [
        Lack(str(node), f"{node} {_closed(node)}: give the container its GPUs, for Docker --gpus all or a CDI device")
        for node in [*shared, *boards]
        if not os.access(node, os.R_OK | os.W_OK)
    ]
    if not boards:
        found.append(Lack("GPU", f"no {devices}/nvidiaN is there: give the container its GPUs, for Docker --gpus all"))
    if "RmProfilingAdminOnly: 1" in _setting(driver / "params"):
        found.append(Lack("counters", f"the GPU's hardware counters are for root alone: {PROFILING}", is_needed=False))
    return found


def _closed(node: Path) -> str:
    return "may not be opened" if node.exists() else "is not there"
