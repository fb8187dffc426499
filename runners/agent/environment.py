"""What a machine offers the pipeline: sandbox, workspaces, slots, caches, and what is known about it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runners.agent import toolchain
from runners.agent.build_cache import BuildCache
from runners.agent.durations import Durations
from runners.agent.gpu.devices import Gpus
from runners.agent.object_cache import ObjectCaches
from runners.agent.remembered import Remembered
from runners.agent.sandbox.policy import Sandbox, SandboxFault
from runners.agent.slots import Lanes
from runners.agent.workspace import Workspaces
from runners.protocol import Capabilities, Peaks


def unmeasured(_uuid: str) -> Peaks:
    return Peaks()


@dataclass(frozen=True)
class NodeEnvironment:
    """Shared by all threads of one process; `close` it at the end."""

    name: str
    sandbox: Sandbox
    workspaces: Workspaces
    lanes: Lanes
    builds: BuildCache
    remembered: Remembered
    capabilities: Capabilities
    tools: str = field(default_factory=toolchain.identity)
    architecture: str = field(default_factory=toolchain.architecture)
    objects: ObjectCaches | None = None
    gpus: Gpus | None = None
    """The NVIDIA devices, where there are any."""
    gate_library: Path | None = None
    """Lets tests wait for their device by themselves; without it they hold it from their start."""
    peaks: Callable[[str], Peaks] = unmeasured
    """A device's ceilings by its UUID; empty where they were not measured."""

    @classmethod
    def open(
        cls,
        name: str,
        var_dir: Path,
        sandbox: Sandbox,
        lanes: Lanes,
        capabilities: Capabilities,
        gpus: Gpus | None = None,
        peaks: Callable[[str], Peaks] = unmeasured,
        gate_library: Path | None = None,
    ) -> "NodeEnvironment":
        """All that is kept lies under `var_dir`; leftovers of processes that died there are swept."""
        workspaces = Workspaces(var_dir / "work")
        # Without a sandbox every build could write what others read, and no two see their sources at the same place.
        objects = None if sandbox.name == "unconfined" else ObjectCaches(var_dir / "objects")
        lanes.durations.keep_in(var_dir / "durations.json")
        return cls(
            name,
            sandbox,
            workspaces,
            lanes,
            BuildCache(var_dir / "builds"),
            Remembered(var_dir / "remembered"),
            capabilities,
            objects=objects,
            gpus=gpus,
            gate_library=gate_library,
            peaks=peaks,
        )

    @property
    def durations(self) -> Durations:
        """How long builds and runs took here."""
        return self.lanes.durations

    def image_for(self, wanted: str) -> str:
        """The image that commands run in, by digest or id: docker's own where none is wanted, "" without docker.

        Raises SandboxFault where an image is wanted and the sandbox has none.
        """
        own: str | None = getattr(self.sandbox, "image", None)
        if wanted and own is None:
            raise SandboxFault(f"the work asks for image {wanted}, but this node's sandbox is {self.sandbox.name}")
        return wanted or own or ""

    def identity(self, device: str) -> dict[str, Any]:
        """All that is known of this machine that a run's outcome or time may depend on, as JSON; `device` is a UUID."""
        own = [gpu.model_dump(mode="json") for gpu in self.capabilities.gpus if gpu.uuid == device]
        known = self.capabilities.model_dump(mode="json", exclude={"gpus", "memory_limit_why"})
        return {
            "node": self.name,
            "sandbox": self.sandbox.name,
            "tools": self.tools,
            "architecture": self.architecture,
            "capabilities": {**known, "gpus": own},
            "device": device,
            "watched": self.gpus is not None,
            "gate": str(self.gate_library or ""),
        }

    def close(self) -> None:
        self.durations.write()
        self.sandbox.close()
        self.workspaces.close()
