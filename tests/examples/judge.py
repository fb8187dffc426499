"""Builds, tests and benchmarks demo solutions with the bare tools, step by step as a node would."""

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from problems.formats.compute_eval.directory import read_problem_directory
from problems.formats.compute_eval.source_references import satisfied
from problems.spec.command.problem import CommandProblem
from problems.spec.solution import SourceFile

DEMO = Path(__file__).parents[2] / "examples" / "demo"
ENTRANTS = ("demo-tuned", "demo-steady", "demo-novice")
HARNESS = "test/harness.cpp"
SLUGS = tuple(sorted(folder.name for folder in (DEMO / "problems").iterdir()))


def files_in(folder: Path) -> list[SourceFile]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return [SourceFile(path=path.relative_to(folder).as_posix(), content=path.read_text("utf-8")) for path in paths]


@cache
def problems() -> dict[str, CommandProblem]:
    """Problems by slug, which is the task_id with a hyphen for the slash."""
    pack = read_problem_directory(DEMO)
    return {record.problem.task_id.replace("/", "-"): record.problem for record in pack.records}


def problem(slug: str) -> CommandProblem:
    return problems()[slug]


def reference(slug: str) -> list[SourceFile]:
    return files_in(DEMO / "problems" / slug / "solution")


def sample(entrant: str, slug: str, index: int) -> list[SourceFile]:
    return files_in(DEMO / "entrants" / entrant / slug / str(index))


@cache
def entrant_spec(entrant: str) -> dict[str, Any]:
    spec: dict[str, Any] = yaml.safe_load((DEMO / "entrants" / entrant / "entrant.yaml").read_text("utf-8"))
    return spec


class Workspace:
    """One solution laid out with its problem's files."""

    def __init__(self, folder: Path, slug: str, files: Sequence[SourceFile]) -> None:
        self.folder, self.slug = folder, slug
        self.problem = problem(slug)
        self.files = list(files)
        for file in [*self.problem.context_files, *self.problem.test_files, *self.files]:
            path = folder / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.content, "utf-8")

    @property
    def build_command(self) -> str:
        """As written for the reference; other solutions are linked with the harness that was compiled once."""
        written = self.problem.build_command or ""
        if HARNESS not in written or self.files == reference(self.slug):
            return written
        return written.replace(HARNESS, str(compiled_harness(self.slug)))

    def build(self) -> bool:
        """Afterwards what is needed only to build is gone, as it is on a node."""
        done = self.shell(self.build_command, self.problem.effective_build_timeout_seconds) == 0
        for path in self.problem.podium.build_only or []:
            (self.folder / path).unlink()
        return done

    def shell(self, command: str, limit_seconds: float) -> int:
        """The exit code; raises TimeoutExpired. Everything the command started is ended."""
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        bash = shutil.which("bash") or "sh"
        with subprocess.Popen(
            [bash, "-c", command], cwd=self.folder, env=environment, stderr=subprocess.DEVNULL, start_new_session=True
        ) as child:
            try:
                return child.wait(limit_seconds)
            finally:
                end_session(child.pid)

    def benchmark(self) -> bool:
        return self.shell(self.problem.benchmark_command or "", self.problem.effective_benchmark_timeout_seconds) == 0

    def verdict(self, limit_seconds: float | None = None) -> str:
        """The verdict of a node, but for a witness's observations."""
        if not satisfied(self.problem.source_references, self.files):
            return "source_reference_missing"
        if not self.build():
            return "build_failed"
        try:
            code = self.shell(self.problem.test_command, limit_seconds or self.problem.effective_test_timeout_seconds)
        except subprocess.TimeoutExpired:
            return "timed_out"
        return "test_failed" if code else "passed"


@cache
def compiled_harness(slug: str) -> Path:
    """The object file of the problem's harness, which includes no file of a solution and takes most of a build."""
    folder = Path(tempfile.mkdtemp(prefix="podium-harness-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    workspace = Workspace(folder, slug, reference(slug))
    command = (
        (workspace.problem.build_command or "").replace(" solution.cpp", "").replace("-o harness", "-c -o harness.o")
    )
    assert workspace.shell(command, workspace.problem.effective_build_timeout_seconds) == 0
    return folder / "harness.o"


def end_session(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return
