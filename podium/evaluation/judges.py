"""A node's judges on this machine, for commands that judge without a site."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from podium.evaluation.devices import LocalGpus
from runners.agent import capabilities
from runners.agent.assembly import assemble
from runners.agent.ground.native import default_cache_directory
from runners.agent.job.toolchain import cores
from runners.agent.judges.registry import Judges
from runners.agent.sandbox import choose

FEW_WORKERS = 4
WORKERS_OF_A_GPU = 10
"""Number of samples at a time per GPU. With more, they delay each other in the driver by more than they gain."""


@contextmanager
def local_judges(sandbox_name: str | None, workers: int | None, *, bounded: bool) -> Iterator[Judges]:
    """The judges. `bounded` measures the GPUs' peaks, for problems that declare their work; this takes seconds.

    Raises SandboxUnavailable, ToolUnavailable, UnknownGpu.
    """
    folder = var_dir() / "evaluate"
    sandbox = choose(sandbox_name)
    gpus = LocalGpus.open(folder)
    clean = gpus.clean_ahead()
    found = capabilities.find_out(sandbox, gpus.found)
    run_slots = workers or default_workers(len(gpus.found))
    judges = assemble(
        "", folder, sandbox, found, gpus.gpus, gpus.keeper, build_slots=cores(), run_slots=run_slots, clean=clean
    )
    if bounded:
        gpus.measure_peaks(judges.environment.lanes, clean)
    try:
        yield judges
    finally:
        judges.environment.close()


def default_workers(n_gpus: int) -> int:
    """More workers with GPUs, because most of them wait for a GPU or for the driver's start."""
    return max(FEW_WORKERS, min(2 * cores(), n_gpus * WORKERS_OF_A_GPU))


def var_dir() -> Path:
    """Folder of workspaces and builds: PODIUM_VAR_DIR, else the user's cache."""
    named = os.environ.get("PODIUM_VAR_DIR")
    return Path(named).resolve() if named else default_cache_directory()
