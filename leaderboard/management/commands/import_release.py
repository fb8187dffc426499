"""`manage.py import_release PACK|DIR`: make a draft release of a pack or of a folder of problems, line by line."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.actions.curation import curate
from leaderboard.actions.curation.tracks import offer
from leaderboard.management.words import as_command_errors, published_words, tracks_named
from problems.models import Release


class Command(BaseCommand):
    help = "Import a problem pack, or a folder of problem directories, as a draft release."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", metavar="PACK|DIR", type=Path)
        parser.add_argument("--slug", help="The release's address; made from its name when left out.")
        parser.add_argument("--track", action="append", default=[], help="Offer it on this track; repeat for several.")
        parser.add_argument("--public", action="store_true", help="Let strangers read statements and visible files.")
        parser.add_argument("--publish", action="store_true", help="Publish it at once.")
        parser.add_argument(
            "--unverified",
            metavar="REASON",
            default="",
            help="With --publish: why it is published before it is verified; its pages show the reason.",
        )

    def handle(self, *_: Any, source: Path, **options: Any) -> None:
        if not source.exists():
            raise CommandError(f"{source} does not exist. Name a problem pack (.tar.gz) or a folder of problems.")
        with as_command_errors():
            tracks = tracks_named(options["track"])
            report = curate.import_release(None, source, options["slug"])
            self.stdout.write("\n".join(report.lines))
            for track in tracks:
                offer(None, report.release, track)
                self.stdout.write(f"Offered on {track.slug}.")
            self._publish(report.release, options)

    def _publish(self, release: Release, options: dict[str, Any]) -> None:
        if options["public"]:
            curate.make_public(None, release)
        if options["publish"] and release.is_draft:
            curate.publish(None, release, options["unverified"])
            self.stdout.write(published_words(release))
