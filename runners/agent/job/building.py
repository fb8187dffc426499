"""Builds a solution in its own sandbox and a fresh workspace, or takes the build from the cache."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from runners.agent.devices.lanes import Seat
from runners.agent.ground.events import BuildPrinted, Progress
from runners.agent.job import artefact
from runners.agent.job.artefact import EMPTY, ProductTooLarge
from runners.agent.job.build_cache import Build, build_key
from runners.agent.job.environment import SOLUTION_FILES, NodeEnvironment, limits_for, run, told
from runners.agent.job.job import Author, Job
from runners.agent.job.toolchain import cores
from runners.agent.sandbox.policy import PATIENCE, Command, Limits, Mount, Outcome
from runners.wire.protocol import MAX_BLOB_BYTES

OBJECT_CACHE = "PODIUM_OBJECT_CACHE"
"""Variable that gives the nvcc shim the path of ccache's folder; see sandbox/native/object_cache.h."""
BUILD_JOBS = "PODIUM_NVCC_JOBS"
"""Variable that gives the nvcc shim the number of sources to compile at a time: one for each core of the build."""
FEWEST_CORES = 2
"""Minimum number of cores of a build, even if the node has one slot per core: nvcc runs gcc beside itself."""
HOST_HEAP = "PODIUM_NVCC_HOST_HEAP_KIB"
"""Variable that gives the nvcc shim the memory that gcc may fill before it collects; see
sandbox/native/nvcc_host.h."""
MOST_HOST_HEAP_BYTES = 2 << 30
HOST_HEAP_SHARE = 1 / 4
"""Share of a build's memory limit that HOST_HEAP may use."""
_ECHO = re.compile(r"""\s*echo\s+(?:"([^-"$`\\][^"$`\\]*)"|'([^-'][^']*)')\s*""")
"""A quoted text that no shell changes; one with a dash at its start may be an option."""
BUILD_NICENESS = 12
"""Builds fill all cores. A higher niceness lets commands that hold a GPU have a core first."""


@dataclass(frozen=True)
class BuildOrder:
    """A build: its command, its files and its settings."""

    job: Job
    author: Author
    shell: str
    inputs: Mapping[str, bytes]
    """All files by path."""
    solution_paths: tuple[str, ...]
    """Paths of the author's own files among them."""
    seconds: float
    """Limit on its wall time, and with the cores of a build on its processor time."""


def build(environment: NodeEnvironment, order: BuildOrder, progress: Progress) -> Build:
    """Build the solution, or return the cached build. A rerun builds again what failed before.

    Raises Cancelled, SandboxFault, UnusableProblem.
    """
    shell, given = order.shell, order.job.build_policy.environment
    key = build_key(_toolchain(environment, order), shell, given, order.inputs, environment.architecture)
    if (words := printed_by(shell)) is not None:
        progress.tell(BuildPrinted(words.encode()))
        return Build(key=key, exit_code=0, stdout=words)
    bounds = f"{order.seconds} {order.job.rules.limits.model_dump_json()}"
    with environment.builds.building(key, progress.cancelled):
        kept = environment.builds.get(key, bounds)
        if kept is not None and (kept.succeeded or not order.job.rules.purpose.is_fresh):
            return kept
        made = _once_in_the_fleet(environment, order, progress, key, bounds)
        environment.builds.put(made)
        return made


def _once_in_the_fleet(
    environment: NodeEnvironment, order: BuildOrder, progress: Progress, key: str, bounds: str
) -> Build:
    """Another node's build of the problem's own code, or one made here. A solution is always built here."""
    elsewhere = environment.elsewhere if order.author.is_trusted else None
    if elsewhere is None:
        return _make(environment, order, progress, key, bounds)
    found = elsewhere.find(key, progress.cancelled, order.seconds)
    if found is not None:
        return found
    made: Build | None = None
    try:
        made = _make(environment, order, progress, key, bounds)
        return made
    finally:
        elsewhere.settle(key, made)


def printed_by(shell: str) -> str | None:
    """The output of a command that only prints a text, as problems without a build have it. None for another command.

    Such a command needs no sandbox, because nothing of it runs.
    """
    match = _ECHO.fullmatch(shell)
    return f"{match[1] or match[2]}\n" if match else None


