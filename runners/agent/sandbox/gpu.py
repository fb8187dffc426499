"""Which device files a sandbox needs for the GPUs it was given, by their UUIDs."""

from pathlib import Path

from runners.agent.sandbox.policy import SandboxFault

DRIVER = Path("/proc/driver/nvidia/gpus")
SHARED_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
DRIVER_FOLDERS = ("/sys/bus/pci/devices", "/sys/devices", "/sys/module/nvidia")
"""Read by the CUDA driver to learn where a device sits; shown read-only and only with a GPU."""


def device_nodes(uuids: tuple[str, ...], driver: Path = DRIVER) -> list[Path]:
    """Device files of the named GPUs alone, and those that all share. Raises SandboxFault for an unknown UUID."""
    minors = device_minors(driver)
    unknown = [uuid for uuid in uuids if uuid not in minors]
    if unknown:
        raise SandboxFault(f"no such GPU on this machine: {', '.join(unknown)}; {driver} lists {sorted(minors)}")
    return [*map(Path, SHARED_NODES), *(Path(f"/dev/nvidia{minors[uuid]}") for uuid in uuids)]


def device_minors(driver: Path) -> dict[str, int]:
    """UUID to the number in /dev/nvidiaN, as the driver tells it."""
    minors: dict[str, int] = {}
    for information in driver.glob("*/information"):
        facts = dict(line.split(":", 1) for line in information.read_text().splitlines() if ":" in line)
        minors[facts.get("GPU UUID", "").strip()] = int(facts.get("Device Minor", "-1"))
    return minors
