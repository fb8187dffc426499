"""`manage.py collect_blobs`: how much of the blob store no row names; with `--delete`, without it from then on."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard import blobs
from leaderboard.site import numerals
from runners.fleet.worker.collect import collect


class Command(BaseCommand):
    help = (
        "Count the blobs that no row names and that are older than two days. Logs past PODIUM_LOG_DAYS are among them."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--delete", action="store_true", help="Delete them. Make a backup before.")

    def handle(self, *_: Any, delete: bool, **__: Any) -> None:
        try:
            found = collect(deletes=delete)
        except blobs.BlobsUnavailable as away:
            raise CommandError(away.message) from None
        done = "deleted" if delete else "would be deleted with --delete"
        self.stdout.write(f"{found.n_unnamed} of {found.n_blobs} blobs, {numerals.size(found.n_bytes)}, {done}.")
