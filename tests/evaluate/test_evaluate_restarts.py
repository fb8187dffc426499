"""Every run times the baselines that its samples are compared with."""

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


def test_a_second_run_and_a_ranked_one_measure_their_own_baselines(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1", benchmark_command="sh test/t.sh")])
    solutions = write_solutions(folder, [solution("a/1", "exit 0 # mine")])
    first, second = (baseline_in(folder, problems, solutions, name) for name in ("first", "second"))
    assert first["shared"]
    assert first["measured_at"] in first["key"]
    assert second["measured_at"] > first["measured_at"]
    ranked = baseline_in(folder, problems, solutions, "ranked", "--timing", "ranked")
    assert len(ranked["runs_ms"]) == 6
    assert ranked["measured_at"] > second["measured_at"]
