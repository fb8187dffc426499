"""Looks after this machine's GPUs while `podium evaluate` uses them: cleaned between packs, their peaks known."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from runners.agent import capabilities
from runners.agent.environment import unmeasured
from runners.agent.errors import SiteUnavailable
from runners.agent.gpu.devices import Gpus
from runners.agent.gpu.keeper import Keeper, Unwatched
from runners.agent.gpu.ledger import Ledger
from runners.agent.gpu.tool import GpuTool
from runners.agent.native import default_cache_directory
from runners.agent.slots import Lanes
from runners.protocol import GpuCapability, NodeHealth, NodeHealthReply, Peaks


@dataclass(frozen=True)
class Devices:
    """All of them as they were at the opening; without a GPU there is nothing to clean and no peak."""

    found: list[GpuCapability]
    gpus: Gpus | None = None
    keeper: Keeper | None = None

    @classmethod
    def open(cls, folder: Path) -> "Devices":
        """Raises ToolUnavailable: without its program nothing would be cleaned."""
        gpus = Gpus.open()
        found = capabilities.gpus_by_nvidia_smi() if gpus is None else gpus.capabilities()
        if found:
            tool = GpuTool.build(default_cache_directory())
            return cls(found, gpus, Keeper(gpus or Unwatched(), found, tool, Ledger(folder / "gpus"), _nobody_to_tell))
        if gpus:
            gpus.close()
        return cls([])

    @property
    def uuids(self) -> tuple[str, ...]:
        return tuple(gpu.uuid for gpu in self.found)

    @property
    def peaks(self) -> Callable[[str], Peaks]:
        return self.keeper.peaks_of if self.keeper else unmeasured

    def clean_ahead(self) -> "CleanedAhead | None":
        """Begins at once."""
        return CleanedAhead(self.keeper, self.uuids) if self.keeper else None

    def measure_peaks(self, lanes: Lanes, cleaned: "CleanedAhead | None") -> None:
        """In some seconds, before anything else runs on them."""
        if self.keeper and cleaned:
            cleaned.wait()
            self.keeper.begin(lanes)


class Cleaner(Protocol):
    """See `Keeper`."""

    def clean(self, uuid: str) -> None: ...

    def expect_nobody(self, uuid: str) -> None: ...


class CleanedAhead:
    """Cleans devices between packs, and for the first one while what it needs besides is made ready."""

    def __init__(self, cleaner: Cleaner, uuids: Sequence[str]) -> None:
        self._cleaner = cleaner
        pool = ThreadPoolExecutor(len(uuids), thread_name_prefix="clean")
        self._ahead: dict[str, Future[None]] = {uuid: pool.submit(cleaner.clean, uuid) for uuid in uuids}
        pool.shutdown(wait=False)

    def __call__(self, uuid: str) -> None:
        """Raises SandboxFault."""
        ahead = self._ahead.pop(uuid, None)
        if ahead is None:
            return self._cleaner.clean(uuid)
        ahead.result()
        return self._cleaner.expect_nobody(uuid)  # that may have come meanwhile

    def wait(self) -> None:
        """Until what was begun ahead has ended, however it did."""
        wait_for(self._ahead.values())


def _nobody_to_tell(_: NodeHealth) -> NodeHealthReply:
    raise SiteUnavailable("`podium evaluate` has no site")
