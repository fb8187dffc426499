"""The composite action: its script runs as GitHub would run it, and inputs never become parts of a script."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.agent.machine import sandbox_name, temporary_folder
from tests.evaluate.packs_on_disk import write_problems
from tests.packs import problem

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOW = yaml.safe_load((ROOT / "examples/github-action/podium.yml").read_text(encoding="utf-8"))


def grading_step() -> dict[str, Any]:
    step: dict[str, Any] = next(one for one in ACTION["runs"]["steps"] if one.get("id") == "evaluate")
    return step


def test_no_script_has_an_expression_in_it() -> None:
    assert all("${{" not in step["run"] for step in ACTION["runs"]["steps"])


def test_the_example_gives_inputs_that_the_action_has() -> None:
    (step,) = [one for one in WORKFLOW["jobs"]["grade"]["steps"] if "/podium@" in one.get("uses", "")]
    required = {name for name, told in ACTION["inputs"].items() if told.get("required")}
    assert required <= step["with"].keys() <= ACTION["inputs"].keys()


@pytest.mark.parametrize(("answer", "status"), [("exit 0", 0), ("exit 1", 4)])
def test_the_script_grades_a_folder_and_reports(answer: str, status: int) -> None:
    with temporary_folder() as name:
        done = ran(Path(name), answer)
        outputs = (Path(name) / "output").read_text(encoding="utf-8")
        assert done.returncode == status, done.stderr
        assert outputs == f"status={status}\njunit=out put/junit.xml\n"
        assert "pass&#64;1" in (Path(name) / "summary").read_text(encoding="utf-8")
        assert (Path(name) / "out put" / "junit.xml").exists()
        assert ("::error file=solutions/a_1/0/solution.sh" in done.stderr) is (status == 4)


def ran(folder: Path, answer: str) -> subprocess.CompletedProcess[str]:
    """Run the step's script in `folder`, with `podium` where the first step installs it."""
    problems = write_problems(folder, [problem("a/1")])
    sample = folder / "solutions" / "a_1" / "0"
    sample.mkdir(parents=True)
    (sample / "solution.sh").write_text(answer)
    program = folder / "podium" / "bin" / "podium"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m podium.cli "$@"\n')
    program.chmod(0o755)
    step = grading_step()
    inputs = {key: told.get("default", "") for key, told in ACTION["inputs"].items()}
    inputs |= {"problems": problems.name, "solutions": "solutions\n\n", "sandbox": sandbox_name()}
    inputs |= {"folder": "out put", "options": "--k\n1"}
    given = {name: inputs[value.split("inputs.")[1].split(" ")[0]] for name, value in step["env"].items()}
    github = {"GITHUB_ACTIONS": "true", "RUNNER_TEMP": str(folder), "PODIUM_VAR_DIR": str(folder / "var")}
    github |= {"GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "summary")}
    whole = {**os.environ, "PYTHONPATH": str(ROOT), **github, **given}
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=folder, env=whole, capture_output=True, text=True, timeout=60, check=False)
