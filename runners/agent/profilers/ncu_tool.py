"""Finds Nsight Compute's `ncu` on this machine and the options that its version accepts."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from runners.agent.ground.errors import ProfilerUnavailable
from runners.agent.ground.homes import why_private
from runners.agent.profilers.cupti_library import DRIVER_SIGNS

STANDARD_HOME = Path("/opt/nvidia/nsight-compute")
ANSWER_SECONDS = 20.0
"""Time limit for ncu's version and help. They need no GPU and take seconds at most, from a cold disk."""
MEND = "install Nsight Compute (a part of the CUDA toolkit), or use `--profile cupti` or `--profile none`"


@dataclass(frozen=True)
class NcuTool:
    """One installation of Nsight Compute. `folder` holds all its files; `options` are those that its help lists."""

    program: Path
    folder: Path
    version: str
    options: frozenset[str]

    def accepted(self, wishes: Sequence[tuple[str, ...]]) -> list[str]:
        """The arguments that this version accepts. Each wish is an option, with its value if it has one."""
        return [word for wish in wishes if wish[0] in self.options for word in wish]


def require_ncu() -> NcuTool:
    """Find ncu on the PATH. Raises ProfilerUnavailable without ncu or without an NVIDIA driver."""
    if not any(Path(sign).exists() for sign in DRIVER_SIGNS):
        raise ProfilerUnavailable(
            "the profiler ncu cannot run here: this machine has no NVIDIA driver: install one, or use `--profile none`"
        )
    found = shutil.which("ncu")
    if found is None:
        raise ProfilerUnavailable(f"the profiler ncu cannot run here: there is no program `ncu` on the PATH: {MEND}")
    return ask(Path(found))


@cache
def ask(program: Path) -> NcuTool:
    """Read an installation's version and options from its own output. Raises ProfilerUnavailable."""
    version = re.search(r"Version (\d+\.\d+\.\d+)", _answer(program, "--version"))
    if version is None:
        raise ProfilerUnavailable(f"the profiler ncu cannot run here: `{program} --version` prints no version: {MEND}")
    real = _real(program, version[1])
    if why := why_private(real.parent):
        raise ProfilerUnavailable(f"the profiler ncu cannot run here: {why}: {MEND}")
    options = re.findall(r"--[a-z][a-z0-9-]+", _answer(program, "--help"))
    return NcuTool(real, real.parent, version[1], frozenset(options))


def _answer(program: Path, option: str) -> str:
    """ncu's output for one option. Raises ProfilerUnavailable."""
    try:
        done = subprocess.run(
            [program, option], capture_output=True, text=True, errors="replace", timeout=ANSWER_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ProfilerUnavailable(f"the profiler ncu cannot run here: `{program} {option}` fails ({error})") from error
    return done.stdout


def _real(program: Path, version: str) -> Path:
    """The program in Nsight Compute's own folder. The toolkit's `bin/ncu` only starts this program."""
    resolved = program.resolve()
    homes = [resolved.parent, resolved.parents[1] / f"nsight-compute-{version}", STANDARD_HOME / version]
    return next((home / "ncu" for home in homes if (home / "target").is_dir() and (home / "ncu").exists()), resolved)
