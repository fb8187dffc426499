"""`manage.py export_release SLUG PACK`: write a release as a problem pack, problems.jsonl byte for byte as imported."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from leaderboard.actions import curate
from leaderboard.management.words import as_command_errors, release_named


class Command(BaseCommand):
    help = "Write a release as a problem pack. It holds the held-out tests and references: keep it private."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("pack", metavar="PACK", type=Path)

    def handle(self, *_: Any, slug: str, pack: Path, **__: Any) -> None:
        with as_command_errors(), pack.open("wb") as target:
            count = curate.export(None, release_named(slug), target)
        self.stdout.write(f"{count} problems of {slug} written to {pack}.")
