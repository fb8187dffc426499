"""Builds a solution, in a sandbox of its own and a fresh workspace, or finds it built."""

from contextlib import AbstractContextManager
from pathlib import Path

from runners.agent import artefact
from runners.agent.artefact import EMPTY, ProductTooLarge
from runners.agent.build_cache import Build, build_key
from runners.agent.durations import Guess, Kinds
from runners.agent.environment import NodeEnvironment
from runners.agent.errors import Cancelled
from runners.agent.headers import heavy_headers, usual_seconds
from runners.agent.sandbox.policy import Command, Limits, Outcome
from runners.agent.slots import Seat
from runners.agent.task import Subject, Watcher
from runners.agent.toolchain import cores
from runners.protocol import MAX_BLOB_BYTES, ResourceLimits

SOLUTION_FILES = "PODIUM_SOLUTION_FILES"
"""Tells the Python launcher and the nvcc shim which files are the contestant's, separated by colons."""
OBJECT_CACHE = "PODIUM_OBJECT_CACHE"
"""Tells the nvcc shim where ccache's folder stands; see sandbox/native/object_cache.h."""
BUILD_JOBS = "PODIUM_NVCC_JOBS"
"""Tells the nvcc shim how many sources it may compile at a time: one where other builds keep the cores busy."""
HOST_HEAP = "PODIUM_NVCC_HOST_HEAP_KIB"
"""Tells the nvcc shim how much memory gcc may fill before it frees any; see sandbox/native/nvcc_host.h."""
MOST_HOST_HEAP_BYTES = 2 << 30
HOST_HEAP_SHARE = 1 / 4
"""Of a build's memory limit."""


AGAIN = b"\n[out of time beside many other builds: once more, beside few]\n"
"""Shown while it is built, between what the two builds print; the result tells of the second one alone."""
BUILD_NICENESS = 12
"""Builds fill all cores of a node with GPUs, and what holds or waits for a GPU shall not wait for a core as well."""
LONG_BUILD_NICENESS = 7
"""Of builds that take long beside the others: five steps are three times the share of a core.

At one niceness for all, a build of 20 s of processor time took 36 s beside light ones, and what runs after it began
late. Runs, at 0, have five times the share of these still.
"""

KINDS_BY_INCLUDES = 3
"""So many of `build_kinds`, the first ones, tell builds apart by what they include."""


def build_seconds(subject: Subject) -> float:
    return subject.limits.build_seconds or subject.problem.effective_build_timeout_seconds


def build(environment: NodeEnvironment, subject: Subject, watcher: Watcher) -> Build:
    """Build, or find it built. Needs a build command. Raises Cancelled, SandboxFault, UnusableProblem."""
    shell = subject.problem.build_command
    assert shell
    told = subject.build_policy.environment
    key = build_key(_toolchain(environment, subject), shell, told, subject.inputs, environment.architecture)
    bounds = f"{build_seconds(subject)} {subject.limits.model_dump_json()}"
    with environment.builds.building(key, watcher.cancelled):
        kept = environment.builds.get(key, bounds)
        if kept is not None:
            return kept
        made = _make(environment, subject, watcher, key, bounds)
        environment.builds.put(made)
        return made


def build_guess(subject: Subject) -> Guess:
    """What a build is thought to take before any with its includes has ended."""
    return Guess(usual_seconds(heavy_headers(subject.inputs)), KINDS_BY_INCLUDES)


def build_kinds(subject: Subject) -> Kinds:
    """By what a build's time may be foretold, the best first; what it includes tells most, but for the problem itself.

    The problem alone comes late: one solution to it may include what takes a minute, and the next one may not.
    """
    problem, heavy = subject.problem, heavy_headers(subject.inputs)
    group = (problem.type, problem.group)
    words = (problem.build_command or "").split()
    options = tuple(word for word in words if word.startswith("-") or not {".", "/"} & set(word))
    return (
        (subject.problem_sha256, heavy),
        (*group, options, heavy),
        (problem.type, heavy),
        subject.problem_sha256,
        (*group, options),
        group,
    )


