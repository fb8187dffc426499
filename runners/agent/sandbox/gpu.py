"""The files of given GPUs that a sandbox shows: their own device files and the driver's, none of other GPUs."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runners.agent.devices.gpus import find_devices
from runners.agent.devices.nvml import Nvml
from runners.agent.ground.errors import SandboxFault

DRIVER = Path("/proc/driver/nvidia")
DRIVER_FACTS = ("params", "version", "registry")
SHARED_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
CAPABILITY_NODES = "/dev/nvidia-caps/nvidia-cap"
DRIVER_FOLDERS = ("/sys/bus/pci/devices", "/sys/devices", "/sys/module/nvidia")
"""Read by the CUDA driver to learn where a device sits; shown read-only and only with a GPU."""
DRIVER_LIBRARIES = ("libcuda.so.1", "libnvidia-ml.so.1")
MEND_NODES = "let the driver make it: sudo nvidia-modprobe -u -c 0"
CACHE = {"CUDA_CACHE_PATH": "/tmp/.cuda-cache"}  # noqa: S108 - the sandbox's own
"""The driver's cache of code compiled from PTX. Each command has its own, so that none can plant code for others."""
NO_CACHE = {"CUDA_CACHE_DISABLE": "1"}


@dataclass(frozen=True)
class Located:
    """Paths of one GPU's files."""

    minor: int
    """The number in /dev/nvidiaN."""
    folders: tuple[Path, ...] = ()
    """The GPU's folders below /proc/driver/nvidia."""
    nodes: tuple[Path, ...] = ()
    """Device files besides /dev/nvidiaN: they grant access to a MIG instance."""


def locate(uuids: tuple[str, ...], driver: Path = DRIVER) -> list[Located]:
    """Find the files of GPUs. Raises SandboxFault for an unknown UUID."""
    found = boards(driver)
    if not found.keys() >= set(uuids):  # an instance of a partitioned board, or a kernel that keeps no such files
        found |= known_to_the_library(driver)
    unknown = [uuid for uuid in uuids if uuid not in found]
    if unknown:
        raise SandboxFault(f"no such GPU on this machine: {', '.join(unknown)}; the driver lists {sorted(found)}")
    return [found[uuid] for uuid in uuids]


def boards(driver: Path) -> dict[str, Located]:
    """Whole GPUs by UUID, from the driver's files below /proc."""
    found = {}
    for information in driver.glob("gpus/*/information"):
        facts = dict(line.split(":", 1) for line in information.read_text().splitlines() if ":" in line)
        minor = facts.get("Device Minor", "").strip()
        if minor.isdigit():
            found[facts.get("GPU UUID", "").strip()] = Located(int(minor), (information.parent,))
    return found


def known_to_the_library(driver: Path) -> dict[str, Located]:
    """GPUs and MIG instances by UUID, from NVML."""
    nvml = Nvml.load()
    if nvml is None:
        return {}
    found = {}
    try:
        for device in find_devices(nvml):
            minor = nvml.ask("nvmlDeviceGetMinorNumber", device.board)
            if minor is not None:
                folder = driver / "capabilities" / f"gpu{minor}"
                rights = instance_nodes(folder, device.gpu_instance, device.compute_instance)
                found[device.uuid] = Located(int(minor), (folder,) if rights else (), rights)
    finally:
        nvml.close()
    return found


def instance_nodes(folder: Path, gpu_instance: int | None, compute_instance: int | None) -> tuple[Path, ...]:
    """The device files that grant access to a MIG instance. `folder` holds its board's capabilities."""
    if gpu_instance is None or compute_instance is None:
        return ()
    whole = folder / "mig" / f"gi{gpu_instance}"
    return tuple(capability_node(part / "access") for part in (whole, whole / f"ci{compute_instance}"))


def capability_node(access: Path) -> Path:
    """The device file of a capability. Raises SandboxFault if the driver's file `access` does not name it."""
    try:
        facts = dict(line.split(":", 1) for line in access.read_text().splitlines() if ":" in line)
        return Path(f"{CAPABILITY_NODES}{int(facts['DeviceFileMinor'])}")
    except (OSError, KeyError, ValueError) as error:
        raise SandboxFault(f"{access} does not name the device file of a MIG instance: {error!r}") from error


