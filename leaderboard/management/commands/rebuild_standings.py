"""`manage.py rebuild_standings [--check]`: recompute every score from results and decisions, or prove them equal."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.standings import rank


class Command(BaseCommand):
    help = "Recompute aggregates and standings. With --check nothing is stored and any difference is an error."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true")

    def handle(self, *_: Any, check: bool, **__: Any) -> None:
        differences = rank.rebuild(check)
        self.stdout.write("\n".join(differences) or "Stored equals recomputed.")
        if differences and check:
            raise CommandError(f"{len(differences)} stored rows differ from the recomputed. Run it without --check.")
