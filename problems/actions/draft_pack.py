"""What every change of a draft begins and ends with: its row is locked, and its pack follows its problems."""

from problems.actions.releases import ReleaseRefused
from problems.formats.compute_eval.packs import problem_metadata_for
from problems.models import PROMISES, RANKING_FIELDS, Release
from problems.spec.digests import pack_digest
from problems.spec.pack import parse_problem_metadata


def held_draft(release: Release) -> Release:
    """The draft's row, locked until the transaction ends. Raises ReleaseRefused if it is no draft."""
    held = Release.objects.select_for_update().get(pk=release.pk)
    if not held.is_draft:
        raise ReleaseRefused(
            f"{held.slug} is {held.state}: its problems never change. Start its next revision, and edit that."
        )
    return held


def rewrite_pack(release: Release) -> None:
    """Make the digest and the pack's metadata those of the draft's problems as they are now."""
    rows = [
        (name, bytes(line)) for name, line in release.problems.order_by("position").values_list("task_id", "record")
    ]
    metadata = parse_problem_metadata(release.pack_metadata.encode()).model_copy(
        update={name: getattr(release, name) for name in ("title", "description", *RANKING_FIELDS, *PROMISES)}
    )
    release.digest = pack_digest(b"".join(line for _, line in rows))
    release.pack_metadata = problem_metadata_for(metadata, rows).to_bytes().decode()
    release.save(update_fields=["digest", "pack_metadata"])
