"""`manage.py publish_release SLUG`: from then on its problems never change."""

from argparse import ArgumentParser, ArgumentTypeError
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand

from leaderboard.actions.curation import curate
from leaderboard.management.words import as_command_errors, published_words, release_named
from problems.models import QuestionPolicy


def _time(text: str) -> datetime:
    """Without an offset it is UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no time; write it as 2026-12-31T12:00Z") from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


class Command(BaseCommand):
    help = "Publish a draft release; from then on its problems never change."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--public", action="store_true", help="Let strangers read statements and visible files.")
        parser.add_argument(
            "--questions", choices=QuestionPolicy.values, help="Instead of the policy that the draft has."
        )
        parser.add_argument(
            "--reveals-at",
            metavar="TIME",
            type=_time,
            help="When what rests on sealed questions is shown, as 2026-12-31T12:00Z.",
        )
        parser.add_argument(
            "--unverified",
            metavar="REASON",
            default="",
            help="Publish it although a problem is not verified; its pages show the reason.",
        )

    def handle(self, *_: Any, slug: str, public: bool, unverified: str, **asked: Any) -> None:
        with as_command_errors():
            release = release_named(slug)
            curate.set_question_policy(None, release, asked["questions"], asked["reveals_at"])
            curate.publish(None, release, unverified)
            if public:
                curate.make_public(None, release)
        self.stdout.write(published_words(release))
