"""`manage.py export_release SLUG PACK`: write a release as a problem pack, problems.jsonl byte for byte as imported.

With `--redacted` it writes what participants may read, one JSON object a line.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from leaderboard.actions.curation import curate
from leaderboard.management.words import as_command_errors, release_named


class Command(BaseCommand):
    help = "Write a release as a problem pack. It holds the held-out tests and references: keep it private."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("pack", metavar="PACK", type=Path)
        parser.add_argument(
            "--redacted",
            action="store_true",
            help="Write JSON lines of what participants may read: no held-out files, references or answers, and no"
            " problem marked do_not_release.",
        )

    def handle(self, *_: Any, slug: str, pack: Path, redacted: bool, **__: Any) -> None:
        with as_command_errors():
            release = release_named(slug)
            with pack.open("wb") as target:
                count = (curate.export_redacted if redacted else curate.export)(None, release, target)
        self.stdout.write(f"{count} problems of {slug} written to {pack}.")
