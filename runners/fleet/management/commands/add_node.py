"""`manage.py add_node SLUG --track T`: enrol a node and print its token, once."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from leaderboard.management.words import as_command_errors, tracks_named
from runners.fleet.nodes.enrol import add_node
from runners.fleet.nodes.start_lines import notes, start_lines
from runners.wire.protocol import Stage


class Command(BaseCommand):
    help = "Enrol a node and print its token, once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="The node's name, as 'gpu-1'.")
        parser.add_argument("--title", default="")
        parser.add_argument("--track", action="append", default=[], help="A track it may serve; repeat for several.")
        parser.add_argument(
            "--stage",
            action="append",
            choices=[stage.value for stage in Stage],
            help="Stages of them; `both` when left out.",
        )
        parser.add_argument("--token-only", action="store_true", help="Print nothing but the token, for scripts.")

    def handle(self, *_: Any, slug: str, **options: Any) -> None:
        stages = [Stage(name) for name in options["stage"] or [Stage.BOTH]]
        with as_command_errors():
            node, secret = add_node(None, slug, tracks_named(options["track"]), stages, options["title"])
        if options["token_only"]:
            self.stdout.write(secret)
            return
        self.stdout.write(f"Node {node.slug} is enrolled. Start its agent so; the token is not shown again:")
        self.stdout.write("\n".join([*start_lines(node.slug, secret), *notes()]))
