"""Brings the GPU showcase in: its release, track and entrants, and the results that were measured on a real GPU."""

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

from django.contrib.auth.models import User

from demo.entrants import DemoEntrant, load_entrants
from demo.seed_types import Board
from leaderboard.actions import curate
from leaderboard.actions.import_results import Place, import_results
from leaderboard.actions.rank import rank_touched
from leaderboard.actions.tracks import offer
from leaderboard.models import Entrant, Track
from problems.formats.compute_eval.directory import read_problem_directory
from problems.formats.compute_eval.packs import problem_metadata_for, write_problem_pack
from problems.formats.graded_rows import read_graded_rows
from problems.models import Release

SHOWCASE = Path("examples/showcase")
TRACK = {
    "slug": "nvidia-h200-cuda13.0",
    "title": "NVIDIA H200, CUDA 13.0",
    "device": "gpu",
    "hardware_name": "NVIDIA H200",
    "compute_capability": "9.0",
    "toolkit": "13.0",
}
SPLITS_JOBS = True
"""As on any GPU track: nodes without a GPU may build for those that have one."""


def seed_showcase(
    organiser: User, make_entrant: Callable[[DemoEntrant], Entrant], folder: Path = SHOWCASE
) -> Board | None:
    """None where no results are at hand; again changes nothing. A problem that nobody has results of yet is left out:
    who lacks one has no full submission, and so no rank. Raises Refused or PackRefused.
    """
    results = {path.name.partition(".")[0]: path for path in (folder / "results").glob("*.jsonl.gz")}
    if not results:
        return None
    track = _track(organiser)
    release = _release(organiser, track, _graded_part(folder, results.values()))
    for one in load_entrants(folder / "entrants"):
        if path := results.get(one.slug):
            import_results(organiser, Place(make_entrant(one), release, track), path, path.name)
    rank_touched()
    return Board(release.slug, track.slug)


def _track(organiser: User) -> Track:
    found = Track.objects.filter(slug=TRACK["slug"]).first()
    if found is None:
        found = curate.add_track(organiser, TRACK)
        Track.objects.filter(pk=found.pk).update(splits_jobs=SPLITS_JOBS)
    return found


def _graded_part(folder: Path, results: Iterable[Path]) -> BinaryIO:
    """The pack of the problems that have results; of all of them it is the folder's own."""
    graded = {one.row.task_id for path in results for one in read_graded_rows(path)}
    pack = read_problem_directory(folder)
    lines = {one.problem.task_id: one.line for one in pack.records if one.problem.task_id in graded}
    target = io.BytesIO()
    write_problem_pack(target, problem_metadata_for(pack.metadata, lines.items()), lines.values())
    target.seek(0)
    return target


def _release(organiser: User, track: Track, pack: BinaryIO) -> Release:
    release = curate.import_release(organiser, pack).release
    offer(organiser, release, track)
    if release.is_draft:
        curate.make_public(organiser, release)
        curate.publish(organiser, release)
    return release
