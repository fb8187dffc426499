"""`podium generate --agentic` and `podium run --agentic` as a user runs them: killed, interrupted and graded."""

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from problems.formats.compute_eval.packs import read_every_solution, read_solution_pack, write_problem_pack
from problems.spec.profile import Profile
from tests import packs
from tests.agent.machine import sandbox_name
from tests.evaluate.packs_on_disk import command, environment, rows_of
from tests.generation.endpoint import Answer, FakeEndpoint, serving
from tests.warm_podium import run_podium

pytestmark = pytest.mark.rest

N_PROBLEMS, N_SAMPLES = 6, 2
N_REPLIES = N_PROBLEMS * N_SAMPLES * 2
BUILD = "sh -n solution.sh && cp solution.sh built"


def mends(body: dict[str, Any], _before: int) -> Answer:
    """A syntax error first, and the right file once the model has seen the error."""
    seen = "Syntax error" in body["messages"][-1]["content"]
    return Answer(f"```sh\n# file: solution.sh\n{'exit 0' if seen else 'if then'}\n```", seconds=0.02)


def problems(folder: Path) -> Path:
    pack = packs.problem_pack([packs.problem(f"a/{n}", build_command=BUILD) for n in range(N_PROBLEMS)])
    path = folder / "test-1-problems.tar.gz"
    write_problem_pack(path, pack.metadata_bytes, pack.jsonl_bytes)
    return path


def started(folder: Path, fake: FakeEndpoint, *arguments: str) -> "subprocess.Popen[str]":
    options = ["--problems", problems(folder), "--base-url", fake.url, "-n", str(N_SAMPLES), "--agentic", "3"]
    options += ["--seed", "1", "--sandbox", sandbox_name(), "--trials", "2"]
    return subprocess.Popen(
        command(*arguments, *options), env=environment(folder / "var"), cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def generate(folder: Path, fake: FakeEndpoint) -> "subprocess.Popen[str]":
    return started(folder, fake, "generate", "--model", "m", "--workers", "3")


def wait_for(condition: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 60
    while not condition() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    """The whole lines of a file of the replies' folder."""
    path = folder / "test-1-m-replies" / name
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("}\n")]


def test_after_kill_9_no_kept_turn_is_asked_and_no_kept_trial_is_run_again(tmp_path: Path) -> None:
    with serving(mends) as fake:
        process = generate(tmp_path, fake)
        wait_for(lambda: len(lines(tmp_path, "trials.jsonl")) >= 7, process)
        process.kill()
        process.communicate()
        kept = len(lines(tmp_path, "replies.jsonl"))
        n_asked = len(fake.bodies)
        last = generate(tmp_path, fake)
        _, said = last.communicate(timeout=60)
    assert last.returncode == 0, said
    assert len(fake.bodies) - n_asked == N_REPLIES - kept
    assert n_asked - kept <= 3, "requests in flight at a kill"
    path = tmp_path / "test-1-m-solutions.tar.gz"
    made = read_every_solution(read_solution_pack(path, path.name, Profile.PODIUM))
    assert {one.files[0].content for one in made} == {"exit 0\n"}  # type: ignore[union-attr]
    assert {len((one.model_extra or {})["turns"]) for one in made} == {2}


def test_an_interrupted_run_says_how_to_go_on(tmp_path: Path) -> None:
    with serving(mends) as fake:
        process = generate(tmp_path, fake)
        wait_for(lambda: len(lines(tmp_path, "trials.jsonl")) >= 3, process)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 3, said
        assert "Interrupted. Every reply is kept" in said
        last = generate(tmp_path, fake)
        _, said = last.communicate(timeout=60)
    assert last.returncode == 0, said
    assert len(fake.bodies) == N_REPLIES


def test_podium_run_grades_what_the_turns_came_to(tmp_path: Path) -> None:
    with serving(mends) as fake:
        done = started(tmp_path, fake, "run", "m", "--out-dir", "out")
        out, said = done.communicate(timeout=120)
    assert done.returncode == 0, said
    assert json.loads(out)["pass_at_k"]["pass@1"] == 1.0
    rows = rows_of(tmp_path / "out" / "test-1-m-graded-solutions.jsonl")
    assert {row["podium"]["verdict"] for row in rows} == {"passed"}
    assert str(100 * N_REPLIES) in said, "tokens of all turns"


def test_a_release_on_a_site_cannot_be_tried_here(tmp_path: Path) -> None:
    arguments = ["--release", "spring", "--model", "m", "--agentic", "2", "--base-url", "http://localhost/v1"]
    ran = run_podium(["generate", *arguments], environment(tmp_path), tmp_path)
    assert ran.returncode == 2
    assert "--agentic tries solutions on this machine and needs the tests: give --problems PACK" in ran.stderr
