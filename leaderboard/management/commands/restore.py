"""`manage.py restore FOLDER`: the site as it was when the backup was made."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from leaderboard.blobs import BlobsUnavailable
from leaderboard.site.backups import BackupFailed, backups_in, restore


class Command(BaseCommand):
    help = "Restore database, blobs and signing key from a backup, or from the newest in a folder. Stop the site first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--replace", action="store_true", help="Lose what the database holds now.")

    def handle(self, *_: Any, folder: Path, replace: bool, **__: Any) -> None:
        backup = next(reversed(backups_in(folder)), folder)
        try:
            manifest = restore(backup, replace)
        except (BackupFailed, BlobsUnavailable, OSError) as failed:
            raise CommandError(str(failed)) from None
        call_command("migrate", interactive=False, verbosity=0)
        self.stdout.write(
            f"Restored {backup}, made {manifest.at} by Podium {manifest.podium}. Start site, worker, nodes: what nodes"
            " did since is done again. `manage.py rebuild_standings --check` shows whether the standings are whole."
        )
