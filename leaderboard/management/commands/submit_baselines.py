"""`manage.py submit_baselines SLUG --track TRACK`: have a node measure a release's own solutions for its board."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from leaderboard.actions.curation.baselines import submit_baselines
from leaderboard.management.words import as_command_errors, release_named, tracks_named


class Command(BaseCommand):
    help = "Queue each problem's reference, and what else it has of torch.compile's and the author's fast solutions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--track", required=True, help="A track on which the release is offered.")

    def handle(self, *_: Any, slug: str, track: str, **__: Any) -> None:
        release, (chosen,) = release_named(slug), tracks_named([track])
        with as_command_errors():
            made = submit_baselines(None, release, chosen)
        self.stdout.write("\n".join(f"#{one.pk} {one.entrant}: {one.samples.count()} samples" for one in made))
