"""The GPUs of this machine by UUID: their properties, their processes and their health."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from runners.agent.devices.activity import now_us
from runners.agent.devices.health import Health
from runners.agent.devices.nvml import Nvml
from runners.agent.devices.residents import Residents
from runners.agent.devices.watch import DeviceWatch, Sampler
from runners.wire.protocol import GpuCapability

DRIVER_PARAMETERS = Path("/proc/driver/nvidia/params")
POLL_SECONDS = 0.01


@dataclass(frozen=True)
class Device:
    """A GPU or a MIG instance. `board` is the physical GPU, which gives an instance's clocks and health."""

    uuid: str
    handle: Any
    board: Any
    gpu_instance: int | None = None
    compute_instance: int | None = None


class UnknownGpu(LookupError):
    """No GPU of this machine has the UUID."""


def chosen(uuids: Iterable[str]) -> list[str]:
    """The GPUs that PODIUM_GPUS names by the beginnings of their UUIDs; all if it is unset. Raises UnknownGpu."""
    known = list(uuids)
    named = [one.strip() for one in os.environ.get("PODIUM_GPUS", "").split(",") if one.strip()]
    for one in named:
        if not any(uuid.startswith(one) for uuid in known):
            there = f"this machine has {', '.join(known)}" if known else "this machine has none"
            raise UnknownGpu(f"PODIUM_GPUS names {one!r}, and no GPU's UUID begins so; {there}")
    return [uuid for uuid in known if not named or uuid.startswith(tuple(named))]


class Gpus:
    """The GPUs that this machine had when they were opened, or those of them that PODIUM_GPUS names. Safe to use from
    several threads. Raises UnknownGpu."""

    def __init__(self, nvml: Nvml, clock_us: Callable[[], int] = now_us) -> None:
        self._nvml = nvml
        self._clock_us = clock_us
        found = {device.uuid: device for device in find_devices(nvml)}
        self._devices = {uuid: found[uuid] for uuid in chosen(found)}
        self._samplers: dict[str, Sampler] = {}
        self._guard = Lock()
        self.residents = Residents()
        self._health = Health(nvml, {device.uuid: device.board for device in self._devices.values()})

    @classmethod
    def open(cls) -> Gpus | None:
        """Open the driver's library; None without an NVIDIA driver."""
        nvml = Nvml.load()
        return None if nvml is None else cls(nvml)

    def capabilities(self) -> list[GpuCapability]:
        """The properties of each GPU, in the driver's order. A partitioned board is listed by its instances."""
        return [describe(self._nvml, device) for device in self._devices.values()]

    def watch(self, uuid: str, *, among_others: bool = False) -> DeviceWatch:
        """A context manager that samples the device; see `DeviceWatch`. Raises UnknownGpu."""
        device = self._device(uuid)
        with self._guard:
            sampler = self._samplers.get(uuid)
            if sampler is None:
                sampler = Sampler(self._nvml, device.board, device.handle, device.gpu_instance, self._clock_us)
                self._samplers[uuid] = sampler
        return DeviceWatch(sampler, among_others=among_others)

    def trouble(self, uuid: str) -> str:
        """The errors of the device since it was opened, in words for an operator, or "". Raises UnknownGpu."""
        device = self._device(uuid)
        return self._health.trouble(uuid, device.gpu_instance)

    def process_ids(self, uuid: str) -> list[int]:
        """Ids of the processes that have a compute context on the device, by the driver's list, residents left out.

        Raises UnknownGpu.
        """
        running = self._nvml.ask("nvmlDeviceGetComputeRunningProcesses", self._device(uuid).handle)
        there = [int(process.pid) for process in running or ()]
        residents = self.residents.ids() if there else frozenset()
        return [process for process in there if process not in residents]

    def idle(self, uuid: str, timeout_seconds: float) -> bool:
        """Wait until no compute process is left. Returns False if one outlasts the wait. Raises UnknownGpu."""
        deadline = time.monotonic() + timeout_seconds
        while self.process_ids(uuid):
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def close(self) -> None:
        for sampler in self._samplers.values():
            sampler.close()
        self._health.close()
        self._nvml.close()

    def _device(self, uuid: str) -> Device:
        try:
            return self._devices[uuid]
        except KeyError:
            raise UnknownGpu(f"no GPU {uuid!r} on this machine; there are {sorted(self._devices)}") from None


def find_devices(nvml: Nvml) -> list[Device]:
    """Every GPU that can run work: whole boards, and the instances of partitioned ones."""
    found = []
    for board in nvml.boards():
        instances = list(nvml.instances(board))
        for handle in instances or [board]:
            uuid = nvml.ask("nvmlDeviceGetUUID", handle)
            if uuid is not None:
                found.append(Device(uuid, handle, board, *(_instance_numbers(nvml, handle) if instances else ())))
    return found


def _instance_numbers(nvml: Nvml, handle: Any) -> tuple[int | None, int | None]:
    return nvml.ask("nvmlDeviceGetGpuInstanceId", handle), nvml.ask("nvmlDeviceGetComputeInstanceId", handle)


def describe(nvml: Nvml, device: Device) -> GpuCapability:
    api = nvml.api
    capability = nvml.ask("nvmlDeviceGetCudaComputeCapability", device.board)
    memory = nvml.ask("nvmlDeviceGetMemoryInfo", device.handle)
    pci = nvml.ask("nvmlDeviceGetPciInfo", device.board)
    ecc = nvml.ask("nvmlDeviceGetEccMode", device.board)
    return GpuCapability(
        uuid=device.uuid,
        name=nvml.ask("nvmlDeviceGetName", device.handle) or nvml.ask("nvmlDeviceGetName", device.board) or "",
        compute_capability="{}.{}".format(*capability) if capability else "",
        memory_bytes=int(memory.total) if memory is not None else 0,
        driver=nvml.ask("nvmlSystemGetDriverVersion") or "",
        pci_bus_id=str(pci.busId) if pci is not None else "",
        sm_clock_mhz=nvml.number("nvmlDeviceGetMaxClockInfo", device.board, api.NVML_CLOCK_SM),
        memory_clock_mhz=nvml.number("nvmlDeviceGetMaxClockInfo", device.board, api.NVML_CLOCK_MEM),
        power_limit_w=nvml.number("nvmlDeviceGetEnforcedPowerLimit", device.board, scale=1e-3),
        ecc=bool(ecc[0]) if ecc is not None else None,
        profiling_admin_only=profiling_admin_only(),
    )


def profiling_admin_only(parameters: Path = DRIVER_PARAMETERS) -> bool | None:
    """Whether the driver reserves the hardware counters for root; None if the driver does not report it."""
    try:
        match = re.search(r"^RmProfilingAdminOnly:\s*(\d+)", parameters.read_text(), re.MULTILINE)
    except OSError:
        return None
    return match[1] != "0" if match else None
