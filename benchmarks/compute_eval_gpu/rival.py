"""Runs ComputeEval's own evaluator from its checkout, in a process of its own."""

import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compute_eval_gpu.packs import Packs
from benchmarks.compute_eval_gpu.process import TAIL_CHARACTERS, EndedProcess, run_until, tail
from benchmarks.compute_eval_gpu.refused import BenchmarkRefused, RunFailed

THEIR_RUN = """
import sys
from compute_eval.data.data_model import ReleaseVersion
from compute_eval.evaluation import evaluate_functional_correctness
release, problems, solutions, workers = sys.argv[1:]
evaluate_functional_correctness(
    release=ReleaseVersion(release), solutions_datapack=solutions, problems_datapack_dir=problems,
    mode="local", profile_mode="cupti", k=(1,), n_workers=int(workers),
)
"""
OPENAI = """\
class OpenAI: ...
class APIError(Exception): ...
class APIStatusError(APIError): ...
class RateLimitError(APIStatusError): ...
"""
"""A stub for a package that ComputeEval imports and that grading does not use."""
LIBRARY = "libcuda_profile.so"


@dataclass(frozen=True)
class Rival:
    checkout: Path
    python: str
    folder: Path
    """Its working directory; the checkout is left as it is."""
    workers: int

    @property
    def library(self) -> Path:
        return self.folder / LIBRARY

    @property
    def command(self) -> str:
        return f"evaluate_functional_correctness(mode=local, profile_mode=cupti, k=(1,), n_workers={self.workers})"

    def make_ready(self) -> None:
        """Check that it can be imported, with a stub of openai if that is missing. Raises BenchmarkRefused."""
        self.folder.mkdir(parents=True, exist_ok=True)
        stub = self.folder / "stub"
        shutil.rmtree(stub, ignore_errors=True)
        if self._try("import openai").returncode:
            stub.mkdir()
            (stub / "openai.py").write_text(OPENAI, encoding="utf-8")
        tried = self._try("import compute_eval.evaluation")
        if tried.returncode:
            reason = (tried.stderr.strip().splitlines() or ["it says nothing"])[-1]
            raise BenchmarkRefused(f"{self.python} cannot import ComputeEval ({reason}); see --rival-python.")

    def build_profiler(self) -> None:
        """Builds the rival's profiler with its own Makefile, which heeds CUDA_HOME. Raises RunFailed."""
        with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:  # make takes no path with a space
            made = Path(folder) / LIBRARY
            command = ["make", "-s", "-C", str(self.checkout / "compute_eval" / "cuda_tools"), f"TARGET={made}"]
            try:
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
            except OSError as error:
                raise RunFailed(f"rival: make cannot be started: {error.strerror}") from error
            if done.returncode:
                words = done.stderr[-TAIL_CHARACTERS:].strip()
                raise RunFailed(f"rival: ComputeEval's profiler does not compile:\n{words}")
            shutil.move(made, self.library)

    def run(self, packs: Packs, rows: Path, limit_seconds: float | None) -> EndedProcess:
        """Grade the packs; the rows are there once it has ended. Raises RunFailed."""
        log, graded = rows.with_suffix(".log"), self.folder / packs.graded_name
        graded.unlink(missing_ok=True)
        arguments = [packs.release, str(packs.folder), str(packs.solutions), str(self.workers)]
        command = [self.python, "-u", "-c", THEIR_RUN, *arguments]
        environment = self.environment() | {"CUPTI_PROFILER_LIB": str(self.library)}
        ended = run_until(limit_seconds, command, self.folder, environment, log, end)
        if ended.status is not None:
            if ended.status or not graded.is_file():
                raise RunFailed(f"rival: ComputeEval ended with exit status {ended.status}:\n{tail(log)}")
            graded.replace(rows)
        return ended

    def environment(self) -> dict[str, str]:
        """The environment of a process that imports the rival."""
        inherited = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        paths = [self.checkout, *(Path(path).resolve() for path in inherited), self.folder / "stub"]
        return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}

    def _try(self, statement: str) -> subprocess.CompletedProcess[str]:
        command, environment = [self.python, "-c", statement], self.environment()
        try:
            return subprocess.run(
                command, cwd=self.folder, env=environment, capture_output=True, text=True, errors="replace", check=False
            )
        except OSError as error:
            raise BenchmarkRefused(f"--rival-python {self.python} cannot be started: {error.strerror}.") from error


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and its commands, each of which is the leader of a group of its own."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGSTOP)  # it starts nothing more meanwhile
    for child in _children(process.pid):
        for kill in (os.killpg, os.kill):
            try:
                kill(child, signal.SIGKILL)
            except ProcessLookupError:
                continue
    process.kill()
    process.wait()


def _children(pid: int) -> list[int]:
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(word) for one in lists for word in one.read_text(encoding="ascii").split()]
