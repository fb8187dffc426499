"""Stored samples as solutions packs."""

import io
from collections.abc import Sequence

from leaderboard import blobs
from leaderboard.visibility import SubmissionView
from problems.formats.compute_eval.packs import write_solution_pack
from problems.models import Release
from problems.spec.pack import SolutionPackMetadata
from problems.spec.profile import Profile
from problems.spec.transcript import declared_alone


def pack_of(release: Release, sha256s: Sequence[str], view: SubmissionView) -> bytes:
    """The records of these blobs as a pack of the release, as the view tells them. Raises BlobMissing or
    BlobsUnavailable."""
    records = (blobs.read(sha256) for sha256 in sha256s)
    return packed(release, [record if view.transcripts else declared_alone(record) for record in records])


def packed(release: Release, lines: Sequence[bytes]) -> bytes:
    """These records, one JSON line each, as a pack of the release."""
    metadata = SolutionPackMetadata.model_validate(
        {"release": release.datapack_release, "total_count": len(lines), "groups": None},
        context={"profile": Profile(release.profile)},
    )
    target = io.BytesIO()
    write_solution_pack(target, metadata, lines)
    return target.getvalue()
