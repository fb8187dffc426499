"""The environment in examples/ runs with the real verifiers against a scripted model: rewards are verdicts, faults none."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.agent.machine import sandbox_name, temporary_folder
from tests.evaluate.packs_on_disk import write_problems
from tests.generation.endpoint import Answer, serving
from tests.packs import problem
from tests.question_records import choice
from tests.requirements import VERIFIERS_PYTHON, requires

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / "examples" / "verifiers-environment"
BROKEN = """#!/bin/sh
[ "$2" = tasks ] && exec "$(dirname "$0")/podium" "$@"
echo '{"ready": true}'
read -r line
echo '{"id": 0, "fault": "the node is away"}'
"""


def model(body: dict[str, Any], _before: int) -> Answer:
    """Knows the answer to the question, solves one problem, and does not know the other one."""
    asked = body["messages"][-1]["content"]
    if "How many warps" in asked:
        return Answer("Eight, so\nFinal: B")
    return Answer("```sh\n# file: solution.sh\nexit 0\n```" if "(a/right)" in asked else "I do not know.")


def program(folder: Path) -> Path:
    """`podium` as an environment of its own has it."""
    path = folder / "podium"
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m podium.cli "$@"\n')
    (folder / "broken").write_text(BROKEN)
    for one in (path, folder / "broken"):
        one.chmod(0o755)
    return path


def evaluated(folder: Path, podium: str, *options: str) -> list[dict[str, Any]]:
    """The traces of a run of `vf-eval` over the three problems."""
    shell = {"starter": [{"path": "solution.sh", "content": "exit 1\n"}]}
    problems = write_problems(folder, [problem("a/right", podium=shell), problem("a/wrong", podium=shell), choice()])
    program(folder)
    settings = {"problems": problems, "sandbox": sandbox_name(), "podium": folder / podium}
    words = [word for name, value in settings.items() for word in (f"--env.taskset.task.{name}", str(value))]
    with serving(model) as endpoint:
        words += ["--client.base-url", endpoint.url, "--client.api-key-var", "NO_KEY", "-m", "scripted"]
        words += ["--env.agent.runtime.type", "subprocess", "--no-push", "--no-rich", "-o", str(folder / "outputs")]
        run(folder, [str(Path(VERIFIERS_PYTHON).parent / "vf-eval"), "podium-environment", *words, *options])
    (file,) = (folder / "outputs").glob("*/traces.jsonl")
    return [trace for line in file.read_text().splitlines() for trace in json.loads(line)["traces"]]


def run(folder: Path, command: Sequence[str]) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ENVIRONMENT), "PODIUM_VAR_DIR": str(folder / "var"), "HOME": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@requires("verifiers")
def test_the_reward_is_the_verdict_and_the_run_can_be_imported() -> None:
    with temporary_folder() as name:
        folder = Path(name)
        traces = evaluated(folder, "podium", "-r", "2")
        rewards = sorted((one["task"]["key"], one["rewards"]["passed"]["score"]) for one in traces)
        expected = [("a/right", 1.0), ("a/wrong", 0.0), ("qa-1-warps", 1.0)]
        assert rewards == sorted(expected * 2)
        assert all(one["ok"] for one in traces)
        (run_folder,) = (folder / "outputs").iterdir()
        packs = ["--problems", str(folder / "test-1-problems.tar.gz"), "--out", str(folder / "m-solutions.tar.gz")]
        run(folder, [str(folder / "podium"), "verifiers", "import", str(run_folder), *packs])


@requires("verifiers")
def test_a_fault_is_an_error_without_a_reward() -> None:
    """The judge answers one reply by a fault and ends; neither that one nor the others get a reward of zero."""
    with temporary_folder() as name:
        traces = evaluated(Path(name), "broken")
        assert [(one["ok"], one["rewards"]) for one in traces] == [(False, {"passed": None})] * 3
        said = {one["errors"][0]["message"] for one in traces}
        assert any("NoVerdict: the node is away" in words for words in said)
        assert all("NoVerdict" in words for words in said)
