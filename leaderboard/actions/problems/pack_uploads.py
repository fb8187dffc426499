"""Uploads that are packed on the site: organisers make, retry and remove them, the worker takes and ends them.

The row is the truth: a packing that a worker took is its own while state and attempt stay what they were.
"""

import io
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from leaderboard import blobs
from leaderboard.actions.curation.curate import check_organiser
from leaderboard.errors import Refused
from leaderboard.models import Packing, PackingState
from leaderboard.models.audit import record
from problems.actions.drafts import RELEASE_NAME
from problems.formats.folder_archive import read_folder
from problems.formats.packing_events import Failed, PackingKind

KEPT_FOR = timedelta(days=2)
MOST_KEPT = 50
MOST_LOST = 3
_MARKS = {
    PackingKind.FUNCTIONS: ("def.py", "A folder of function problems has one for each"),
    PackingKind.PMPP: ("Makefile", "Each task has one"),
    PackingKind.KERNELBENCH: (".py", "Each problem is one, with a Model"),
    PackingKind.FLASHINFER: (".json", "Each definition is one, in a folder definitions/"),
    PackingKind.SOL_EXECBENCH: ("definition.json", "Each problem has one"),
    PackingKind.LEETGPU: ("challenge.py", "Each challenge has one"),
}
"""The end of a file's name that an archive of each kind has, and what it is there."""


def upload(user: Any, kind: PackingKind, name: str, content: bytes, release: str, device: str = "gpu") -> Packing:
    """Queue an archive that was looked through. Raises NotAllowed, Refused or PackRefused."""
    check_organiser(user)
    if not RELEASE_NAME.fullmatch(release):
        raise Refused("bad_release", f"{release!r} is no name for a release: use letters, digits, dots and hyphens.")
    if Packing.objects.count() >= MOST_KEPT:
        raise Refused("too_many_uploads", f"{MOST_KEPT} uploads are kept. Remove one that you no longer need.")
    _check_archive(kind, content)
    sha256 = blobs.uploads().put(content)
    with transaction.atomic():
        made = Packing.objects.create(
            kind=kind, device=device, name=name[:200], release=release, archive_sha256=sha256,
            archive_bytes=len(content), made_by=user,
        )  # fmt: skip
        record(user, "upload to pack", made, kind=str(kind), sha256=sha256[:12], bytes=len(content))
    return made


def _check_archive(kind: PackingKind, content: bytes) -> None:
    """The whole archive is read as the packing will read it, so that what is wrong is told at once."""
    names = [PurePosixPath(name).name for name, _ in read_folder(io.BytesIO(content))]
    mark, holds = _MARKS[kind]
    if not any(name == mark or (mark.startswith(".") and name.endswith(mark)) for name in names):
        raise Refused("wrong_kind", f"The archive has no {mark} among its {len(names)} files. {holds}.")


@transaction.atomic
def take() -> Packing | None:
    """The next one, for the worker that calls; None if none waits or one is being packed."""
    if Packing.objects.filter(state=PackingState.PACKING).exists():
        return None
    found = Packing.objects.filter(state=PackingState.QUEUED).order_by("pk").first()
    if found is None or not Packing.objects.filter(pk=found.pk, state=PackingState.QUEUED).update(
        state=PackingState.PACKING, attempt=F("attempt") + 1, lease_expires_at=_lease_end(),
        n_begun=0, n_problems=0, at="", notes=[], faults=[], report=[], code="",
    ):  # fmt: skip
        return None
    found.refresh_from_db()
    return found


def _lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)


def beat(held: Packing) -> bool:
    """Keep the lease and store how far it is. False if the packing is no more the caller's."""
    progress = {name: getattr(held, name) for name in ("n_begun", "n_problems", "at")}
    return bool(_own(held).update(lease_expires_at=_lease_end(), **progress))


def finish(
    held: Packing, pack: bytes, n_problems: int, notes: Sequence[str], report: Sequence[Mapping[str, Any]] = ()
) -> bool:
    """Store the pack; the archive is needed no more. False if the packing is no more the caller's."""
    sha256, archive = blobs.uploads().put(pack), held.archive_sha256
    ended = _own(held).update(
        state=PackingState.DONE, pack_sha256=sha256, archive_sha256="", n_problems=n_problems, n_begun=n_problems,
        notes=list(notes), report=list(report), at="", lease_expires_at=None, ended_at=timezone.now(),
    )  # fmt: skip
    _drop(archive, sha256)
    return bool(ended)


def fail(held: Packing, why: Failed, report: Sequence[Mapping[str, Any]] = ()) -> bool:
    """False if the packing is no more the caller's."""
    return bool(_own(held).update(report=list(report), **_failed(why)))


def _failed(why: Failed) -> dict[str, Any]:
    return {
        "state": PackingState.FAILED, "code": why.code[:40], "at": "", "lease_expires_at": None,
        "faults": [words.replace("\0", "") for words in why.faults], "ended_at": timezone.now(),
    }  # fmt: skip


def give_back(held: Packing) -> bool:
    """Queue it again for another worker: this one ends in good order."""
    return bool(_own(held).update(state=PackingState.QUEUED, lease_expires_at=None, at=""))


def _own(held: Packing) -> Any:
    return Packing.objects.filter(pk=held.pk, state=PackingState.PACKING, attempt=held.attempt)


@transaction.atomic
def retry(user: Any, packing: Packing) -> None:
    """Queue a failed one again. Raises NotAllowed or Refused."""
    check_organiser(user)
    again = Packing.objects.filter(pk=packing.pk, state=PackingState.FAILED).exclude(archive_sha256="")
    if not again.update(state=PackingState.QUEUED, n_lost=0, ended_at=None, faults=[], code=""):
        raise Refused("not_failed", f"{packing} has not failed, so there is nothing to try again.")
    record(user, "pack again", packing)


def remove(user: Any, packing: Packing) -> None:
    """Delete an upload and its files; a worker that packs it stops. Raises NotAllowed."""
    check_organiser(user)
    with transaction.atomic():
        held = Packing.objects.select_for_update().filter(pk=packing.pk).first()
        if held is None:
            return
        record(user, "remove upload", held, state=held.state)
        Packing.objects.filter(pk=held.pk).delete()
    _drop(held.archive_sha256, held.pack_sha256)


def sweep_packings() -> int:
    """Queue what a lost worker held, or fail it after the last attempt; delete what is old. Returns the lost ones."""
    now = timezone.now()
    lost = Packing.objects.filter(state=PackingState.PACKING, lease_expires_at__lt=now)
    again = {"state": PackingState.QUEUED, "n_lost": F("n_lost") + 1, "lease_expires_at": None, "at": ""}
    n = lost.filter(n_lost__lt=MOST_LOST - 1).update(**again)
    words = (
        f"The site's worker ended {MOST_LOST} times while it packed this. Ask the site's operator to look at the"
        " worker's log, and try again."
    )
    n += lost.update(**_failed(Failed(code="worker_lost", faults=[words])))
    _forget(now)
    return n


def _forget(now: datetime) -> None:
    old = Packing.objects.filter(created_at__lt=now - KEPT_FOR).exclude(state=PackingState.PACKING)
    for one in old:
        if Packing.objects.filter(pk=one.pk, state=one.state).delete()[0]:
            _drop(one.archive_sha256, one.pack_sha256)


def _drop(*shas: str) -> None:
    """Delete the files that no upload names."""
    for sha256 in filter(None, shas):
        if not Packing.objects.filter(Q(archive_sha256=sha256) | Q(pack_sha256=sha256)).exists():
            blobs.uploads().delete(sha256)
