"""The base install is the client: what needs a node's packages says so, and the rest works."""

import subprocess
import sys

import pytest

WITHOUT = """
import sys
class Hiding:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("docker", "celery", "django"):
            return None
        return self.finder.find_spec(name, path, target)
sys.meta_path[:] = map(Hiding, sys.meta_path)
from podium.cli import main
sys.argv[0] = "podium"
main()
"""


def podium(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [("evaluate", "--problems", "x", "y"), ("node",), ("prepare",)])
def test_a_command_of_the_node_s_names_what_to_install(arguments: tuple[str, ...]) -> None:
    ran = podium(*arguments)
    assert ran.returncode == 2
    assert "pip install 'dist/podium-….whl[node]', with the wheel that `make dist` makes" in ran.stderr


def test_the_client_s_commands_are_there() -> None:
    ran = podium("--help")
    assert ran.returncode == 0
    assert all(name in ran.stdout for name in ("submit", "check", "watch", "evaluate"))
    assert podium("check", "--help").returncode == 0


def test_evaluate_starts_without_what_only_others_need() -> None:
    code = (
        "import sys; from podium.cli import make_app; make_app('evaluate');"
        "print({'requests', 'docker', 'numpy', 'celery', 'django'} & sys.modules.keys())"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"
