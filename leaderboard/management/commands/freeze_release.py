"""`manage.py freeze_release SLUG`: a published release takes no more submissions."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from leaderboard.actions.curation import curate
from leaderboard.management.words import as_command_errors, release_named


class Command(BaseCommand):
    help = "Freeze a published release; it takes no more submissions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")

    def handle(self, *_: Any, slug: str, **__: Any) -> None:
        with as_command_errors():
            release = release_named(slug)
            for warning in curate.freezing_warnings(release):
                self.stderr.write(warning)
            curate.freeze(None, release)
        self.stdout.write(f"{slug} is frozen.")
