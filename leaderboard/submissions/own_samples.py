"""All samples of a person's entrants as JSON lines, read in chunks: a download that needs little memory."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from leaderboard import blobs
from leaderboard.models import Entrant, Evaluation, Sample
from leaderboard.visibility import told_verdict

CHUNK_ROWS = 200
MAX_LINES = 50_000
"""Limit of lines per download. Its last line then says where the next one begins."""


def samples_of(user: Any, *, entrant: str = "", release: str = "", after: int = 0) -> "QuerySet[Sample]":
    """The samples of the entrants for which the user may submit, by id, after the one with this id."""
    rows = Sample.objects.filter(submission__entrant__in=Entrant.objects.submittable_by(user), pk__gt=after)
    if entrant:
        rows = rows.filter(submission__entrant__slug=entrant)
    if release:
        rows = rows.filter(submission__release__slug=release)
    return rows.select_related("submission__entrant", "submission__release", "problem").defer("problem__record")


def sample_lines(user: Any, rows: "QuerySet[Sample]", limit: int = MAX_LINES) -> Iterator[bytes]:
    """One JSON object a line, each with its record as it was sent. Raises BlobsUnavailable."""
    found = rows.order_by("pk")[:limit].iterator(chunk_size=CHUNK_ROWS)
    n, last = 0, 0
    while chunk := list(islice(found, CHUNK_ROWS)):
        verdicts = _verdicts(user, chunk)
        for one in chunk:
            n, last = n + 1, one.pk
            yield _line(one, verdicts.get(one.pk, {}))
    if n == limit:
        yield json.dumps({"more": f"?after={last}"}).encode() + b"\n"


def _verdicts(user: Any, chunk: Sequence[Sample]) -> Mapping[int, dict[str, str]]:
    """Verdict or state by sample and track. One query."""
    rows = Evaluation.objects.live().filter(sample__in=[one.pk for one in chunk]).annotate(told=told_verdict(user))
    found: dict[int, dict[str, str]] = {}
    for sample_id, track, verdict, state in rows.values_list("sample_id", "track__slug", "told", "state"):
        found.setdefault(sample_id, {})[track] = verdict or state
    return found


def _line(one: Sample, verdicts: Mapping[str, str]) -> bytes:
    facts = {
        "id": one.pk,
        "submission": one.submission_id,
        "entrant": one.submission.entrant.slug,
        "release": one.submission.release.slug,
        "task_id": one.problem.task_id,
        "sample": one.index,
        "submitted_at": one.submission.created_at.isoformat(),
        "verdicts": verdicts,
        "invalid_reason": one.invalid_reason,
    }
    head = json.dumps(facts, ensure_ascii=False).encode()
    return head[:-1] + b', "record": ' + _record(one) + b"}\n"


def _record(one: Sample) -> bytes:
    """The record's own bytes: one line of JSON."""
    if not one.solution_sha256:
        return b"null"
    try:
        return blobs.read(one.solution_sha256).strip() or b"null"
    except blobs.BlobMissing:
        return b"null"
