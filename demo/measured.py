"""Brings in the releases that were measured elsewhere: track, entrants and results."""

import gzip
import io
import json
from collections.abc import Callable, Collection, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from django.contrib.auth.models import User

from demo.entrants import DemoEntrant, load_entrants
from demo.packs import problems_of
from demo.parts import part_of
from demo.seed_types import BoardName
from leaderboard.actions.curation import curate
from leaderboard.actions.curation.tracks import offer
from leaderboard.imports.import_results import ImportTarget, import_results
from leaderboard.models import Entrant, Track
from leaderboard.standings.rank import rank_touched
from problems.formats.compute_eval.packs import (
    PackRecord,
    ProblemPack,
    write_problem_pack,
)
from problems.formats.graded_rows import GradedRow, read_graded_rows
from problems.models import Release
from problems.spec.digests import grading_digest
from problems.spec.profile import Profile

BOARDS = ("showcase", "functions-gpu", "textbook-gpu", "problem-sets/board")
MEASURED = tuple(Path("examples", name) for name in BOARDS)
"""Releases whose results were measured elsewhere; one without results yet is left out."""
TRACKS = {
    "NVIDIA H200": ("nvidia-h200-cuda13.0", "NVIDIA H200, CUDA 13.0"),
    "NVIDIA H100 80GB HBM3": ("nvidia-h100-cuda13.0", "NVIDIA H100 80 GB, CUDA 13.0"),
}
"""Slug and title of a GPU's track."""
UNVERIFIED = "results measured elsewhere"
"""The reason for publishing the release without a node that could verify it; its pages show this."""
SPLITS_JOBS = True
"""Builds and runs are separate jobs, as on any GPU track: nodes without a GPU may build for those that have one."""


def seed_measured(organiser: User, make_entrant: Callable[[DemoEntrant], Entrant], folder: Path) -> BoardName | None:
    """None where no results are at hand; again changes nothing. Raises Refused or PackRefused.

    A problem is left out while results of any of these entrants are missing or of another content than it has: an
    entrant who lacks one has no full submission, and so no rank.
    """
    results = {path.name.partition(".")[0]: path for path in (folder / "results").glob("*.jsonl.gz")}
    if not results:
        return None
    rows = [[one.row for one in read_graded_rows(path)] for path in results.values()]
    pack = _graded_part(problems_of(folder), rows)
    task_ids = {record.problem.task_id for record in pack.records}
    track = _gpu_track(organiser, (rows[0][0].podium or {})["provenance"]["gpu"])
    release = _release(organiser, track, pack)
    for one in load_entrants(folder / "entrants"):
        if path := results.get(one.slug):
            import_results(
                organiser, ImportTarget(make_entrant(one), release, track), _rows_of(path, task_ids), path.name
            )
    rank_touched()
    return BoardName(release.slug, track.slug)


def _gpu_track(organiser: User, gpu: str) -> Track:
    """The track that the results belong to, added if it is not there yet: they are refused on any other."""
    slug, title = TRACKS[gpu]
    found = Track.objects.filter(slug=slug).first()
    if found is None:
        fields = {"device": "gpu", "hardware_name": gpu, "compute_capability": "9.0", "toolkit": "13.0"}
        found = curate.add_track(organiser, {"slug": slug, "title": title, **fields})
        Track.objects.filter(pk=found.pk).update(splits_jobs=SPLITS_JOBS)
    return found


def _graded_part(pack: ProblemPack, rows: Sequence[Sequence[GradedRow]]) -> ProblemPack:
    """The problems of which each entrant has results that hold; of all of them it is the pack itself."""
    graded = set.intersection(*({row.task_id for row in of_one} for of_one in rows))
    records = {one.problem.task_id: one for one in pack.records}
    changed = {
        row.task_id
        for row in chain.from_iterable(rows)
        if row.task_id in records and not _holds(row, records[row.task_id], pack.profile)
    }
    return part_of(pack, graded - changed)


def _holds(row: GradedRow, record: PackRecord, profile: Profile) -> bool:
    problem = record.problem
    return row.stated_grading_digest(profile) == grading_digest(problem, problem.withheld)


def _rows_of(path: Path, task_ids: Collection[str]) -> BinaryIO:
    """The file's rows of these problems."""
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    return io.BytesIO(b"".join(line for line in lines if json.loads(line)["task_id"] in task_ids))


def as_file(pack: ProblemPack) -> BinaryIO:
    """The pack as a site takes it."""
    file = io.BytesIO()
    write_problem_pack(file, pack.metadata_bytes, pack.jsonl_bytes)
    file.seek(0)
    return file


def _release(organiser: User, track: Track, pack: ProblemPack) -> Release:
    release = curate.import_release(organiser, as_file(pack)).release
    offer(organiser, release, track)
    if release.is_draft:
        curate.make_public(organiser, release)
        curate.publish(organiser, release, UNVERIFIED)
    return release
