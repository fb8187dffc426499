"""A site configured for production passes Django's own deployment checks."""

import os
import subprocess
import sys
from pathlib import Path

OF_THIS_SHELL = ("PODIUM_", "DATABASE_", "DJANGO_")


def test_a_production_configuration_is_clean(tmp_path: Path) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(OF_THIS_SHELL)},
        "PODIUM_VAR_DIR": str(tmp_path),
        "PODIUM_SECRET_KEY": "k3-" + "x7Qw9" * 20,
        "PODIUM_SITE_URL": "https://podium.example.org",
        "PODIUM_ALLOWED_HOSTS": "podium.example.org",
        "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
    }
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    root = Path(__file__).parents[3]
    done = subprocess.run(command, check=False, cwd=root, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
