"""Assembles the parts of a node on this machine, for both `podium node` and `podium evaluate`."""

from collections.abc import Callable, Sequence
from pathlib import Path

from runners.agent.devices.gpus import Gpus
from runners.agent.devices.keeper import Keeper, Unwatched
from runners.agent.devices.lanes import Lanes
from runners.agent.devices.ledger import Ledger
from runners.agent.devices.tool import GpuTool
from runners.agent.ground.errors import SandboxUnavailable
from runners.agent.ground.native import default_cache_directory
from runners.agent.job.build_cache import BuildsElsewhere
from runners.agent.job.environment import NodeEnvironment, unmeasured
from runners.agent.judges.registry import Judges
from runners.agent.profilers.cupti import gate_library
from runners.agent.sandbox import Sandbox
from runners.wire.health import NodeHealth, NodeHealthReply
from runners.wire.protocol import Capabilities, GpuCapability


def keeper_of(
    found: Sequence[GpuCapability], gpus: Gpus | None, folder: Path, tell: Callable[[NodeHealth], NodeHealthReply]
) -> Keeper | None:
    """The keeper of this machine's GPUs, if there are any. It stores its history in `folder`.

    Raises ToolUnavailable, because without podium-gpu no device would be scrubbed.
    """
    if not found:
        return None
    tool = GpuTool.build(default_cache_directory())
    return Keeper(gpus or Unwatched(), list(found), tool, Ledger(folder / "gpus"), tell)


def assemble(
    name: str,
    folder: Path,
    sandbox: Sandbox,
    found: Capabilities,
    gpus: Gpus | None,
    keeper: Keeper | None,
    *,
    build_slots: int,
    run_slots: int,
    clean: Callable[[str], None] | None = None,
    elsewhere: BuildsElsewhere | None = None,
) -> Judges:
    """The judges of a node on the GPUs of `found`, with all files under `folder`. The caller closes their environment.

    `clean` cleans a GPU between tenants; without it the keeper does. Raises SandboxUnavailable.
    """
    uuids = tuple(gpu.uuid for gpu in found.gpus)
    if words := sandbox.why_no_gpus(uuids):
        raise SandboxUnavailable(words)
    lanes = Lanes(build_slots, run_slots, uuids, clean or (keeper.clean if keeper else None))
    peaks = keeper.peaks_of if keeper else unmeasured
    gate = gate_library() if uuids else None
    return Judges(NodeEnvironment.open(name, folder, sandbox, lanes, found, gpus, peaks, gate, elsewhere))
