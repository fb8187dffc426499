"""A checkout of ComputeEval in small: problems made here, and an evaluator that says what a test wants of it."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from problems.formats.compute_eval.packs import write_problem_pack
from tests.packs import problem, problem_pack

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
RELEASE = "2026-1"
EVALUATION = """
import json, os
import openai
def evaluate_functional_correctness(**given):
    print("grades", os.environ["CUPTI_PROFILER_LIB"])
    {body}
"""
GRADES = """
    name = os.path.basename(given["solutions_datapack"]).replace("-solutions.tar.gz", "-graded-solutions.jsonl")
    with open(name, "w") as file:
        row = {"task_id": "t/0", "passed": True, "solution_time": 10.0, "n_workers": given["n_workers"]}
        file.write(json.dumps(row) + "\\n")
"""
HANGS = """
    import threading
    threading.Event().wait()
"""


def make_checkout(folder: Path, problems: Sequence[dict[str, Any]], evaluation: str = GRADES) -> Path:
    releases, package = folder / "data" / "releases", folder / "compute_eval"
    for one in (releases, package / "data", package / "cuda_tools"):
        one.mkdir(parents=True)
    pack = problem_pack(problems, RELEASE)
    write_problem_pack(releases / f"{RELEASE}-problems.tar.gz", pack.metadata_bytes, pack.jsonl_bytes)
    (package / "__init__.py").write_text("")
    (package / "data" / "__init__.py").write_text("")
    (package / "data" / "data_model.py").write_text("ReleaseVersion = str\n")
    (package / "evaluation.py").write_text(EVALUATION.replace("{body}", evaluation.strip()))
    (package / "cuda_tools" / "Makefile").write_text(
        "TARGET := here.so\nall: $(TARGET)\n$(TARGET):\n\techo made > $@\n"
    )
    return folder


def some_problems(number: int) -> list[dict[str, Any]]:
    return [problem(f"t/{index}", build_command=f": {index}") for index in range(number)]
