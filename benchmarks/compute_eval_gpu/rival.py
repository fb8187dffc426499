"""Runs ComputeEval's own evaluator from its checkout, in a process of its own and with a time limit."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compute_eval_gpu.packs import Packs
from benchmarks.compute_eval_gpu.refused import PartFailed, Refused
from benchmarks.compute_eval_gpu.runs import TAIL_CHARACTERS, children_cpu_seconds, tail

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
OPENAI_WORDS = (
    "The package openai is missing: a stub that can do nothing stands in for it, since grading does not use it."
)
LIBRARY = "libcuda_profile.so"


@dataclass(frozen=True)
class RivalRun:
    """`seconds` are those of the whole process, as `runs.Ran`'s; where it did not end they are what it was given."""

    seconds: float
    ended: bool
    cpu_seconds: float | None = None


@dataclass(frozen=True)
class Rival:
    checkout: Path
    python: str
    folder: Path
    """Its working directory; the checkout is left as it is."""
    workers: int
    limit_seconds: float | None

    @property
    def library(self) -> Path:
        return self.folder / LIBRARY

    def make_ready(self) -> str:
        """Make sure that it can be imported, with a stub of openai where that is missing; returns a notice or "".

        Raises Refused.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.folder / "stub", ignore_errors=True)
        notice = "" if self._try("import openai").returncode == 0 else OPENAI_WORDS
        if notice:
            (self.folder / "stub").mkdir(exist_ok=True)
            (self.folder / "stub" / "openai.py").write_text(OPENAI, encoding="utf-8")
        tried = self._try("import compute_eval.evaluation")
        if tried.returncode:
            reason = (tried.stderr.strip().splitlines() or ["it says nothing"])[-1]
            raise Refused(f"{self.python} cannot import ComputeEval ({reason}); see --rival-python.")
        return notice

    def build_profiler(self) -> None:
        """By its own Makefile, which heeds CUDA_HOME. Raises PartFailed."""
        with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:  # make takes no path with a space
            made = Path(folder) / LIBRARY
            command = ["make", "-s", "-C", str(self.checkout / "compute_eval" / "cuda_tools"), f"TARGET={made}"]
            try:
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
            except OSError as error:
                raise PartFailed(f"rival: make cannot be started: {error.strerror}") from error
            if done.returncode:
                words = done.stderr[-TAIL_CHARACTERS:].strip()
                raise PartFailed(f"rival: ComputeEval's profiler does not compile:\n{words}")
            shutil.move(made, self.library)

    def run(self, packs: Packs) -> RivalRun:
        """Its rows lie in `folder` once it has ended. Raises PartFailed."""
        log = self.folder / "rival.log"
        (self.folder / packs.graded_name).unlink(missing_ok=True)
        arguments = [packs.release, str(packs.folder), str(packs.solutions), str(self.workers)]
        command = [self.python, "-u", "-c", THEIR_RUN, *arguments]
        environment = self._environment() | {"CUPTI_PROFILER_LIB": str(self.library)}
        started, cpu_before = time.monotonic(), children_cpu_seconds()
        with log.open("wb") as file:
            process = subprocess.Popen(
                command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file
            )
            try:
                status = process.wait(self.limit_seconds)
                seconds = time.monotonic() - started
            except subprocess.TimeoutExpired as expired:
                return RivalRun(expired.timeout, ended=False)
            finally:
                _end(process)
        if status or not (self.folder / packs.graded_name).is_file():
            raise PartFailed(f"rival: ComputeEval ended with exit status {status}:\n{tail(log)}")
        return RivalRun(seconds, ended=True, cpu_seconds=children_cpu_seconds() - cpu_before)

    def _environment(self) -> dict[str, str]:
        inherited = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        paths = [self.checkout, *(Path(path).resolve() for path in inherited), self.folder / "stub"]
        return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}

    def _try(self, statement: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [self.python, "-c", statement],
                cwd=self.folder,
                env=self._environment(),
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        except OSError as error:
            raise Refused(f"--rival-python {self.python} cannot be started: {error.strerror}.") from error


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and its commands, each of which is the leader of a group of its own."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGSTOP)  # so that it starts nothing more meanwhile
    for child in _children(process.pid):
        for end in (os.killpg, os.kill):
            try:
                end(child, signal.SIGKILL)
            except ProcessLookupError:
                continue
    process.kill()
    process.wait()


def _children(pid: int) -> list[int]:
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(word) for one in lists for word in one.read_text(encoding="ascii").split()]
