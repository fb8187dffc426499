"""`podium verifiers import`: a pack to grade anew, and a report of what stayed out and why."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from podium.generation.asked import of_record
from podium.verifiers.importing import import_rollouts
from problems.formats.compute_eval.packs import read_solution_pack, write_problem_pack
from problems.formats.verifiers.files import read_rollouts
from problems.spec.profile import Profile
from problems.spec.rollout import rollout_in
from problems.spec.solution import parse_solution
from tests.formats.verifiers_files import episode, row_015, row_016, trace, write
from tests.packs import problem, problem_pack
from tests.question_records import choice
from tests.warm_podium import run_podium

STARTER = {"starter": [{"path": "student_kernel.cu", "content": "// here\n"}]}
CODE = "Reasoning.\n```cuda\n__global__ void k() {}\n```\n"


def coding(name: str) -> dict[str, Any]:
    return problem(f"pmpp/{name}", podium=STARTER)


def pack_of(folder: Path, problems: Sequence[dict[str, Any]]) -> Path:
    pack = problem_pack(problems)
    write_problem_pack(folder / "test-1-problems.tar.gz", pack.metadata_bytes, pack.jsonl_bytes)
    return folder / "test-1-problems.tar.gz"


def podium(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "200"}
    return run_podium(["verifiers", "import", *map(str, words)], environment, folder)


def lines_of(pack: Path) -> list[Any]:
    return [parse_solution(line.line) for line in read_solution_pack(pack, pack.name, Profile.PODIUM).lines]


def imported(folder: Path, file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    packs = ("--problems", "test-1-problems.tar.gz", "--out", "m-solutions.tar.gz", "--report", "report.json")
    return podium(folder, file, *packs, *options)


@pytest.fixture
def two(tmp_path: Path) -> Path:
    pack_of(tmp_path, [coding("ch02-scale"), coding("ch03-sum")])
    return tmp_path


def test_a_file_of_015_is_imported_by_its_info_whatever_its_ids_say(two: Path) -> None:
    """Three rollouts of two examples; the rows are the examples, repeated, and `id` says 0 0 0 1 1 1."""
    names = ["ch02-scale", "ch03-sum"] * 3
    rows = [row_015(at // 3, "q", CODE, {"task_dir": f"eval-tasks/{name}"}) for at, name in enumerate(names)]
    done = imported(two, write(two, rows))
    assert done.returncode == 0, done.stderr
    assert "The column `id` of verifiers 0.1.5 is wrong for 2 examples" in done.stderr
    made = lines_of(two / "m-solutions.tar.gz")
    assert [one.task_id for one in made] == ["pmpp/ch02-scale"] * 3 + ["pmpp/ch03-sum"] * 3
    assert made[0].files[0].path == "student_kernel.cu"
    assert made[0].files[0].content == "__global__ void k() {}\n"


def test_the_rollout_goes_along_for_the_pages_that_show_it(two: Path) -> None:
    file = write(two, [episode(trace("ch02-scale", "the question", CODE))], "traces.jsonl")
    assert imported(two, file).returncode == 0
    (one,) = lines_of(two / "m-solutions.tar.gz")
    rollout = rollout_in(one.model_extra)
    assert [message.text for message in rollout.prompt] == ["the question"]
    assert [message.text for message in rollout.reply] == [CODE]
    assert rollout.usage == {"prompt_tokens": 40, "completion_tokens": 5}
    assert one.model_extra["verifiers"] == {"line": 1, "reward": 0.5}


@pytest.mark.rest
def test_a_row_without_info_is_found_by_its_prompt(two: Path) -> None:
    statement = problem("pmpp/ch03-sum")["prompt"]
    file = write(
        two, [row_015(0, "Task: ch02-scale\nskeleton", CODE, None), row_015(0, f"Do: {statement}", CODE, None)]
    )
    assert imported(two, file).returncode == 0
    assert {one.task_id for one in lines_of(two / "m-solutions.tar.gz")} == {"pmpp/ch02-scale", "pmpp/ch03-sum"}


@pytest.mark.rest
def test_infrastructure_errors_stay_out_and_no_problem_gets_a_missing_sample_for_them(two: Path) -> None:
    rows = [row_016(0, "q", CODE, {"task_id": f"pmpp/{name}"}) for name in ("ch02-scale", "ch03-sum") for _ in range(3)]
    rows[1] |= {"error": {"error": "APIError", "error_chain_str": "APIError: 503"}, "completion": []}
    done = imported(two, write(two, rows))
    assert done.returncode == 1
    assert [one.task_id for one in lines_of(two / "m-solutions.tar.gz")] == ["pmpp/ch02-scale"] * 2 + [
        "pmpp/ch03-sum"
    ] * 2
    assert "Left out, infrastructure: 1" in done.stderr
    assert "line 2 pmpp/ch02-scale: APIError: 503" in done.stderr
    assert json.loads((two / "report.json").read_text())["left_out"] == [
        {"line": 2, "task_id": "pmpp/ch02-scale", "cause": "infrastructure", "reason": "APIError: 503"},
        {
            "line": 6,
            "task_id": "pmpp/ch03-sum",
            "cause": "surplus",
            "reason": "a problem has 2 usable rollouts, so each has 2",
        },
    ]
    kept = imported(two, two / "results.jsonl", "--uneven")
    assert kept.returncode == 1
    assert len(lines_of(two / "m-solutions.tar.gz")) == 5


@pytest.mark.rest
def test_a_problem_with_errors_alone_is_not_sent_as_missing(two: Path) -> None:
    rows = [row_016(0, "q", CODE, {"task_id": "pmpp/ch02-scale"}), row_016(1, "q", "", {"task_id": "pmpp/ch03-sum"})]
    rows[1]["error"] = "SandboxError"
    done = imported(two, write(two, rows))
    assert done.returncode == 2
    assert "every rollout of 1 problems ended in an infrastructure error (pmpp/ch03-sum)" in done.stderr
    assert not (two / "m-solutions.tar.gz").exists()
    assert imported(two, two / "results.jsonl", "--uneven").returncode == 1


@pytest.mark.rest
def test_a_reply_without_code_is_a_failed_sample_and_an_unknown_name_is_left_out(two: Path) -> None:
    rows = [
        row_016(0, "q", "I cannot.", {"task_id": "pmpp/ch02-scale"}),
        row_016(1, "q", CODE.replace("cuda", "cpp"), {"task_id": "pmpp/ch03-sum"}),
        row_016(2, "q", CODE, {"task_id": "ch99-other"}),
        row_016(3, "q", CODE, {}),
    ]
    done = imported(two, write(two, rows))
    assert done.returncode == 1
    empty, labelled = lines_of(two / "m-solutions.tar.gz")
    assert empty.files == []
    assert labelled.files[0].path == "student_kernel.cu"
    assert "1 samples will fail: The reply holds no file" in done.stderr
    assert "line 3: it names 'ch99-other', which is no problem" in done.stderr
    assert "line 4: neither the row nor its prompt names a problem" in done.stderr


@pytest.mark.rest
def test_key_names_the_column_of_the_problem(two: Path) -> None:
    file = write(two, [row_016(0, "Task: ch02-scale", CODE, {"mine": {"at": "ch03-sum"}})])
    assert imported(two, file, "--key", "info.mine.at").returncode == 0
    assert [one.task_id for one in lines_of(two / "m-solutions.tar.gz")] == ["pmpp/ch03-sum"]


@pytest.mark.rest
def test_nothing_is_written_of_a_file_that_is_none(two: Path) -> None:
    (two / "results.jsonl").write_text('{"reward": 1}\n')
    done = imported(two, two)
    assert done.returncode == 2
    assert "results.jsonl: the line is no rollout" in done.stderr
    assert not (two / "m-solutions.tar.gz").exists()


def test_39_of_159_are_39_of_159_after_import_and_grading(tmp_path: Path) -> None:
    """The rewards of the file are the other way round and decide nothing."""
    numbers = range(53)
    statements = [f"Question {number}: how many warps are in a block of 256 threads?" for number in numbers]
    pack = problem_pack([choice(f"qa-1-{number}", prompt=statements[number]) for number in numbers])
    rows = [
        row_015(at // 3, statements[at % 53], f"Final: {'B' if at < 39 else 'A'}", {"chapter": 1, "exercise": at % 53})
        | {"reward": float(at >= 39)}
        for at in range(159)
    ]
    asked = [of_record(record.problem, is_strict=False) for record in pack.records]
    found = import_rollouts(read_rollouts(write(tmp_path, rows)), asked)
    assert (len(found.samples), found.left_out, set(found.counts.values())) == (159, (), {3})
    problems = {record.problem.task_id: record.problem for record in pack.records}
    settled = [problems[one.solution.task_id].settled(one.solution.files) for one in found.samples]
    assert sum(one is not None and one.passed for one in settled) == 39
