"""Packs in files, and the command run as a user runs it: as a process of its own."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from problems.formats.compute_eval.packs import write_problem_pack
from tests.agent.machine import sandbox_name
from tests.packs import problem_pack, solution_pack
from tests.warm_podium import run_podium

DATA = Path(__file__).parents[1] / "data" / "compute-eval"
GOLDEN_PROBLEMS = DATA / "internal-problems.tar.gz"
GOLDEN_SOLUTIONS = DATA / "internal-modelx-solutions.tar.gz"
PODIUM = [sys.executable, "-c", "import sys; from podium.cli import main; sys.argv[0] = 'podium'; main()"]


@dataclass(frozen=True)
class Ran:
    """How the command ended."""

    status: int
    stdout: str
    stderr: str

    @property
    def summary(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.stdout)
        return data


def write_problems(folder: Path, problems: Sequence[dict[str, Any]]) -> Path:
    path = folder / "test-1-problems.tar.gz"
    pack = problem_pack(problems)
    write_problem_pack(path, pack.metadata_bytes, pack.jsonl_bytes)
    return path


def write_solutions(folder: Path, solutions: Sequence[dict[str, Any]], name: str = "test-1-one") -> Path:
    path = folder / f"{name}-solutions.tar.gz"
    path.write_bytes(solution_pack(solutions).read())
    return path


def command(*arguments: str | Path) -> list[str]:
    return [*PODIUM, *map(str, arguments)]


def environment(var_dir: Path) -> dict[str, str]:
    """Without nvcc and nvidia-smi, as the golden summary was made."""
    return {**os.environ, "PODIUM_VAR_DIR": str(var_dir), "PATH": "/usr/bin:/bin", "COLUMNS": "200"}


def podium(var_dir: Path, *arguments: str | Path, stdin: str = "") -> Ran:
    done = run_podium([*map(str, arguments)], environment(var_dir), stdin=stdin)
    return Ran(done.returncode, done.stdout, done.stderr)


def evaluate(folder: Path, problems: Path, *rest: str | Path) -> Ran:
    """`podium evaluate` with the workspaces and builds of one test under `folder`."""
    return podium(folder / "var", "evaluate", "--problems", problems, "--sandbox", sandbox_name(), *rest)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
