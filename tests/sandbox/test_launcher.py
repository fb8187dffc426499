"""The launcher runs a script as the interpreter itself would have."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runners.agent.ground.native import default_cache_directory
from runners.agent.sandbox.supervisor import LAUNCHER, build, launcher_for

SCRIPTS = {
    "names": "import sys\nprint(__name__, __file__, sys.argv, sys.path[:2], __builtins__)",
    "empty names": "print(__spec__, __doc__, __package__)",
    "main module": "import sys\nx = 5\nprint(sys.modules['__main__'].x, sorted(vars()))",
    "docstring": '"""About."""\nprint(__doc__)',
    "error": "def f():\n    raise ValueError('bad')\nf()",
    "chained error": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('x') from e",
    "syntax error": "def f(:\n",
    "exit code": "import sys\nsys.exit(3)",
    "exit text": "raise SystemExit('going')",
    "exit none": "raise SystemExit",
    "coding": "# -*- coding: latin-1 -*-\nprint(ascii('\xe9'))",
    "excepthook": "import sys\nsys.excepthook = lambda *a: print('mine', a[0])\n1 / 0",
    "pickled class": "import pickle\nclass C: pass\nprint(type(pickle.loads(pickle.dumps(C()))))",
    "dataclass": "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nprint(P(1))",
    "future": "from __future__ import annotations\ndef f(x: Nope): pass\nprint(f.__annotations__)",
    "at exit": "import atexit\natexit.register(print, 'bye')\nprint('hi')",
    "spawned": (
        "import multiprocessing as m\ndef f(x): return x + 1\n"
        "if __name__ == '__main__':\n    print(m.get_context('spawn').Pool(1).map(f, [1]))"
    ),
}


def run_python(folder: Path, arguments: list[str]) -> tuple[int, str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PODIUM_")}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=clean, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_script_cannot_tell_the_launcher_from_the_interpreter(tmp_path: Path, text: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/script.py").write_bytes(text.encode("latin-1"))
    plain = run_python(tmp_path, ["sub/script.py", "one", "--two"])
    launched = run_python(tmp_path, [str(LAUNCHER), "sub/script.py", "one", "--two"])
    assert launched == comparable(plain, launched)


def comparable(plain: tuple[int, str, str], launched: tuple[int, str, str]) -> tuple[int, str, str]:
    """Addresses of objects differ from run to run."""
    assert "pylaunch" not in launched[1] + launched[2]
    return plain[0], plain[1], plain[2].replace("\r", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["-m", "json.tool", "--help"],
        ["-m", "package", "one"],
        ["-c", "import sys; print(sys.argv, sys.path[0], __name__)", "x"],
    ],
    ids=["library module", "package", "code"],
)
def test_modules_and_code_run_alike(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package/__main__.py").write_text("import sys\nprint(__name__, sys.argv, sys.path[0], __package__)")
    assert run_python(tmp_path, [str(LAUNCHER), *arguments]) == run_python(tmp_path, arguments)


def test_a_missing_script_is_reported_as_by_the_interpreter(tmp_path: Path) -> None:
    assert run_python(tmp_path, [str(LAUNCHER), "none.py"]) == run_python(tmp_path, ["none.py"])


def test_the_launcher_is_compiled_for_the_agent_s_own_python_only(tmp_path: Path) -> None:
    assert launcher_for(Path(sys.executable), tmp_path) == LAUNCHER.name, "where there is no bytecode"
    folder = build(default_cache_directory()).parent
    compiled = launcher_for(Path(sys.executable), folder)
    assert launcher_for(Path("/usr/bin/another-python"), folder) == LAUNCHER.name
    (tmp_path / "script.py").write_text("import sys\nprint(sys.argv, __file__, sys.path[0])\n")
    arguments = ["script.py", "one"]
    assert compiled != LAUNCHER.name
    assert run_python(tmp_path, [str(folder / compiled), *arguments]) == run_python(tmp_path, arguments)
