"""Builds go ahead of runs, and are told the architecture that was asked for."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from tests.evaluate.packs_on_disk import evaluate, rows_of, write_problems, write_solutions
from tests.packs import problem, solution


@pytest.mark.rest
def test_all_is_built_while_the_first_sample_runs(folder: Path) -> None:
    timed = {"build_command": "date +%s.%N > built", "test_command": "cat built; sleep 1; date +%s.%N"}
    problems = write_problems(folder, [problem(f"a/{n}", **timed) for n in range(6)])
    solutions = write_solutions(folder, [solution(f"a/{n}", f"sample {n}") for n in range(6)])
    out = folder / "g.jsonl"
    evaluate(folder, problems, "--solutions", solutions, "--out", out, "--workers", "1")
    times = [[float(word) for word in row["test_output"].split()] for row in rows_of(out)]
    ends = sorted(ended for _, ended in times)
    assert max(built for built, _ in times) < ends[1]
    assert all(later - earlier > 1 for earlier, later in pairwise(ends))  # one worker runs


@pytest.mark.parametrize(
    ("arch", "told", "policy"),
    [("sm_90", "sm_90", "default"), ("sm_90a", "sm_90a", "default"), ("as-written", "", "compute-eval"),
     ("auto", "", "default")],
)  # fmt: skip
def test_builds_are_told_the_architecture_that_was_asked_for(folder: Path, arch: str, told: str, policy: str) -> None:
    problems = write_problems(folder, [problem("a/1", build_command='echo "told $PODIUM_NVCC_ARCH."')])
    solutions = write_solutions(folder, [solution("a/1", "exit 0")])
    out = folder / "g.jsonl"
    evaluate(folder, problems, "--solutions", solutions, "--out", out, "--arch", arch)
    (row,) = rows_of(out)
    assert row["build_output"] == f"told {told}.\n\n"  # `auto` without a GPU adds nothing
    provenance = row["podium"]["provenance"]
    assert (provenance["arch"], provenance["build_policy"]) == (told, policy)


def test_rows_of_another_architecture_are_graded_anew(folder: Path) -> None:
    problems, solutions = write_problems(folder, [problem("a/1")]), write_solutions(folder, [solution("a/1", "exit 0")])
    out = folder / "g.jsonl"
    for arch in ("sm_80", "sm_90"):
        evaluate(folder, problems, "--solutions", solutions, "--out", out, "--arch", arch)
    (row,) = rows_of(out)
    assert row["podium"]["provenance"]["arch"] == "sm_90"


@pytest.mark.parametrize("arch", ["9.0", "native", "sm_90;rm", ""])
def test_what_is_no_architecture_is_refused(folder: Path, arch: str) -> None:
    problems, solutions = write_problems(folder, [problem("a/1")]), write_solutions(folder, [solution("a/1", "exit 0")])
    ran = evaluate(folder, problems, "--solutions", solutions, "--arch", arch)
    assert ran.status == 2
    assert "--arch" in ran.stderr
    assert not json.loads(ran.stdout or "null")
