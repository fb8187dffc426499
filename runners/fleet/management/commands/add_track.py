"""`manage.py add_track SLUG`: make a track by hand, or with --from-node from the hardware of a node."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.actions.curation.curate import add_track
from leaderboard.management.words import as_command_errors
from runners.fleet.models import Node
from runners.fleet.nodes.enrol import tracks_of


class Command(BaseCommand):
    help = "Make a track: where results are comparable (hardware, toolkit and image policy)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", nargs="?", default="", help="As 'nvidia-h200-cuda13.0' or 'cpu-lab'.")
        parser.add_argument("--from-node", metavar="NODE", help="Make it from this node's hardware, and grant it.")
        parser.add_argument("--title", default="")
        parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
        parser.add_argument("--hardware", default="", help="The GPU or CPU model that a node must have.")
        parser.add_argument("--compute-capability", default="", help="As 9.0, on a GPU track.")
        parser.add_argument("--toolkit", default="", help="CUDA toolkit as 13.0, on a GPU track.")
        parser.add_argument("--image", default="", help="Image digest for Docker nodes.")

    def handle(self, *_: Any, slug: str, from_node: str | None, **options: Any) -> None:
        with as_command_errors():
            made = _from_node(from_node) if from_node else [add_track(None, _fields(slug, options))]
        for track in made:
            self.stdout.write(f"Track {track.slug}: {track.title}.")


def _from_node(slug: str) -> list[Any]:
    node = Node.objects.filter(slug=slug).first()
    if node is None:
        raise CommandError(
            f"There is no node {slug!r}. Nodes: {', '.join(Node.objects.values_list('slug', flat=True))}."
        )
    return tracks_of(None, node)


def _fields(slug: str, options: dict[str, Any]) -> dict[str, str]:
    return {
        "slug": slug,
        "title": options["title"] or slug,
        "device": options["device"],
        "hardware_name": options["hardware"],
        "compute_capability": options["compute_capability"],
        "toolkit": options["toolkit"],
        "image": options["image"],
    }
