"""`manage.py backup FOLDER`: a copy of database, blobs and key, while the site runs."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.blobs import BlobsUnavailable
from leaderboard.site.backups import BackupFailed, back_up

KEEP = 14


class Command(BaseCommand):
    help = "Copy database, blobs and signing key into a folder. Blobs that it has from before are not copied again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--keep", type=int, default=KEEP, help="How many backups stay; default %(default)s.")

    def handle(self, *_: Any, folder: Path, keep: int, **__: Any) -> None:
        if keep < 1:
            raise CommandError("--keep must be at least 1: the backup that is made now.")
        try:
            made, n_new = back_up(folder, keep)
        except (BackupFailed, BlobsUnavailable, OSError) as failed:
            raise CommandError(str(failed)) from None
        self.stdout.write(
            f"{made}, with {n_new} blobs that were new. It holds the site's key: keep it as secret as that."
        )
