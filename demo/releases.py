"""Reads what the demo grades on this machine: each release's problems and entrants."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from demo.entrants import DemoEntrant, load_entrants
from podium.functions.manifests import ManifestMaker
from problems.formats.compute_eval.packs import ProblemPack
from problems.formats.functions.pack import read_function_directory
from runners.agent.sandbox import Sandbox

COMMANDS, FUNCTIONS = Path("examples/demo"), Path("examples/functions-cpu")


@dataclass(frozen=True)
class DemoRelease:
    """A release as it is imported, and the entrants that are submitted to it."""

    pack: ProblemPack
    entrants: Sequence[DemoEntrant]


def load_releases(sandbox: Sandbox) -> list[DemoRelease]:
    """The command problems, and the function problems where `sandbox` can run them. Raises PackRefused."""
    folders = [COMMANDS] if why_without_functions(sandbox) else [COMMANDS, FUNCTIONS]
    return [_load(folder, sandbox) for folder in folders]


def why_without_functions(sandbox: Sandbox) -> str:
    """The reason why the demo leaves the function problems out; empty if it does not."""
    if sandbox.name != "unconfined":
        return ""
    return (
        f"The release {FUNCTIONS} is left out: a function problem needs a sandbox that keeps the solution apart from"
        " its checker. SANDBOX=unconfined does not; use bubblewrap or docker."
    )


def _load(folder: Path, sandbox: Sandbox) -> DemoRelease:
    """Manifests of function problems are made in the sandbox, from definitions that are not run outside it."""
    return DemoRelease(read_function_directory(folder, ManifestMaker(sandbox)), load_entrants(folder / "entrants"))
