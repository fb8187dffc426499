"""The site's commands: `podium-site COMMAND` where Podium is installed, `manage.py COMMAND` in a checkout."""

import os
import sys

from runners.wire.extras import how_to_install


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    try:
        from django.core.management import execute_from_command_line
    except ModuleNotFoundError:
        sys.exit(f"The site's packages are not installed: {how_to_install('site')}")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
