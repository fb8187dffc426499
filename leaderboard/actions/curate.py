"""Curate releases and tracks: each change writes its audit entry. `user` None is the site's own shell."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from django.db import transaction

from leaderboard.actions.errors import Conflict, NotAllowed, Refused
from leaderboard.models import Track
from leaderboard.models.audit import record
from problems.actions import releases
from problems.actions.releases import ImportReport
from problems.formats.compute_eval.directory import read_problem_directory
from problems.formats.compute_eval.packs import ProblemPack, read_problem_pack
from problems.models import Release


def _check(user: Any) -> None:
    if user is not None and not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser curates releases.")


def _read(source: Path | BinaryIO) -> ProblemPack:
    if isinstance(source, Path) and source.is_dir():
        return read_problem_directory(source)
    return read_problem_pack(source)


@transaction.atomic
def import_release(user: Any, source: Path | BinaryIO, slug: str | None = None) -> ImportReport:
    """Make a draft of a pack, or of a folder of problems. Raises NotAllowed, PackRefused or ReleaseRefused."""
    _check(user)
    report = releases.import_release(_read(source), slug)
    if report.created:
        record(user, "import", report.release, digest=report.release.digest[:12], changed=len(report.changed))
    return report


@transaction.atomic
def publish(user: Any, release: Release) -> None:
    """Draft to published; from here on its content never changes. Raises NotAllowed or ReleaseRefused."""
    _check(user)
    releases.publish(release)
    record(user, "publish", release, digest=release.digest[:12])


@transaction.atomic
def freeze(user: Any, release: Release) -> None:
    """Published to frozen; it takes no more submissions. Raises NotAllowed or ReleaseRefused."""
    _check(user)
    releases.freeze(release)
    record(user, "freeze", release)


def export(user: Any, release: Release, target: BinaryIO) -> int:
    """Write the problem pack, held-out files included; returns the problem count. Raises NotAllowed."""
    _check(user)
    count = releases.export_release(release, target)
    record(user, "export", release, problems=count)
    return count


@transaction.atomic
def make_public(user: Any, release: Release) -> None:
    """Let strangers read statements and visible files, once it is published. Raises NotAllowed."""
    _check(user)
    if Release.objects.filter(pk=release.pk, is_public=False).update(is_public=True):
        record(user, "make public", release)
    release.refresh_from_db()


_TRACK_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]*")
_VERSION = re.compile(r"\d+\.\d+")


@transaction.atomic
def add_track(user: Any, fields: Mapping[str, str]) -> Track:
    """A track by hand; `fields` are the model's. Raises NotAllowed, Refused or Conflict."""
    _check(user)
    slug = fields["slug"]
    if not _TRACK_SLUG.fullmatch(slug):
        raise Refused("bad_slug", f"{slug!r} is no track name; use lower-case letters, digits, dots and hyphens.")
    if Track.objects.filter(slug=slug).exists():
        raise Conflict("track_exists", f"Track {slug!r} is here already.")
    versions = (fields["compute_capability"], fields["toolkit"])
    if fields["device"] == "gpu" and not all(map(_VERSION.fullmatch, versions)):
        raise Refused(
            "versions_needed", "A GPU track needs its compute capability (as 9.0) and CUDA toolkit (as 13.0)."
        )
    track = Track.objects.create(**fields)
    record(user, "add", track)
    return track
