"""`manage.py publish_release SLUG`: from then on its problems never change."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from leaderboard.actions import curate
from leaderboard.management.words import as_command_errors, published_words, release_named


class Command(BaseCommand):
    help = "Publish a draft release; from then on its problems never change."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--public", action="store_true", help="Let strangers read statements and visible files.")

        parser.add_argument(
            "--unverified",
            metavar="REASON",
            default="",
            help="Publish it although a problem is not verified; its pages show the reason.",
        )

    def handle(self, *_: Any, slug: str, public: bool, unverified: str, **__: Any) -> None:
        with as_command_errors():
            release = release_named(slug)
            curate.publish(None, release, unverified)
            if public:
                curate.make_public(None, release)
        self.stdout.write(published_words(release))
