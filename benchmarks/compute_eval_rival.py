"""Measures `podium evaluate` against ComputeEval's own local evaluator: same strict pack, same workers, same run.

ComputeEval is not part of Podium: COMPUTE_EVAL_PYTHON=/path/to/python names a Python that can import it.
Theirs is timed from the call of its entry point, ours from the start of the process.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.figures import Figure, show
from benchmarks.packs import RELEASE, compiled_problem_pack, compiled_solution_pack

PROBLEMS, SAMPLES, WORKERS = 16, 4, 2
SPEED_LIMIT, SECOND_RUN_LIMIT = 1.0, 5.0
GRADED = "bench-graded-solutions.jsonl"
THEIR_RUN = """
import sys, time
from compute_eval.data.data_model import ReleaseVersion
from compute_eval.evaluation import evaluate_functional_correctness
started = time.perf_counter()
evaluate_functional_correctness(
    release=ReleaseVersion(sys.argv[1]), solutions_datapack=sys.argv[2], problems_datapack_dir=sys.argv[3],
    mode="local", profile_mode=None, k=(1,), n_workers=int(sys.argv[4]),
)
print(time.perf_counter() - started, file=open("seconds", "w"))
"""


def run(python: str) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as name:
        folder = Path(name)
        problems, solutions = folder / f"{RELEASE}-problems.tar.gz", folder / "bench-solutions.tar.gz"
        problems.write_bytes(compiled_problem_pack(PROBLEMS))
        solutions.write_bytes(compiled_solution_pack(PROBLEMS, SAMPLES))
        theirs_s = _theirs(python, folder, solutions)
        first_s = _ours(folder, problems, solutions, "first.jsonl")
        second_s = _ours(folder, problems, solutions, "second.jsonl")
        their_verdicts = _verdicts(folder / GRADED)
        differing = sum(
            len(their_verdicts.items() ^ _verdicts(folder / ours).items()) for ours in ("first.jsonl", "second.jsonl")
        )
    size = f"{PROBLEMS * SAMPLES} samples, {WORKERS} workers"
    return [
        Figure(f"ComputeEval's local evaluator, {size}", theirs_s, "s", None, "max"),
        Figure("podium evaluate --sandbox bubblewrap, first run", first_s, "s", None, "max"),
        Figure("the same, second run", second_s, "s", None, "max"),
        Figure("speed against ComputeEval, first run", theirs_s / first_s, "×", SPEED_LIMIT, "min"),
        Figure("speed against ComputeEval, second run", theirs_s / second_s, "×", SECOND_RUN_LIMIT, "min"),
        Figure("verdicts that differ", differing, "", 0, "max"),
    ]


def _theirs(python: str, folder: Path, solutions: Path) -> float:
    """Seconds of the call alone; its imports are left out."""
    _pretend_a_gpu(folder / "bin")
    environment = os.environ | {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    command = [python, "-c", THEIR_RUN, RELEASE, str(solutions), str(folder), str(WORKERS)]
    subprocess.run(
        command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return float((folder / "seconds").read_text())


def _pretend_a_gpu(folder: Path) -> None:
    """ComputeEval does not start without one; the pack's problems need none."""
    folder.mkdir()
    program = folder / "nvidia-smi"
    program.write_text('#!/bin/sh\necho "9.0, NVIDIA H200"\n')
    program.chmod(0o755)


def _ours(folder: Path, problems: Path, solutions: Path, out: str) -> float:
    """Seconds of the whole command. Each run writes a file of its own, so nothing is resumed."""
    command = [
        str(Path(sys.executable).with_name("podium")), "evaluate",
        "--problems", str(problems), "--solutions", str(solutions),
        "--out", out, "--k", "1", "--workers", str(WORKERS), "--sandbox", "bubblewrap", "--profile", "none", "--strict",
    ]  # fmt: skip
    environment = os.environ | {"PODIUM_VAR_DIR": str(folder / "var"), "PYTHONPATH": str(Path.cwd())}
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def _verdicts(graded: Path) -> dict[tuple[str, str], bool]:
    """(task, solution's text) → passed."""
    rows = [json.loads(line) for line in graded.read_text(encoding="utf-8").splitlines()]
    return {(row["task_id"], row["solution"]["files"][0]["content"]): row["passed"] for row in rows}


if __name__ == "__main__":
    rival = os.environ.get("COMPUTE_EVAL_PYTHON", "")
    if not rival:
        print("      left out: COMPUTE_EVAL_PYTHON does not name a Python that can import compute_eval")
    sys.exit(0 if not rival or show(run(rival)) else 1)
