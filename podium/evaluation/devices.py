"""Cleans this machine's GPUs between the packs of `podium evaluate`, and measures their peaks."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from runners.agent import capabilities
from runners.agent.assembly import keeper_of
from runners.agent.devices.gpus import Gpus
from runners.agent.devices.keeper import Keeper
from runners.agent.devices.lanes import Lanes
from runners.agent.ground.errors import SiteUnavailable
from runners.wire.health import NodeHealth, NodeHealthReply
from runners.wire.protocol import GpuCapability


@dataclass(frozen=True)
class LocalGpus:
    """The GPUs that Podium may use, found at the start. Without a GPU it does nothing."""

    found: list[GpuCapability]
    gpus: Gpus | None = None
    keeper: Keeper | None = None

    @classmethod
    def open(cls, folder: Path) -> "LocalGpus":
        """Find the GPUs. Raises UnknownGpu; ToolUnavailable, because without podium-gpu no device would be scrubbed."""
        gpus = Gpus.open()
        found = capabilities.gpus_by_nvidia_smi() if gpus is None else gpus.capabilities()
        if gpus and not found:
            gpus.close()
            gpus = None
        return cls(found, gpus, keeper_of(found, gpus, folder, _nobody_to_tell))

    @property
    def uuids(self) -> tuple[str, ...]:
        return tuple(gpu.uuid for gpu in self.found)

    def clean_ahead(self) -> "CleanedAhead | None":
        """Begin to clean all GPUs in the background; None without GPUs."""
        return CleanedAhead(self.keeper, self.uuids) if self.keeper else None

    def measure_peaks(self, lanes: Lanes, cleaned: "CleanedAhead | None") -> None:
        """Measure the peaks, before anything else runs on the GPUs. Takes some seconds."""
        if self.keeper and cleaned:
            cleaned.wait()
            self.keeper.begin(lanes)


class Cleaner(Protocol):
    """The methods of `Keeper` that cleaning uses."""

    def clean(self, uuid: str) -> None: ...

    def expect_nobody(self, uuid: str) -> None: ...


class CleanedAhead:
    """Cleans devices between packs, and for the first pack in the background while other parts are prepared."""

    def __init__(self, cleaner: Cleaner, uuids: Sequence[str]) -> None:
        self._cleaner = cleaner
        pool = ThreadPoolExecutor(len(uuids), thread_name_prefix="clean")
        self._ahead: dict[str, Future[None]] = {uuid: pool.submit(cleaner.clean, uuid) for uuid in uuids}
        pool.shutdown(wait=False)

    def __call__(self, uuid: str) -> None:
        """Clean the device unless that was done ahead. Raises SandboxFault."""
        ahead = self._ahead.pop(uuid, None)
        if ahead is None:
            return self._cleaner.clean(uuid)
        ahead.result()
        return self._cleaner.expect_nobody(uuid)  # a process may have started meanwhile

    def wait(self) -> None:
        """Wait until the cleaning in the background has ended, with or without an error."""
        wait_for(self._ahead.values())


def _nobody_to_tell(_: NodeHealth) -> NodeHealthReply:
    raise SiteUnavailable("`podium evaluate` has no site")
