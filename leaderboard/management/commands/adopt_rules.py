"""`manage.py adopt_rules RELEASE --reason …`: rank a release by the newest rules, however large it is."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.actions.curation.adopt_rules import adopt_rules
from leaderboard.errors import Refused
from problems.actions.releases import ReleaseRefused
from problems.models import Release


class Command(BaseCommand):
    help = "Rank a release by the newest rules from now on. Its pages show the reason."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("release", help="slug of the release")
        parser.add_argument("--reason", required=True)

    def handle(self, *_: Any, release: str, reason: str, **__: Any) -> None:
        try:
            found = Release.objects.get(slug=release)
            adopt_rules(None, found, reason, most_scores=sys.maxsize)
        except Release.DoesNotExist as missing:
            raise CommandError(f"No release has the slug {release!r}.") from missing
        except (Refused, ReleaseRefused) as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(f"{release} is ranked by rules {found.rules} from now on.")