def cores_of_a_build(environment: NodeEnvironment) -> int:
    """The number of cores that a build may use: its share of the machine's cores."""
    return max(FEWEST_CORES, cores() // environment.lanes.build_slots)


def build_limits(environment: NodeEnvironment, order: BuildOrder) -> Limits:
    """A build times out if both its wall time and its processor time pass their limits, or at PATIENCE times the wall
    limit. Load by other jobs therefore does not fail an honest build."""
    limits = limits_for(order.job.rules.limits, order.seconds)
    return replace(limits, processor_seconds=cores_of_a_build(environment) * order.seconds)


def why_out_of_time(environment: NodeEnvironment, order: BuildOrder, built: Build) -> str:
    """The limit that the build reached, in words for the contestant."""
    limits = build_limits(environment, order)
    if built.wall_ms >= limits.longest_seconds * 1e3:
        return f"within {limits.longest_seconds:g} seconds, {PATIENCE} times its limit"
    return f"within {limits.wall_seconds:g} seconds and {limits.processor_seconds:g} seconds of processor time"


def _toolchain(environment: NodeEnvironment, order: BuildOrder) -> str:
    return f"image {order.job.image}" if order.job.image else environment.tools


def _make(environment: NodeEnvironment, order: BuildOrder, progress: Progress, key: str, bounds: str) -> Build:
    with environment.lanes.build(progress.cancelled) as seat, environment.workspaces.open(order.inputs) as workspace:
        with told(progress, "build", order.job.problem.task_id, is_reference=order.author.is_trusted):
            outcome = run(environment, _build_command(environment, order, progress, seat, workspace))
        try:
            limit_bytes = min(MAX_BLOB_BYTES, order.job.rules.limits.workspace_bytes)
            product = artefact.collect(workspace, order.inputs, limit_bytes) if outcome.succeeded else EMPTY
        except ProductTooLarge as error:
            return _build_of(outcome, key, bounds, EMPTY, complaint=str(error))
        if outcome.succeeded:
            environment.space.check()  # a build may end well although a file could not be written
    return _build_of(outcome, key, bounds, product)


def _build_command(
    environment: NodeEnvironment, order: BuildOrder, progress: Progress, seat: Seat, workspace: Path
) -> Command:
    objects = _objects(environment, order)
    return Command(
        shell=order.shell,
        workspace=workspace,
        limits=build_limits(environment, order),
        environment={
            **order.job.build_policy.environment,
            SOLUTION_FILES: ":".join(order.solution_paths),
            BUILD_JOBS: str(cores_of_a_build(environment)),
            **_host_heap(order),
            **({OBJECT_CACHE: objects.target} if objects else {}),
        },
        mounts=(objects,) if objects else (),
        image=order.job.image,
        niceness=BUILD_NICENESS if environment.gpus else 0,
        slot=seat.slot,
        cancelled=progress.cancelled,
        on_output=lambda chunk: progress.tell(BuildPrinted(chunk)),
    )


def _objects(environment: NodeEnvironment, order: BuildOrder) -> Mount | None:
    """The mount of the problem's object cache; None if this node or this problem has none."""
    if environment.objects is None:
        return None
    toolchain, arch = _toolchain(environment, order), order.job.build_policy.arch
    return environment.objects.mount(order.job.problem_sha256, arch, toolchain, trusted=order.author.is_trusted)


def _host_heap(order: BuildOrder) -> dict[str, str]:
    """The heap variable for gcc; empty if the build must run as its author wrote it. It does not change the product."""
    if not order.job.build_policy.arch:
        return {}
    n_bytes = min(MOST_HOST_HEAP_BYTES, round(HOST_HEAP_SHARE * order.job.rules.limits.memory_bytes))
    return {HOST_HEAP: str(n_bytes >> 10)}


def _build_of(outcome: Outcome, key: str, bounds: str, product: bytes, complaint: str = "") -> Build:
    return Build(
        key=key,
        exit_code=1 if complaint else outcome.exit_code,
        signal=outcome.signal,
        timed_out=outcome.timed_out,
        memory_exceeded=outcome.memory_exceeded,
        stdout=outcome.stdout,
        stderr=f"{outcome.stderr}\n{complaint}\n" if complaint else outcome.stderr,
        truncated=outcome.truncated,
        wall_ms=outcome.wall_ms,
        cpu_ms=outcome.cpu_ms,
        peak_memory_bytes=outcome.peak_memory_bytes,
        limits=bounds,
        product=product,
        workspace_excess=outcome.workspace_excess,
    )
