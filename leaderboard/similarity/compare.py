"""Compares the code of new submissions with that of other entrants, a few submissions at a time."""

from collections.abc import Iterable

import numpy as np
from django.db import transaction
from django.utils import timezone

from leaderboard.models import CodePair, Fingerprint, Sample, Submission
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.similarity.fingerprints import Hashes, hashes_of, own_sketch
from leaderboard.similarity.pairs import LEAST_HASHES, SimilarPair, Sketch, similar_pairs
from leaderboard.submissions.rollouts import READ_BYTES, SampleUnreadable, read_sample
from problems.models import Problem
from problems.spec.kinds import NODE_KINDS
from problems.spec.solution import FileSolution

SUBMISSIONS_A_TURN = 5
MAX_PAIRS = 500
"""Stored for one problem."""
_NOT_COMPARED = (EntrantKind.SYSTEM, EntrantKind.BASELINE)


def compare_new(limit: int = SUBMISSIONS_A_TURN) -> int:
    """Compare the oldest submissions that are not compared yet. Returns their number. Raises BlobsUnavailable."""
    waiting = list(Submission.objects.filter(compared_at=None).select_related("entrant").order_by("pk")[:limit])
    for submission in waiting:
        compare(submission)
    return len(waiting)


def compare(submission: Submission) -> None:
    """Store the fingerprints of its samples, and the pairs that they form with those of other entrants."""
    samples = submission.samples.exclude(solution_sha256="").filter(
        problem__kind__in=NODE_KINDS, solution_bytes__lte=READ_BYTES
    )
    by_problem: dict[int, list[Sample]] = {}
    if submission.entrant.kind not in _NOT_COMPARED:
        for sample in samples:
            by_problem.setdefault(sample.problem_id, []).append(sample)
    for problem in Problem.objects.filter(pk__in=by_problem).select_related("release"):
        _compare(problem, submission.entrant_id, by_problem[problem.pk])
    Submission.objects.filter(pk=submission.pk).update(compared_at=timezone.now())


def _compare(problem: Problem, entrant_id: int, samples: Iterable[Sample]) -> None:
    own = Fingerprint.objects.filter(problem=problem, entrant=entrant_id)
    known = set(own.values_list("solution_sha256", flat=True))
    given = _given(problem)
    new: list[Fingerprint] = []
    for sample in samples:
        if sample.solution_sha256 not in known:
            known.add(sample.solution_sha256)
            hashes = _sketch(sample, given)
            if len(hashes) >= LEAST_HASHES:
                new.append(_fingerprint(problem, entrant_id, sample, hashes))
    if new:
        with transaction.atomic():  # after the blobs are read: SQLite has one writer at a time
            Fingerprint.objects.bulk_create(new, ignore_conflicts=True)
            _store(problem, similar_pairs(_sketches(problem), {one.sample_id for one in new}))


def _fingerprint(problem: Problem, entrant_id: int, sample: Sample, hashes: Hashes) -> Fingerprint:
    return Fingerprint(
        sample=sample, problem=problem, entrant_id=entrant_id, solution_sha256=sample.solution_sha256,
        hashes=hashes.astype("<u8").tobytes(),
    )  # fmt: skip


def _sketches(problem: Problem) -> list[Sketch]:
    rows = Fingerprint.objects.filter(problem=problem).order_by("-sample_id")
    return [
        Sketch(sample_id, entrant_id, np.frombuffer(bytes(hashes), dtype="<u8").astype(np.uint64))
        for sample_id, entrant_id, hashes in rows.values_list("sample_id", "entrant_id", "hashes").iterator(5000)
    ]


def _given(problem: Problem) -> Hashes:
    """The code that every contestant may have from the problem: its files, starters and reference."""
    record = problem.spec
    files = [one.file for one in record.files] + [file for starter in record.starters.values() for file in starter]
    if isinstance(record.reference, FileSolution):
        files += record.reference.files
    return hashes_of(files)


def _sketch(sample: Sample, given: Hashes) -> Hashes:
    try:
        return own_sketch(read_sample(sample).files, given)
    except SampleUnreadable:
        return np.array([], dtype=np.uint64)


def _store(problem: Problem, pairs: Iterable[SimilarPair]) -> None:
    """Store each pair of entrants once, with its most similar samples."""
    stored = {
        (one.entrant_id, one.other_entrant_id): one
        for one in CodePair.objects.select_for_update().filter(problem=problem)
    }
    for found in pairs:
        place = (found.one.entrant_id, found.other.entrant_id)
        row = stored.get(place)
        if row is None and len(stored) >= MAX_PAIRS:
            continue
        row = row or CodePair(problem=problem, entrant_id=place[0], other_entrant_id=place[1], similarity=0.0)
        if found.similarity > row.similarity:
            row.sample_id, row.other_sample_id = found.one.sample_id, found.other.sample_id
            row.similarity, row.found_at = found.similarity, timezone.now()
            row.save()
        stored[place] = row
