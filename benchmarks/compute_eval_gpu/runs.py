"""Runs Podium, each time as a whole process, and notes how long it took."""

import os
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compute_eval_gpu.packs import Packs
from benchmarks.compute_eval_gpu.refused import PartFailed

ROOT = Path(__file__).resolve().parents[2]
TAIL_CHARACTERS = 1500
SERIAL = ("--workers", "1", "--arch", "as-written")
"""As ComputeEval builds, and one at a time."""


@dataclass(frozen=True)
class Ran:
    """How long a run took by the clock, Python's start included, and of processors."""

    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Podium:
    """`podium evaluate` with rows, logs, timelines and all that it remembers in one folder."""

    folder: Path
    profile: str
    traced: bool

    @property
    def var_dir(self) -> Path:
        return self.folder / "var"

    def rows(self, part: str) -> Path:
        return self.folder / f"{part}.jsonl"

    def timeline(self, part: str) -> Path:
        return self.folder / f"{part}-timeline.jsonl"

    def forget(self) -> None:
        """Let the next run know nothing of earlier ones."""
        shutil.rmtree(self.var_dir, ignore_errors=True)

    def clear(self, part: str) -> None:
        """Drop the part's rows, which its next run would go on from."""
        self.rows(part).unlink(missing_ok=True)
        self.timeline(part).unlink(missing_ok=True)

    def prepare(self) -> None:
        """Compile the native programs, as ComputeEval's profiler is compiled beforehand. Raises PartFailed."""
        self._run("prepare", [*_podium(), "prepare"])

    def evaluate(self, part: str, packs: Packs, *more: str) -> Ran:
        """Raises PartFailed."""
        program = _traced_podium(self.timeline(part)) if self.traced else _podium()
        command = [
            *program, "evaluate", "--problems", str(packs.problems), "--solutions", str(packs.solutions),
            "--sandbox", "bubblewrap", "--profile", self.profile, "--out", str(self.rows(part)), *more,
        ]  # fmt: skip
        return self._run(part, command)

    def _run(self, name: str, command: list[str]) -> Ran:
        log = self.folder / f"{name}.log"
        environment = os.environ | {"PODIUM_VAR_DIR": str(self.var_dir)}
        with log.open("wb") as file:
            started, cpu_before = time.monotonic(), children_cpu_seconds()
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file
            )
            try:
                status = process.wait()
            finally:
                process.terminate()  # where it is interrupted; Podium ends its commands then
                process.wait()
            seconds = time.monotonic() - started
        if status:
            raise PartFailed(f"{name}: podium ended with exit status {status}:\n{tail(log)}")
        return Ran(seconds, children_cpu_seconds() - cpu_before)


def children_cpu_seconds() -> float:
    """Processor time of this process's ended children and of all theirs that somebody waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _podium() -> list[str]:
    return [sys.executable, "-m", "podium.cli"]


def _traced_podium(timeline: Path) -> list[str]:
    return [sys.executable, "-m", "benchmarks.compute_eval_gpu.traced", str(timeline)]


def tail(log: Path) -> str:
    """The end of what a process said."""
    return log.read_text(encoding="utf-8", errors="replace")[-TAIL_CHARACTERS:].strip()


def commit_of(folder: Path) -> str:
    """The commit of a checkout whose top this folder is, with `+changes` where files differ from it; else "unknown"."""
    top = _git(folder, "rev-parse", "--show-toplevel")
    if not top or Path(top).resolve() != folder.resolve():
        return "unknown"
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return _git(folder, "rev-parse", "--short", "HEAD") + ("+changes" if changed else "")


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
