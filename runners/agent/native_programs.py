"""Compiles all native programs of a node side by side, before anything needs them.

The code that needs a program calls that program's own `find_or_build`, which then finds it in the cache or raises the
reason why it could not be built.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from runners.agent.devices import porter
from runners.agent.devices.tool import PROGRAM as GPU_TOOL
from runners.agent.devices.tool import GpuTool, ToolUnavailable
from runners.agent.ground.errors import ProfilerUnavailable, SandboxFault, SandboxUnavailable
from runners.agent.ground.native import default_cache_directory
from runners.agent.judges.function import checkers
from runners.agent.profilers import cupti_library
from runners.agent.sandbox import supervisor

UNAVAILABLE = (SandboxUnavailable, SandboxFault, ToolUnavailable, ProfilerUnavailable)


@dataclass(frozen=True)
class Program:
    """One of the programs; `find_or_build` may raise any of UNAVAILABLE."""

    name: str
    find_or_build: Callable[[], Path]
    for_gpus: bool
    """Whether it needs an NVIDIA driver."""


@dataclass(frozen=True)
class Made:
    """The result for one program."""

    name: str
    path: Path | None
    """Its path; None if it could not be built."""
    complaint: str
    """The reason and the remedy if it could not be built."""
    was_there: bool
    is_needed: bool
    """Whether this machine can use it."""
    seconds: float

    @property
    def words(self) -> str:
        """A line for the operator. The compiler's errors may follow on further lines."""
        if self.path is None:
            needed = "" if self.is_needed else " (this machine has no NVIDIA driver and does without)"
            return f"{self.name}: not made{needed}: {self.complaint}"
        return f"{self.name}: {'was there' if self.was_there else f'made in {self.seconds:.1f} s'}: {self.path}"


PROGRAMS = (
    Program(supervisor.PROGRAM, lambda: supervisor.build(default_cache_directory()), for_gpus=False),
    Program(checkers.LIBRARY, lambda: checkers.build(default_cache_directory()), for_gpus=False),
    Program(cupti_library.LIBRARY, lambda: cupti_library.find_or_build().path, for_gpus=True),
    Program(GPU_TOOL, lambda: GpuTool.build(default_cache_directory()).program, for_gpus=True),
    Program("podium-porter", porter.program, for_gpus=True),
)


def make_all() -> list[Made]:
    """Build all missing programs, also those that this machine cannot use: an image is built for other machines."""
    return _make(PROGRAMS)


def make_needed() -> list[Made]:
    """Build the missing programs that this machine can use.

    Call this before a sandbox is chosen: control groups cannot be set up while compilers start and end in them.
    """
    return _make([program for program in PROGRAMS if _is_needed(program)])


def _make(programs: Sequence[Program]) -> list[Made]:
    there = _folders()
    with ThreadPoolExecutor(len(programs), thread_name_prefix="make") as pool:
        return list(pool.map(partial(_made, there=there), programs))


def _made(program: Program, there: frozenset[Path]) -> Made:
    begun = time.monotonic()
    path, complaint = None, ""
    try:
        path = program.find_or_build()
    except UNAVAILABLE as error:
        complaint = str(error)
    is_new = path is not None and path.parent.parent == default_cache_directory() and path.parent not in there
    seconds = time.monotonic() - begun
    return Made(program.name, path, complaint, path is not None and not is_new, _is_needed(program), seconds)


def _is_needed(program: Program) -> bool:
    return not program.for_gpus or cupti_library.driver_is_present()


def _folders() -> frozenset[Path]:
    """The folders of earlier builds; empty if the cache does not exist."""
    try:
        return frozenset(default_cache_directory().iterdir())
    except OSError:
        return frozenset()
