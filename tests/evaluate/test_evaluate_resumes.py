"""A run that was interrupted or killed goes on where it stopped."""

import signal
import subprocess
from pathlib import Path

import pytest

from tests.agent.machine import sandbox_name
from tests.evaluate.packs_on_disk import command, environment, evaluate, rows_of, write_problems, write_solutions
from tests.packs import problem, solution
from tests.patience import SOON, until

pytestmark = pytest.mark.rest
N = 8


def start(folder: Path, problems: Path, solutions: Path) -> "subprocess.Popen[str]":
    arguments = command(
        "evaluate", "--problems", problems, "--solutions", solutions, "--out", folder / "g.jsonl",
        "--sandbox", sandbox_name(), "--workers", "2",
    )  # fmt: skip
    return subprocess.Popen(
        arguments, env=environment(folder / "var"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def packs(folder: Path) -> tuple[Path, Path]:
    problems = [problem(f"a/{n}") for n in range(N)]
    slow = [solution(f"a/{n}", f"sleep 0.4; exit {n % 2}") for n in range(N)]
    return write_problems(folder, problems), write_solutions(folder, slow)


def wait_for_rows(path: Path, count: int) -> None:
    assert until(lambda: path.exists() and path.read_bytes().count(b"\n") >= count)


def test_after_kill_9_the_finished_rows_are_kept_and_the_rest_is_graded(folder: Path) -> None:
    problems, solutions = packs(folder)
    out = folder / "g.jsonl"
    process = start(folder, problems, solutions)
    wait_for_rows(out, 2)
    process.kill()
    process.communicate()
    with out.open("ab") as file:
        file.write(b'{"task_id": "a/7", "passed": tr')
    finished = out.read_bytes().splitlines(keepends=True)[:-1]
    ran = evaluate(folder, problems, "--solutions", solutions, "--out", out)
    assert ran.status == 0, ran.stderr
    assert out.read_bytes().startswith(b"".join(finished))
    assert sorted(row["task_id"] for row in rows_of(out)) == sorted(f"a/{n}" for n in range(N))
    assert ran.summary["pass_at_k"]["pass@1"] == 0.5
    assert not any((folder / "var/evaluate/work").iterdir())


def test_an_interrupted_run_ends_with_its_own_status_and_can_be_taken_up(folder: Path) -> None:
    problems, solutions = packs(folder)
    process = start(folder, problems, solutions)
    wait_for_rows(folder / "g.jsonl", 1)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=SOON)
    assert (process.returncode, stdout) == (3, "")
    assert "run the same command again" in stderr
    assert len(rows_of(folder / "g.jsonl")) < N
    assert evaluate(folder, problems, "--solutions", solutions, "--out", folder / "g.jsonl").status == 0
    assert len(rows_of(folder / "g.jsonl")) == N


def test_a_second_run_changes_nothing_and_says_the_same(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1")])
    solutions = write_solutions(folder, [solution("a/1", "exit 0")])
    first = evaluate(folder, problems, "--solutions", solutions, "--out", folder / "g.jsonl")
    written = (folder / "g.jsonl").read_bytes()
    second = evaluate(folder, problems, "--solutions", solutions, "--out", folder / "g.jsonl")
    assert second.stdout == first.stdout
    assert (folder / "g.jsonl").read_bytes() == written


def test_rows_of_changed_samples_are_graded_anew(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1"), problem("a/2")])
    out = folder / "g.jsonl"
    before = write_solutions(folder, [solution("a/1", "exit 1"), solution("a/2", "exit 0")])
    evaluate(folder, problems, "--solutions", before, "--out", out)
    written = out.read_bytes()
    after = write_solutions(folder, [solution("a/1", "exit 0"), solution("a/2", "exit 0")])
    ran = evaluate(folder, problems, "--solutions", after, "--out", out)
    assert ran.summary["pass_at_k"]["pass@1"] == 1.0
    assert [row["task_id"] for row in rows_of(out)] == ["a/2", "a/1"]
    assert "1 rows of other inputs" in ran.stderr
    assert out.with_name("g.jsonl.before").read_bytes() == written
    again = out.read_bytes()
    third = write_solutions(folder, [solution("a/1", "exit 2"), solution("a/2", "exit 0")])
    evaluate(folder, problems, "--solutions", third, "--out", out)
    assert out.with_name("g.jsonl.before").read_bytes() == written
    assert out.with_name("g.jsonl.before.2").read_bytes() == again


def test_a_file_of_somebody_else_s_is_not_touched(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1")])
    solutions = write_solutions(folder, [solution("a/1", "exit 0")])
    out = folder / "g.jsonl"
    out.write_text('{"task_id": "a/1", "mine": true}\n')
    ran = evaluate(folder, problems, "--solutions", solutions, "--out", out)
    assert ran.status == 2
    assert "another --out" in ran.stderr
    assert out.read_text() == '{"task_id": "a/1", "mine": true}\n'
