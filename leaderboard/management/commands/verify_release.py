"""`manage.py verify_release SLUG --track TRACK`: queue the checks of a release, or say how far they are."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from leaderboard.actions.curation.audit import give_reason, needs_reason
from leaderboard.actions.curation.verify import verify
from leaderboard.curation.verification import missing_lines, traffic_lines, verification_report, verified_lines
from leaderboard.management.words import as_command_errors, release_named, tracks_named


class Command(BaseCommand):
    help = "Have a node run the references, empty solutions and known-bad ones. Run it again to see how far it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--track", required=True, help="A track on which the release is offered.")
        parser.add_argument(
            "--why-it-ranks",
            nargs=2,
            action="append",
            metavar=("PROBLEM", "REASON"),
            default=[],
            help="The public reason why a problem ranks although an answer that does no work passes it.",
        )

    def handle(self, *_: Any, slug: str, track: str, why_it_ranks: list[list[str]], **__: Any) -> None:
        release, (chosen,) = release_named(slug), tracks_named([track])
        problems = {one.task_id: one for one in release.problems.all()}
        for task_id, _reason in why_it_ranks:
            if task_id not in problems:
                raise CommandError(f"{slug} has no problem {task_id!r}.")
        with as_command_errors():
            verify(None, release, chosen)
            with transaction.atomic():
                for task_id, reason in why_it_ranks:
                    if needs_reason(problems[task_id]):
                        give_reason(None, problems[task_id], reason)
                    else:
                        self.stdout.write(f"problem {task_id}: needs no reason now, and none was stored")
        missing = missing_lines(release) or ["Every problem is verified."]
        told = [*verified_lines(release), *traffic_lines(release)]
        lines = [*verification_report(release, chosen).lines, *told, *missing]
        self.stdout.write("\n".join(lines))