def device_nodes(located: list[Located]) -> list[Path]:
    """The device files of the located GPUs, and those that all GPUs share."""
    own = [node for each in located for node in (Path(f"/dev/nvidia{each.minor}"), *each.nodes)]
    return [*map(Path, SHARED_NODES), *own]


def gpu_arguments(uuids: tuple[str, ...], driver: Path = DRIVER) -> list[str]:
    """Arguments for bwrap, to follow its own /proc and /dev. They show these GPUs and hide facts about others.

    Raises SandboxFault for an unknown UUID and for a device file that is missing.
    """
    located = locate(uuids, driver) if uuids else []
    arguments = []
    if located:
        for node in device_nodes(located):
            if node.exists():
                arguments += ["--dev-bind", str(node), str(node)]
            elif str(node) != SHARED_NODES[-1]:  # only profilers of managed memory use that one
                raise SandboxFault(f"{node} is missing: {MEND_NODES}")
        arguments += [word for folder in DRIVER_FOLDERS for word in ("--ro-bind-try", folder, folder)]
    return arguments + _proc_arguments(located, driver)


def _proc_arguments(located: list[Located], driver: Path) -> list[str]:
    """Replace the driver's folder in /proc by one with its common files and those of the located GPUs."""
    if not driver.is_dir():
        return []
    shown = [driver / fact for fact in DRIVER_FACTS] if located else []
    shown += [folder for each in located for folder in each.folders]
    return [
        *("--perms", "0555", "--size", "65536", "--tmpfs", str(driver)),
        *(word for path in shown for word in ("--ro-bind-try", str(path), str(path))),
        *("--remount-ro", str(driver)),
    ]


@dataclass(frozen=True)
class DriverLibraries:
    """Paths of libcuda and NVML on this machine."""

    folders: tuple[Path, ...] = ()
    search_path: tuple[str, ...] = ()
    """Libraries that programs find through LD_LIBRARY_PATH."""


def find_driver_libraries(loader_path: str | None = None, loader_cache: str | None = None) -> DriverLibraries:
    """Find them through this process's LD_LIBRARY_PATH and the loader's cache, as `ldconfig -p` prints it."""
    path = os.environ.get("LD_LIBRARY_PATH", "") if loader_path is None else loader_path
    cache = _loader_cache() if loader_cache is None else loader_cache
    searched = [entry for entry in path.split(":") if entry and _holds_the_driver(Path(entry))]
    cached = [
        line.rpartition("=> ")[2] for line in cache.splitlines() if line.split(" ")[0].strip() in DRIVER_LIBRARIES
    ]
    libraries = [Path(folder) / name for folder in searched for name in DRIVER_LIBRARIES] + list(map(Path, cached))
    present = [library for library in libraries if library.exists()]
    folders = {folder for library in present for folder in (library.parent, library.resolve().parent)}
    return DriverLibraries(tuple(sorted(folders)), tuple(dict.fromkeys(searched)))


def _holds_the_driver(folder: Path) -> bool:
    return any((folder / name).exists() for name in DRIVER_LIBRARIES)


def _loader_cache() -> str:
    program = shutil.which("ldconfig") or "/sbin/ldconfig"
    try:
        return subprocess.run([program, "-p"], capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def gpu_environment(
    uuids: tuple[str, ...], given: Mapping[str, str], cache: Mapping[str, str], search_path: tuple[str, ...] = ()
) -> dict[str, str]:
    """`given` with the variables that a command with GPUs needs. These replace those of `given`."""
    if not uuids:
        return dict(given)
    path = [entry for entry in given.get("LD_LIBRARY_PATH", "").split(":") if entry]
    joined = ":".join(dict.fromkeys([*path, *search_path]))
    return {
        **given,
        **cache,
        **({"LD_LIBRARY_PATH": joined} if joined else {}),
        "CUDA_VISIBLE_DEVICES": ",".join(uuids),
    }
