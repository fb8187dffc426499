"""Blob collection: deletes the blobs that no row names. Logs of old results count as not named."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import Model, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from leaderboard import blobs
from leaderboard.models import BoardSnapshot, Fingerprint, Measurement, PmppRun, Result, Sample, Trial
from problems.models import Problem, ProblemBlob
from runners.fleet.models import OPEN_TO_REPORTS, Attempt, Job, JobState, SharedBuild

LONGEST_OPEN = timedelta(days=30)
"""An attempt that was leased earlier brings no more reports."""
UNUSED = timedelta(days=30)
"""A shared build that no node has asked for so long goes, too."""
ROWS = 2000
NAMED_BY: Mapping[type[Model], Sequence[str]] = {
    Sample: ["solution_sha256"],
    Trial: ["solution_sha256", "outcome"],
    PmppRun: ["solution_sha256", "outcome"],
    Fingerprint: ["solution_sha256"],
    BoardSnapshot: ["sha256"],
    Problem: ["record_sha256"],
    ProblemBlob: ["sha256"],
    SharedBuild: ["sha256"],
    Result: ["profile", "listing"],
    Measurement: ["calls"],
}
"""Columns whose names hold as long as their rows. `columns` adds those that end earlier."""
_DIGITS = 16
"""Hexadecimal digits of a name that are compared. Two names that share them keep each other's blob."""


@dataclass(frozen=True)
class Collected:
    """The findings of a collection, in blobs and bytes."""

    n_blobs: int
    n_unnamed: int
    n_bytes: int


def collect(*, deletes: bool) -> Collected:
    """Find, and maybe delete, each blob that no row names and that is older than the grace.

    The names are read before the blobs: a blob that is named meanwhile was stored meanwhile, and so is young. Raises
    BlobsUnavailable.
    """
    if deletes:
        SharedBuild.objects.filter(at__lt=timezone.now() - UNUSED).delete()
    before, named, store = timezone.now() - blobs.GRACE, _named(), blobs.store()
    n_blobs = n_unnamed = n_bytes = 0
    for sha256 in store.names():
        n_blobs += 1
        if _is_in(named, sha256):
            continue
        at, size_bytes = store.stored_at(sha256), store.size_bytes(sha256)
        if at is not None and at < before and (not deletes or store.collect(sha256, before)):
            n_unnamed, n_bytes = n_unnamed + 1, n_bytes + size_bytes
    return Collected(n_blobs, n_unnamed, n_bytes)


def columns() -> Iterator[QuerySet[Any]]:
    """The columns with names of blobs. JSON counts with all texts of 64 hexadecimal digits in it."""
    now = timezone.now()
    for model, names in NAMED_BY.items():
        for name in names:
            yield model._base_manager.exclude(**{name: None}).values_list(name, flat=True)
    is_kept = Q(created_at__gt=now - timedelta(days=settings.LOG_DAYS)) if settings.LOG_DAYS else Q()
    steps = Result.objects.filter(is_kept).annotate(text=Cast("steps", TextField()))
    yield steps.filter(text__contains='"sha256"').values_list("steps", flat=True)
    is_open = Q(state__in=OPEN_TO_REPORTS, leased_at__gt=now - LONGEST_OPEN) | Q(ended_at__gt=now - blobs.GRACE)
    yield Attempt.objects.filter(is_open).values_list("uploads", flat=True)
    yield (
        Job.objects.filter(state__in=(JobState.QUEUED, JobState.LEASED))
        .exclude(artefact=None)
        .values_list("artefact", flat=True)
    )


def _named() -> "np.ndarray[Any, np.dtype[np.uint64]]":
    """The beginnings of all names, sorted: 8 bytes for each."""
    found = array("Q")
    for column in columns():
        for value in column.order_by().iterator(chunk_size=ROWS):
            found.extend(int(name[:_DIGITS], 16) for name in names_in(value))
    return np.unique(np.frombuffer(found, dtype=np.uint64)) if found else np.empty(0, np.uint64)


def _is_in(named: "np.ndarray[Any, np.dtype[np.uint64]]", sha256: str) -> bool:
    wanted = np.uint64(int(sha256[:_DIGITS], 16))
    place = int(np.searchsorted(named, wanted))
    return place < len(named) and bool(named[place] == wanted)


def names_in(value: Any) -> Iterator[str]:
    """Each text of 64 hexadecimal digits in a JSON value, keys of objects included."""
    if isinstance(value, str):
        if len(value) == blobs.SHA256_DIGITS and all(letter in "0123456789abcdef" for letter in value):
            yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from names_in(key)
            yield from names_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from names_in(inner)
