"""What a machine offers the pipeline: sandbox, workspaces, slots, build cache, and what is known about it."""

from dataclasses import dataclass, field
from pathlib import Path

from runners.agent import toolchain
from runners.agent.build_cache import BuildCache
from runners.agent.sandbox.policy import Sandbox
from runners.agent.slots import Lanes
from runners.agent.workspace import Workspaces
from runners.protocol import Capabilities


@dataclass(frozen=True)
class NodeEnvironment:
    """Shared by all threads of one process; `close` it at the end."""

    name: str
    sandbox: Sandbox
    workspaces: Workspaces
    lanes: Lanes
    builds: BuildCache
    capabilities: Capabilities
    tools: str = field(default_factory=toolchain.identity)
    architecture: str = field(default_factory=toolchain.architecture)

    @classmethod
    def open(
        cls, name: str, var_dir: Path, sandbox: Sandbox, lanes: Lanes, capabilities: Capabilities
    ) -> "NodeEnvironment":
        """Workspaces and builds under `var_dir`; leftovers of processes that died there are swept."""
        workspaces = Workspaces(var_dir / "work")
        return cls(name, sandbox, workspaces, lanes, BuildCache(var_dir / "builds"), capabilities)

    def close(self) -> None:
        self.sandbox.close()
        self.workspaces.close()
