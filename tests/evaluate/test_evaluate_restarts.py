"""A second run within the hour goes on with the references that the first one measured, in a process of its own."""

from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.evaluate.packs_on_disk import evaluate, rows_of, write_problems, write_solutions
from tests.packs import problem, solution


def baseline_in(folder: Path, problems: Path, solutions: Path, name: str, *more: str) -> Any:
    out = folder / name
    ran = evaluate(folder, problems, "--solutions", solutions, "--out", out, "--benchmark", *more)
    assert ran.status == 0, ran.stderr
    (row,) = rows_of(out)
    (found,) = [one for one in row["podium"]["measurements"] if one["role"] == "baseline"]
    return found


def test_two_runs_share_one_baseline_and_a_ranked_one_measures_its_own(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1", benchmark_command="sh test/t.sh")])
    solutions = write_solutions(folder, [solution("a/1", "exit 0 # mine")])
    runs = [baseline_in(folder, problems, solutions, name) for name in ("first", "second", "third")]
    shared = [(one, other) for one, other in pairwise(runs) if one["key"] == other["key"]]
    assert shared  # of three runs at most one is parted from the next by a full hour
    assert all(one == other and one["measured_at"] for one, other in shared)
    ranked = baseline_in(folder, problems, solutions, "ranked", "--timing", "ranked")
    assert len(ranked["runs_ms"]) == 6
    assert ranked["measured_at"] > runs[-1]["measured_at"]
