"""Looks after this machine's GPUs while `podium evaluate` uses them: cleaned between packs, their peaks known."""

from collections.abc import Sequence
from pathlib import Path

from runners.agent.errors import SiteUnavailable
from runners.agent.gpu.devices import Gpus
from runners.agent.gpu.keeper import Keeper, Unwatched
from runners.agent.gpu.ledger import Ledger
from runners.agent.gpu.tool import GpuTool
from runners.agent.native import default_cache_directory
from runners.protocol import GpuCapability, NodeHealth, NodeHealthReply


def keeper_of(found: Sequence[GpuCapability], gpus: Gpus | None, folder: Path) -> Keeper | None:
    """None without a GPU. Raises ToolUnavailable: without its program nothing would be cleaned."""
    if not found:
        return None
    tool = GpuTool.build(default_cache_directory())
    return Keeper(gpus or Unwatched(), found, tool, Ledger(folder / "gpus"), _nobody_to_tell)


def _nobody_to_tell(_: NodeHealth) -> NodeHealthReply:
    raise SiteUnavailable("`podium evaluate` has no site")
