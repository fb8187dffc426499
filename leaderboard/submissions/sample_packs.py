"""Stored samples as solutions packs."""

import io
from collections.abc import Sequence

from leaderboard import blobs
from problems.formats.compute_eval.packs import write_solution_pack
from problems.models import Release
from problems.spec.pack import SolutionPackMetadata
from problems.spec.profile import Profile


def pack_of(release: Release, sha256s: Sequence[str]) -> bytes:
    """The records of these blobs as a pack of the release. Raises BlobMissing or BlobsUnavailable."""
    lines = [blobs.read(sha256) for sha256 in sha256s]
    return packed(release, lines)


def packed(release: Release, lines: Sequence[bytes]) -> bytes:
    """These records, one JSON line each, as a pack of the release."""
    metadata = SolutionPackMetadata.model_validate(
        {"release": release.datapack_release, "total_count": len(lines), "groups": None},
        context={"profile": Profile(release.profile)},
    )
    target = io.BytesIO()
    write_solution_pack(target, metadata, lines)
    return target.getvalue()
