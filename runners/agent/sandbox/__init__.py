"""Confines untrusted commands: one policy, three backends. `choose` selects the backend of this node."""

import os
from pathlib import Path
from types import ModuleType

from runners.agent.ground.errors import SandboxFault, SandboxUnavailable
from runners.agent.sandbox.bubblewrap import BubblewrapSandbox
from runners.agent.sandbox.bubblewrap import why_unavailable as why_no_bubblewrap
from runners.agent.sandbox.policy import Command, Limits, Mount, Outcome, Running, Sandbox
from runners.agent.sandbox.unconfined import UnconfinedSandbox

__all__ = [
    "Command",
    "Limits",
    "Mount",
    "Outcome",
    "Running",
    "Sandbox",
    "SandboxFault",
    "SandboxUnavailable",
    "choose",
]

BACKENDS = ("docker", "bubblewrap", "unconfined")


def choose(name: str | None = None, *, cache_dir: Path | None = None) -> Sandbox:
    """The named backend; without a name PODIUM_SANDBOX, else docker, else bubblewrap.

    Raises SandboxUnavailable with the remedy. `unconfined` is chosen only by name.
    """
    named = name or os.environ.get("PODIUM_SANDBOX") or ""
    if named:
        return open_backend(named, cache_dir)
    without_docker = _docker().why_unavailable()
    if not without_docker:
        return open_backend("docker", cache_dir)
    without_bubblewrap = why_no_bubblewrap()
    if without_bubblewrap:
        raise SandboxUnavailable(f"{without_docker}\n{without_bubblewrap}")
    return BubblewrapSandbox(cache_dir)


def open_backend(name: str, cache_dir: Path | None) -> Sandbox:
    if name == "docker":
        sandbox: Sandbox = _docker().DockerSandbox(cache_dir)
        return sandbox
    if name == "bubblewrap":
        return BubblewrapSandbox(cache_dir)
    if name == "unconfined":
        return UnconfinedSandbox(cache_dir)
    raise SandboxUnavailable(f"PODIUM_SANDBOX names {name!r}; choose one of {', '.join(BACKENDS)}")


def _docker() -> ModuleType:
    """Import the Docker backend only if it is needed. Its SDK would lengthen every other start by a sixth."""
    from runners.agent.sandbox import docker

    return docker
