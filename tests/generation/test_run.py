"""`podium run`: from a scripted model to graded rows."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from problems.formats.compute_eval.packs import write_problem_pack
from tests import packs
from tests.agent.machine import sandbox_name
from tests.evaluate.packs_on_disk import environment, rows_of
from tests.generation.endpoint import Answer, FakeEndpoint, serving
from tests.question_records import choice
from tests.warm_podium import run_podium

pytestmark = pytest.mark.rest


def script(body: dict[str, Any], _before: int) -> Answer:
    """The second sample of the script is wrong, and of the question too."""
    right = body["seed"] % 2 == 0
    return Answer(f"```sh\n# file: solution.sh\nexit {0 if right else 1}\n```\nFinal: {'B' if right else 'A'}")


def ran(folder: Path, fake: FakeEndpoint, *options: str) -> "subprocess.CompletedProcess[str]":
    pack = packs.problem_pack([packs.problem("a/1"), choice()])
    path = folder / "test-1-problems.tar.gz"
    write_problem_pack(path, pack.metadata_bytes, pack.jsonl_bytes)
    arguments = ["run", "lab/model", "--problems", path, "--base-url", fake.url, "--out-dir", folder / "out"]
    arguments += ["--sandbox", sandbox_name(), "-n", "2", "--seed", "0", *options]
    return run_podium([*map(str, arguments)], environment(folder / "var"), folder)


def test_a_model_becomes_graded_rows_and_a_summary(tmp_path: Path) -> None:
    with serving(script) as fake:
        done = ran(tmp_path, fake, "--k", "(1, 2)", "--price-in", "1", "--price-out", "2")
    assert done.returncode == 0, done.stderr
    assert "400 tokens in, 40 out, cost US$ 0.00048" in done.stderr
    assert json.loads(done.stdout)["pass_at_k"] == {"skipped": 0.0, "pass@1": 0.5, "pass@2": 1.0}
    rows = rows_of(tmp_path / "out" / "test-1-lab-model-graded-solutions.jsonl")
    assert sorted(row["podium"]["verdict"] for row in rows) == ["passed", "passed", "test_failed", "wrong_answer"]
    assert "400" in done.stderr, "tokens in"


def test_running_again_asks_and_grades_nothing_twice(tmp_path: Path) -> None:
    with serving(script) as fake:
        assert ran(tmp_path, fake).returncode == 0
        again = ran(tmp_path, fake)
    assert again.returncode == 0, again.stderr
    assert sum(fake.asked.values()) == 4
    assert "has 4 finished rows; going on from there" in again.stderr


def test_an_entrant_without_a_release_is_refused(tmp_path: Path) -> None:
    with serving(script) as fake:
        done = ran(tmp_path, fake, "--entrant", "me")
    assert done.returncode == 2
    assert "--entrant and --release belong together" in done.stderr
    assert not fake.asked
