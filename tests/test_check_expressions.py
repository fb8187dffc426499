"""The lint check of modules that use regular expressions."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path("scripts/check_expressions.py")


def _check(root: Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout


def _tree(root: Path, listed: str, **modules: str) -> Path:
    for path, text in {
        "scripts/expressions.toml": listed,
        **{f"{name}/a.py": text for name, text in modules.items()},
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.mark.parametrize(
    "source",
    [
        "import re\n",
        "import os, re\n",
        "import re as x\n",
        "import regex\n",
        "from re import compile\n",
        "from regex import search as find\n",
        "import re._parser\n",
        "def f():\n    import re\n",
        "class A:\n    def f(self):\n        if self:\n            from re import sub\n",
        "x = __import__('re')\n",
        "import importlib\nx = importlib.import_module('regex')\n",
    ],
)
def test_every_import_needs_a_line_of_the_list(tmp_path: Path, source: str) -> None:
    status, said = _check(_tree(tmp_path, "", podium=source))
    assert status == 1
    assert said.startswith("podium/a.py uses regular expressions and is not listed")
    assert _check(_tree(tmp_path, '"podium/a.py" = "names, matched whole"\n', podium=source)) == (0, "")


@pytest.mark.parametrize("source", ["import os\n", "from .re import x\n", "import reprlib\n", "re = 'import re'\n"])
def test_a_line_without_an_import_is_a_fault(tmp_path: Path, source: str) -> None:
    assert _check(_tree(tmp_path, "", scoring=source)) == (0, "")
    status, said = _check(_tree(tmp_path, '"scoring/a.py" = "a reason"\n', scoring=source))
    assert (status, "uses no regular expressions" in said) == (1, True)


def test_a_line_needs_a_reason_and_a_module(tmp_path: Path) -> None:
    status, said = _check(_tree(tmp_path, '"demo/a.py" = " "\n"demo/b.py" = "a reason"\n', demo="import re\n"))
    assert status == 1
    assert "demo/a.py is listed in scripts/expressions.toml without a reason" in said
    assert "demo/b.py is listed in scripts/expressions.toml, but does not exist" in said


def test_tests_and_migrations_are_not_looked_at(tmp_path: Path) -> None:
    root = _tree(tmp_path, "", tests="import re\n", **{"runners/migrations": "import re\n"})
    assert _check(root) == (0, "")


def test_this_repository_holds() -> None:
    assert _check(Path()) == (0, "")
