"""All native programs of a node, made side by side before anything needs them.

Who needs one asks for it where it is described, as before, and finds it there; or learns there what is wrong with it.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from runners.agent.errors import ProfilerUnavailable
from runners.agent.gpu import porter
from runners.agent.gpu.tool import PROGRAM as GPU_TOOL
from runners.agent.gpu.tool import GpuTool, ToolUnavailable
from runners.agent.native import default_cache_directory
from runners.agent.profilers import cupti_library
from runners.agent.sandbox import supervisor
from runners.agent.sandbox.policy import SandboxFault, SandboxUnavailable

UNAVAILABLE = (SandboxUnavailable, SandboxFault, ToolUnavailable, ProfilerUnavailable)


@dataclass(frozen=True)
class Program:
    """One of the programs; `find_or_build` may raise any of UNAVAILABLE."""

    name: str
    find_or_build: Callable[[], Path]
    for_gpus: bool
    """Of no use without an NVIDIA driver."""


@dataclass(frozen=True)
class Made:
    """How it went with one program."""

    name: str
    path: Path | None
    """Where it is; None where it could not be made."""
    complaint: str
    """Why not, and how to mend it."""
    was_there: bool
    is_needed: bool
    """Whether this machine would do worse without it."""
    seconds: float

    @property
    def words(self) -> str:
        """A line for a person; what a compiler said may follow on lines of its own."""
        if self.path is None:
            needed = "" if self.is_needed else " (this machine has no NVIDIA driver and does without)"
            return f"{self.name}: not made{needed}: {self.complaint}"
        return f"{self.name}: {'was there' if self.was_there else f'made in {self.seconds:.1f} s'}: {self.path}"


PROGRAMS = (
    Program(supervisor.PROGRAM, lambda: supervisor.build(default_cache_directory()), for_gpus=False),
    Program(cupti_library.LIBRARY, lambda: cupti_library.find_or_build().path, for_gpus=True),
    Program(GPU_TOOL, lambda: GpuTool.build(default_cache_directory()).program, for_gpus=True),
    Program("podium-porter", porter.program, for_gpus=True),
)


def make_all() -> list[Made]:
    """Make what is not there yet, whether this machine can use it or not: an image is made to be used elsewhere."""
    return _make(PROGRAMS)


def make_needed() -> list[Made]:
    """The same of those that this machine can use.

    To be over before a sandbox is chosen: control groups are not shared out while compilers come and go in them.
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
    """What was made before; nothing where there is no such folder."""
    try:
        return frozenset(default_cache_directory().iterdir())
    except OSError:
        return frozenset()
