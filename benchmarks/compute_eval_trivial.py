"""Measures `podium evaluate` in its sandbox against ComputeEval's local mode, without one, where samples cost next to
nothing: Python problems whose build prints a text and whose test imports the solution.

Both programs are timed as whole processes, turn by turn. Wall time depends on other load of the machine, processor time
hardly does. The ratios are medians over the rounds.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.compute_eval_gpu.refused import BenchmarkRefused
from benchmarks.compute_eval_gpu.rival import Rival
from benchmarks.compute_eval_rival import GRADED, THEIR_RUN, pretend_a_gpu, verdicts
from benchmarks.figures import BenchFigure, show
from benchmarks.packs import RELEASE, python_problem_pack, python_solution_pack

PROBLEMS, SAMPLES, WORKERS = 40, 5, 2
LIMIT = 1.25
SOLUTIONS = "bench-solutions.tar.gz"


@dataclass(frozen=True)
class Cost:
    wall_s: float
    processor_s: float


def measure(rival: Rival, folder: Path, rounds: int) -> list[BenchFigure]:
    """Run both programs in turn. Their files lie in `folder`."""
    (folder / f"{RELEASE}-problems.tar.gz").write_bytes(python_problem_pack(PROBLEMS))
    (folder / SOLUTIONS).write_bytes(python_solution_pack(PROBLEMS, SAMPLES))
    pretend_a_gpu(folder / "bin")
    _theirs(rival, folder), _ours(folder, "warm")  # both compile what a machine has compiled long since
    theirs, ours = zip(*((_theirs(rival, folder), _ours(folder, str(n))) for n in range(rounds)), strict=True)
    expected = verdicts(folder / GRADED)
    differing = sum(len(expected.items() ^ verdicts(folder / f"{n}.jsonl").items()) for n in range(rounds))
    walls = [(own.wall_s, other.wall_s) for own, other in zip(ours, theirs, strict=True)]
    processors = [(own.processor_s, other.processor_s) for own, other in zip(ours, theirs, strict=True)]
    size = f"{PROBLEMS * SAMPLES} samples, {WORKERS} workers"
    return [
        BenchFigure(f"ComputeEval's local mode, {size}", median(one.wall_s for one in theirs), "s", None, "max"),
        BenchFigure("its processor time", median(one.processor_s for one in theirs), "s", None, "max"),
        BenchFigure("podium evaluate --sandbox bubblewrap", median(one.wall_s for one in ours), "s", None, "max"),
        BenchFigure("its processor time", median(one.processor_s for one in ours), "s", None, "max"),
        BenchFigure("wall time against ComputeEval", median(own / other for own, other in walls), "×", LIMIT, "max"),
        BenchFigure(
            "processor time against ComputeEval", median(own / other for own, other in processors), "×", LIMIT, "max"
        ),
        BenchFigure("verdicts that differ", differing, "", 0, "max"),
    ]


def _theirs(rival: Rival, folder: Path) -> Cost:
    """Its samples run under the same Python as itself."""
    environment = rival.environment()
    path = [str(folder / "bin"), str(Path(rival.python).parent), environment["PATH"]]
    command = [rival.python, "-c", THEIR_RUN, RELEASE, SOLUTIONS, ".", str(WORKERS)]
    return _cost(command, folder, environment | {"PATH": os.pathsep.join(path)})


def _ours(folder: Path, name: str) -> Cost:
    """Every run has caches and rows of its own. The samples run under the same Python as Podium."""
    command = [
        str(Path(sys.executable).with_name("podium")), "evaluate", "--problems", f"{RELEASE}-problems.tar.gz",
        "--solutions", SOLUTIONS, "--out", f"{name}.jsonl", "--workers", str(WORKERS), "--sandbox", "bubblewrap",
        "--strict",
    ]  # fmt: skip
    return _cost(command, folder, os.environ | {"PODIUM_VAR_DIR": str(folder / f"var-{name}")})


def _cost(command: list[str], folder: Path, environment: dict[str, str]) -> Cost:
    """Python keeps bytecode as it does by default, but not in the checkout."""
    environment = environment | {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    quiet = subprocess.DEVNULL
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=quiet, stderr=quiet)
    wall_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main(arguments: list[str]) -> int:
    """0 if the limits hold, 1 if one is missed, 2 without a ComputeEval that can be run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compute_eval_trivial", description=__doc__)
    parser.add_argument("--compute-eval", required=True, type=Path, metavar="CHECKOUT", help="only read")
    parser.add_argument(
        "--rival-python", default=sys.executable, metavar="PATH", help="one that can import ComputeEval"
    )
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each program (%(default)s)")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as name:
        folder = Path(name)
        rival = Rival(given.compute_eval.resolve(), given.rival_python, folder / "rival", WORKERS)
        try:
            rival.make_ready()
        except BenchmarkRefused as refused:
            print(refused, file=sys.stderr)
            return 2
        return 0 if show(measure(rival, folder, given.rounds)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
