"""The base install is the client: what needs a node's packages says so, and the rest works."""

import subprocess
import sys

WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("docker", "celery", "django"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from podium.cli import main
sys.argv[0] = "podium"
main()
"""


def podium(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, check=False)


def test_a_command_of_the_node_s_names_what_to_install() -> None:
    ran = podium("evaluate", "--problems", "x", "y")
    assert ran.returncode == 2
    assert "pip install 'podium[node]'" in ran.stderr


def test_the_client_s_commands_are_there() -> None:
    ran = podium("--help")
    assert ran.returncode == 0
    assert all(name in ran.stdout for name in ("submit", "check", "watch", "evaluate"))
    assert podium("check", "--help").returncode == 0
