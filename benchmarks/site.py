"""A site of a benchmark's own: an empty database in a temporary folder, gone afterwards."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def temporary_site() -> Iterator[Path]:
    """Set Django up on a migrated SQLite database of its own; yields its folder. Once per process."""
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
        for name in ("DATABASE_URL", "PODIUM_BROKER_URL", "PODIUM_BLOB_URL"):
            os.environ.pop(name, None)
        os.environ.update(
            PODIUM_VAR_DIR=folder, PODIUM_SITE_URL="http://127.0.0.1", DJANGO_SETTINGS_MODULE="leaderboard.settings"
        )
        set_up()
        yield Path(folder)


def set_up() -> None:
    """Set Django up, migrate the database and gather static files. Once per process."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
