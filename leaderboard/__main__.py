"""The site's commands: `podium-site COMMAND` where Podium is installed, `manage.py COMMAND` in a checkout."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    try:
        from django.core.management import execute_from_command_line
    except ModuleNotFoundError:
        sys.exit("The site's packages are not installed: pip install 'podium[site]'")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
