"""`manage.py publish_release SLUG`: a draft becomes public property of its submitters and never changes again."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from leaderboard.actions import curate
from leaderboard.management.words import as_command_errors, release_named


class Command(BaseCommand):
    help = "Publish a draft release; from then on its problems never change."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")

    def handle(self, *_: Any, slug: str, **__: Any) -> None:
        with as_command_errors():
            curate.publish(None, release_named(slug))
        self.stdout.write(f"{slug} is published.")