def _toolchain(environment: NodeEnvironment, subject: Subject) -> str:
    return f"image {subject.image}" if subject.image else environment.tools


def _make(environment: NodeEnvironment, subject: Subject, watcher: Watcher, key: str, bounds: str) -> Build:
    """A build that runs out of time in a crowd says nothing about its solution: it is made again among few, once."""
    lanes, kinds = environment.lanes, build_kinds(subject)
    lane = lanes.build(kinds, build_guess(subject), watcher.cancelled)
    made, crowded = _made(environment, subject, watcher, lane, key, bounds)
    if not (made.timed_out and crowded):
        return made
    watcher.output(AGAIN)
    made, _ = _made(environment, subject, watcher, lanes.quiet_build(kinds, watcher.cancelled), key, bounds)
    return made


def _made(
    environment: NodeEnvironment,
    subject: Subject,
    watcher: Watcher,
    lane: AbstractContextManager[Seat],
    key: str,
    bounds: str,
) -> tuple[Build, bool]:
    """The build, and whether it was made in a crowd."""
    with lane as seat, environment.workspaces.open(subject.inputs) as workspace:
        outcome = uncancelled(environment, _build_command(environment, subject, watcher, seat, workspace))
        try:
            limit_bytes = min(MAX_BLOB_BYTES, subject.limits.workspace_bytes)
            product = artefact.collect(workspace, subject.inputs, limit_bytes) if outcome.succeeded else EMPTY
        except ProductTooLarge as error:
            return _build_of(outcome, key, bounds, EMPTY, complaint=str(error)), seat.crowded
    return _build_of(outcome, key, bounds, product), seat.crowded


def _build_command(
    environment: NodeEnvironment, subject: Subject, watcher: Watcher, seat: Seat, workspace: Path
) -> Command:
    objects = environment.objects.mount(subject, _toolchain(environment, subject)) if environment.objects else None
    return Command(
        shell=subject.problem.build_command or "",
        workspace=workspace,
        limits=limits_for(subject.limits, build_seconds(subject)),
        environment={
            **subject.build_policy.environment,
            SOLUTION_FILES: paths(subject),
            BUILD_JOBS: str(1 if seat.crowded else max(2, cores() // environment.lanes.build_slots)),
            **_host_heap(subject),
            **({OBJECT_CACHE: objects.target} if objects else {}),
        },
        mounts=(objects,) if objects else (),
        image=subject.image,
        niceness=_niceness(environment, seat),
        slot=seat.slot,
        cancelled=watcher.cancelled,
        on_output=watcher.output,
    )


def _niceness(environment: NodeEnvironment, seat: Seat) -> int:
    if not environment.gpus:
        return 0
    return LONG_BUILD_NICENESS if seat.is_long else BUILD_NICENESS


def _host_heap(subject: Subject) -> dict[str, str]:
    """Nothing for a build that is left as it was written. The product does not depend on it."""
    if not subject.build_policy.arch:
        return {}
    n_bytes = min(MOST_HOST_HEAP_BYTES, round(HOST_HEAP_SHARE * subject.limits.memory_bytes))
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
    )


def paths(subject: Subject) -> str:
    return ":".join(file.path for file in subject.files)


def uncancelled(environment: NodeEnvironment, command: Command) -> Outcome:
    """Run a command. Raises Cancelled where its watcher has it stopped, and SandboxFault."""
    outcome = run(environment, command)
    if outcome.cancelled:
        raise Cancelled
    return outcome


def run(environment: NodeEnvironment, command: Command) -> Outcome:
    """Run a command unless it is cancelled already. Raises Cancelled and SandboxFault."""
    if command.cancelled.is_set():
        raise Cancelled
    return environment.sandbox.run(command)


def limits_for(limits: ResourceLimits, wall_seconds: float) -> Limits:
    return Limits(
        wall_seconds=wall_seconds,
        memory_bytes=limits.memory_bytes,
        processes=limits.processes,
        file_bytes=limits.file_bytes,
        workspace_bytes=limits.workspace_bytes,
        output_bytes=limits.output_bytes,
    )
