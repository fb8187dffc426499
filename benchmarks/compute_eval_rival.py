"""Measures `podium evaluate` against ComputeEval's own local evaluator: same strict pack, same workers, turn by turn.

ComputeEval is not part of Podium: COMPUTE_EVAL_PYTHON=/path/to/python names a Python that can import it. Both are timed
as whole processes, and each takes its better run: other load on the machine can only slow a run down.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.figures import BenchFigure, show
from benchmarks.packs import RELEASE, compiled_problem_pack, compiled_solution_pack

PROBLEMS, SAMPLES, WORKERS, ROUNDS = 16, 4, 2, 2
SPEED_LIMIT, SECOND_RUN_LIMIT = 1.0, 5.0
GRADED = "bench-graded-solutions.jsonl"
THEIR_RUN = """
import sys
from compute_eval.data.data_model import ReleaseVersion
from compute_eval.evaluation import evaluate_functional_correctness
evaluate_functional_correctness(
    release=ReleaseVersion(sys.argv[1]), solutions_datapack=sys.argv[2], problems_datapack_dir=sys.argv[3],
    mode="local", profile_mode=None, k=(1,), n_workers=int(sys.argv[4]),
)
"""


def run(python: str) -> list[BenchFigure]:
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as name:
        folder = Path(name)
        (folder / f"{RELEASE}-problems.tar.gz").write_bytes(compiled_problem_pack(PROBLEMS))
        (folder / "bench-solutions.tar.gz").write_bytes(compiled_solution_pack(PROBLEMS, SAMPLES))
        pretend_a_gpu(folder / "bin")
        rounds = [(_theirs(python, folder), _ours(folder, f"var-{n}", f"first-{n}")) for n in range(ROUNDS)]
        second_s = _ours(folder, "var-0", "second")
        expected = verdicts(folder / GRADED)
        graded = [*(f"first-{n}" for n in range(ROUNDS)), "second"]
        differing = sum(len(expected.items() ^ verdicts(folder / f"{one}.jsonl").items()) for one in graded)
    theirs_s, ours_s = (min(seconds) for seconds in zip(*rounds, strict=True))
    size = f"{PROBLEMS * SAMPLES} samples, {WORKERS} workers"
    return [
        BenchFigure(f"ComputeEval's local evaluator, {size}", theirs_s, "s", None, "max"),
        BenchFigure("podium evaluate --sandbox bubblewrap, first run", ours_s, "s", None, "max"),
        BenchFigure("the same, second run", second_s, "s", None, "max"),
        BenchFigure("speed against ComputeEval, first run", theirs_s / ours_s, "×", SPEED_LIMIT, "min"),
        BenchFigure("speed against ComputeEval, second run", theirs_s / second_s, "×", SECOND_RUN_LIMIT, "min"),
        BenchFigure("verdicts that differ", differing, "", 0, "max"),
    ]


def _theirs(python: str, folder: Path) -> float:
    environment = os.environ | {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    return _seconds(
        [python, "-c", THEIR_RUN, RELEASE, "bench-solutions.tar.gz", ".", str(WORKERS)], folder, environment
    )


def _ours(folder: Path, var: str, out: str) -> float:
    """Every run writes a file of its own, so nothing is resumed; runs with the same `var` share their builds."""
    command = [
        str(Path(sys.executable).with_name("podium")), "evaluate",
        "--problems", f"{RELEASE}-problems.tar.gz", "--solutions", "bench-solutions.tar.gz", "--out", f"{out}.jsonl",
        "--k", "1", "--workers", str(WORKERS), "--sandbox", "bubblewrap", "--profile", "none", "--strict",
    ]  # fmt: skip
    return _seconds(command, folder, os.environ | {"PODIUM_VAR_DIR": str(folder / var)})


def _seconds(command: list[str], folder: Path, environment: dict[str, str]) -> float:
    quiet = subprocess.DEVNULL
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=quiet, stderr=quiet)
    return time.perf_counter() - started


def pretend_a_gpu(folder: Path) -> None:
    """ComputeEval does not start without one; the pack's problems need none."""
    folder.mkdir()
    program = folder / "nvidia-smi"
    program.write_text('#!/bin/sh\necho "9.0, NVIDIA H200"\n')
    program.chmod(0o755)


def verdicts(graded: Path) -> dict[tuple[str, str], bool]:
    """(task, solution's text) → passed."""
    rows = [json.loads(line) for line in graded.read_text(encoding="utf-8").splitlines()]
    return {(row["task_id"], row["solution"]["files"][0]["content"]): row["passed"] for row in rows}


if __name__ == "__main__":
    rival = os.environ.get("COMPUTE_EVAL_PYTHON", "")
    if not rival:
        print("      left out: COMPUTE_EVAL_PYTHON does not name a Python that can import compute_eval")
    sys.exit(0 if not rival or show(run(rival)) else 1)
