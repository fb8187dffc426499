"""The attacks on a GPU are whole where there is none: each has a stated end, and it and its honest twin compile."""

import ast
import subprocess
from pathlib import Path

import pytest

from runners.agent.judges.function.subject import COMPILERS
from tests.gpu.attack_sources import ATTACKS, SOURCES, attack
from tests.requirements import requires


def test_it_is_stated_of_every_attack_what_it_must_come_to() -> None:
    files = {path.name for path in SOURCES.iterdir() if path.suffix in (".cu", ".py")}
    assert sorted(files - {"poly.py"}) == ATTACKS


@pytest.mark.rest
@requires("nvcc")
@pytest.mark.parametrize("honest", [False, True], ids=["attack", "twin"])
@pytest.mark.parametrize("file", [one for one in ATTACKS if one.endswith(".cu")])
def test_an_attack_in_cuda_compiles(tmp_path: Path, file: str, honest: bool) -> None:
    (tmp_path / "solution.cu").write_text(attack(file, honest=honest))
    command = [*COMPILERS["cuda"].split(), "-arch=sm_90", "-ptx", "solution.cu"]  # the front end's complaints suffice
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("honest", [False, True], ids=["attack", "twin"])
@pytest.mark.parametrize("file", [one for one in ATTACKS if one.endswith(".py")])
def test_an_attack_in_python_is_one_file_with_a_solution(file: str, honest: bool) -> None:
    parsed = ast.parse(attack(file, honest=honest))
    assert {"solution", "work"} <= {one.name for one in parsed.body if isinstance(one, ast.FunctionDef)}
    assert "poly" not in [one.module for one in parsed.body if isinstance(one, ast.ImportFrom)]
