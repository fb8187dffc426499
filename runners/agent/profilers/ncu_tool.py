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
"""Its version and its help need neither a GPU nor a connection: seconds at most, with a cold disk."""
MEND = "install Nsight Compute (a part of the CUDA toolkit), or use `--profile cupti` or `--profile none`"


@dataclass(frozen=True)
class NcuTool:
    """One installation. `folder` holds all that it needs, `options` what its help mentions."""

    program: Path
    folder: Path
    version: str
    options: frozenset[str]

    def accepted(self, wishes: Sequence[tuple[str, ...]]) -> list[str]:
        """The words of those wishes, each an option and its value, that this version accepts."""
        return [word for wish in wishes if wish[0] in self.options for word in wish]


def require_ncu() -> NcuTool:
    """Raises ProfilerUnavailable where there is no driver or no ncu."""
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
    """What an installation says of itself. Raises ProfilerUnavailable."""
    version = re.search(r"Version (\d+\.\d+\.\d+)", _answer(program, "--version"))
    if version is None:
        raise ProfilerUnavailable(f"the profiler ncu cannot run here: `{program} --version` names no version: {MEND}")
    real = _real(program, version[1])
    if why := why_private(real.parent):
        raise ProfilerUnavailable(f"the profiler ncu cannot run here: {why}: {MEND}")
    options = re.findall(r"--[a-z][a-z0-9-]+", _answer(program, "--help"))
    return NcuTool(real, real.parent, version[1], frozenset(options))


def _answer(program: Path, option: str) -> str:
    """Raises ProfilerUnavailable."""
    try:
        done = subprocess.run(
            [program, option], capture_output=True, text=True, errors="replace", timeout=ANSWER_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ProfilerUnavailable(f"the profiler ncu cannot run here: `{program} {option}` fails ({error})") from error
    return done.stdout


def _real(program: Path, version: str) -> Path:
    """The toolkit's `ncu` in its folder `bin` only starts the one of Nsight Compute's own folder."""
    resolved = program.resolve()
    homes = [resolved.parent, resolved.parents[1] / f"nsight-compute-{version}", STANDARD_HOME / version]
    return next((home / "ncu" for home in homes if (home / "target").is_dir() and (home / "ncu").exists()), resolved)
