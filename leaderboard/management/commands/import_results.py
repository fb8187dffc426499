"""`manage.py import_results RELEASE GRADED… --entrant NAME --track SLUG`: bring in results measured elsewhere."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.imports.import_results import ImportedResults, ImportTarget, import_results
from leaderboard.management.words import as_command_errors, release_named, tracks_named
from leaderboard.models import Entrant


class Command(BaseCommand):
    help = "Import graded rows of `podium evaluate` (whole or lean) or of ComputeEval; nothing is queued."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("release", metavar="RELEASE")
        parser.add_argument("graded", metavar="GRADED", nargs="+", type=Path, help="JSON lines, gzipped or not.")
        parser.add_argument("--entrant", required=True, help="Whose results they are: the entrant's slug.")
        parser.add_argument("--track", required=True, help="Where they were measured: the track's slug.")

    def handle(self, *_: Any, release: str, graded: list[Path], entrant: str, track: str, **__: Any) -> None:
        place = ImportTarget(_entrant_named(entrant), release_named(release), tracks_named([track])[0])
        for path in graded:
            with as_command_errors(str(path)):
                self.stdout.write(f"{path}: {words_of(import_results(None, place, path, path.name))}")


def _entrant_named(slug: str) -> Entrant:
    found = Entrant.objects.public().filter(slug=slug).first()
    if found is None:
        raise CommandError(f"There is no entrant {slug!r}. Make it on the site or in the admin, then import.")
    return found


def words_of(done: ImportedResults) -> str:
    known = f", {done.n_known} were here already" if done.n_known else ""
    kind = "" if done.submission.is_full else " It is a part of the release: it feeds per-problem rankings only."
    return f"{done.n_stored} results stored as submission #{done.submission.pk}{known}.{kind}"
