"""A source tree of Podium, this one or an older one, and its `podium` command."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compute_eval_gpu.process import EndedProcess, run_until, tail, terminate
from benchmarks.compute_eval_gpu.refused import BenchmarkRefused, RunFailed

THIS = Path(__file__).resolve().parents[2]
SOME_UNGRADED = "samples could not be graded"
"""How `podium evaluate` explains exit status 1, which is a crash's too."""


@dataclass(frozen=True)
class Tree:
    """`commit` is the tree's commit, or its folder's name if it is no git checkout."""

    path: Path
    commit: str

    @classmethod
    def at(cls, path: Path) -> "Tree":
        """Raises BenchmarkRefused."""
        if not (path / "podium" / "cli.py").is_file():
            raise BenchmarkRefused(f"{path} is no source tree of Podium: it has no podium/cli.py.")
        return cls(path, commit_of(path))

    def prepare(self, log: Path) -> None:
        """Compile the native programs, as ComputeEval's profiler is compiled beforehand. Raises RunFailed."""
        if self._run(["prepare"], log.parent / "var", None, log).status:
            raise RunFailed(f"`podium prepare` of {self.commit} failed:\n{tail(log)}")

    def evaluate(self, arguments: list[str], var: Path, limit_seconds: float | None, log: Path) -> EndedProcess:
        """Run `podium evaluate` with its builds in `var`. Raises RunFailed, but not if some samples went ungraded."""
        ended = self._run(["evaluate", *arguments], var, limit_seconds, log)
        if ended.status and SOME_UNGRADED not in tail(log):
            raise RunFailed(f"{log.stem}: podium ended with exit status {ended.status}:\n{tail(log)}")
        return ended

    def _run(self, arguments: list[str], var: Path, limit_seconds: float | None, log: Path) -> EndedProcess:
        paths = os.pathsep.join([str(self.path), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = os.environ | {"PODIUM_VAR_DIR": str(var), "PYTHONPATH": paths}
        command = [sys.executable, "-m", "podium.cli", *arguments]
        return run_until(limit_seconds, command, self.path, environment, log, terminate)


def commit_of(folder: Path) -> str:
    """The commit of a checkout whose top this folder is, with `+changes` if files differ from it; else its name."""
    top = _git(folder, "rev-parse", "--show-toplevel")
    if not top or Path(top).resolve() != folder.resolve():
        return folder.resolve().name
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return _git(folder, "rev-parse", "--short", "HEAD") + ("+changes" if changed else "")


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
