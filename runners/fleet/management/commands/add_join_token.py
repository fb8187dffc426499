"""`manage.py add_join_token NAME --track T`: make a token by which machines join as nodes, and print it, once."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from leaderboard.management.words import as_command_errors, tracks_named
from runners.fleet.nodes.joining import make_token
from runners.wire.protocol import Stage


class Command(BaseCommand):
    help = "Make a join token and print it, once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="Results of its nodes show it, as 'slurm-cluster'.")
        parser.add_argument("--track", action="append", default=[], help="A track of its nodes; repeat for several.")
        parser.add_argument(
            "--stage", action="append", choices=[stage.value for stage in Stage], help="Stages; `both` when left out."
        )
        parser.add_argument("--nodes", type=int, default=10, help="Most nodes in service at once.")
        parser.add_argument("--days", type=float, default=7.0, help="Days until it ends, at most 30.")
        parser.add_argument(
            "--judged-again", type=float, default=0.02, help="Share of evaluations that another node judges again."
        )

    def handle(self, *_: Any, name: str, **options: Any) -> None:
        stages = [Stage(one) for one in options["stage"] or [Stage.BOTH]]
        expires_at = timezone.now() + timedelta(days=options["days"])
        tracks = tracks_named(options["track"])
        with as_command_errors():
            made = make_token(None, name, tracks, stages, options["nodes"], expires_at, options["judged_again"])
        self.stdout.write(f"podium node --join {made[1]}")
