"""Import graded rows: an organiser's audited act that brings in results measured elsewhere. It queues nothing."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from django.db import transaction

from leaderboard.actions.curation.tracks import note_peaks
from leaderboard.errors import Conflict, NotAllowed
from leaderboard.imports.graded_reports import report_of
from leaderboard.imports.graded_rows import Matched, match
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.intake.submission_rules import check_is_open, check_tracks
from leaderboard.models import Entrant, Evaluation, EvaluationState, Result, Submission, Track
from leaderboard.models.audit import record
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.models.submissions.submission import IMPORT
from leaderboard.results.measured import where_measured
from leaderboard.rows.evaluations import make_evaluations
from leaderboard.rows.origin import Origin
from leaderboard.rows.results import append_result
from leaderboard.rows.submissions import SubmissionMetadata, identity_of, store_blobs, store_samples, twin
from leaderboard.standings import count, scores
from problems.formats.bounded import DEFAULT_LIMITS, UploadLimits
from problems.formats.graded_rows import read_graded_rows
from problems.formats.incoming import IncomingSample, IncomingSubmission, SampleJudge
from problems.models import Release
from problems.sealing import told_problems
from runners.wire.protocol import Verdict

_ENDINGS = (".gz", ".jsonl", "-graded-solutions")


@dataclass(frozen=True)
class ImportTarget:
    """The entrant, release and track of imported results."""

    entrant: Entrant
    release: Release
    track: Track


@dataclass(frozen=True)
class ImportedResults:
    """The outcome of one file: the results stored, and those that were here already."""

    submission: Submission
    n_stored: int
    n_known: int


def import_results(
    user: Any, place: ImportTarget, source: Path | BinaryIO, filename: str, limits: UploadLimits = DEFAULT_LIMITS
) -> ImportedResults:
    """Store a graded file's samples with their results, all or nothing; the same file again changes nothing.

    `user` None is the site's own shell. Raises NotAllowed, Refused or Conflict, and PackRefused where the file cannot
    be read; what concerns one row names its line.
    """
    _check(user, place)
    matched = match(place.release, place.track, read_graded_rows(source, limits))
    incoming = _incoming(place, filename, matched, limits)
    metadata = SubmissionMetadata(place.entrant, place.release, [place.track], through=IMPORT)
    stored = store_blobs(incoming.samples)
    with transaction.atomic():
        count.hold(place.entrant.pk)
        submission = _submission(user, metadata, incoming, matched, stored)
        rows = dict(zip([(one.task_id, one.index) for one in incoming.samples], matched, strict=True))
        n_stored, n_known = _store_results(submission, place.track, rows)
        if n_stored:
            _conclude(user, submission, place, matched, n_stored)
    return ImportedResults(submission, n_stored, n_known)


def _check(user: Any, place: ImportTarget) -> None:
    if user is not None and not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser imports results.")
    check_is_open(place.release)
    check_tracks(place.release, [place.track])


def _incoming(
    place: ImportTarget, filename: str, matched: Sequence[Matched], limits: UploadLimits
) -> IncomingSubmission:
    """The samples as a submission of the same solutions would have them, and judged by the same rules of files."""
    catalogue = catalogue_of(place.release)
    judge = SampleJudge(catalogue, limits)
    samples = tuple(_sample(judge, one) for one in matched)
    full = {one.task_id for one in samples} >= catalogue.problems.keys()
    return IncomingSubmission(_name(filename), full, samples)


def _sample(judge: SampleJudge, one: Matched) -> IncomingSample:
    incoming = judge.of_record(one.row.answer, b"", one.number)
    if one.row.verdict == Verdict.INVALID and not incoming.invalid_reason:
        return replace(
            incoming, invalid_reason=str((one.row.podium or {}).get("reason") or "invalid where it was graded")
        )
    return incoming


def _name(filename: str) -> str:
    name = Path(filename).name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name


def _submission(
    user: Any,
    metadata: SubmissionMetadata,
    incoming: IncomingSubmission,
    matched: Sequence[Matched],
    stored: Mapping[bytes, str],
) -> Submission:
    """The submission with these very samples, made where it is new."""
    identity = identity_of(metadata, incoming)
    if found := twin(identity):
        return _checked_twin(found)
    submission, samples = store_samples(user, metadata, incoming, identity, stored)
    make_evaluations(submission, metadata.tracks[0], samples, matched[0].judge_version)
    if submission.asks_to_count:
        count.choose(user, submission, metadata.tracks)
    return submission


def _checked_twin(found: Submission) -> Submission:
    if not found.is_imported:
        raise Conflict(
            "already_submitted",
            f"These solutions are here as submission #{found.pk}, which this site's own nodes judge.",
        )
    scores.hold(found.pk)
    return found


def _store_results(submission: Submission, track: Track, rows: Mapping[tuple[str, int], Matched]) -> tuple[int, int]:
    """Append each row's result where the evaluation lacks it; what the site settled itself stays as it is.

    So does a sealed question to which the entrant replied before: the row is of another reply than the one that counts.
    """
    evaluations = Evaluation.objects.live().filter(submission=submission, track=track, sample__invalid_reason="")
    evaluations = evaluations.filter(sample__first_sent=None)
    known = _known(evaluations)
    n_stored = n_known = 0
    for one in evaluations.select_related("submission", "track", "problem", "sample").defer("problem__record"):
        matched = rows.get((one.problem.task_id, one.sample.index))
        if matched is None or matched.is_skipped_here:
            continue
        digest = matched.row.content_sha256
        if digest in known.get(one.pk, ()):
            n_known += 1
            continue
        _check_judge(one, matched)
        append_result(one, report_of(matched), Origin(ResultOrigin.IMPORTED, matched.is_ours, report_digest=digest))
        n_stored += 1
    return n_stored, n_known


def _known(evaluations: Iterable[Evaluation]) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    rows = Result.objects.filter(evaluation__in=evaluations, origin=ResultOrigin.IMPORTED)
    for pk, digest in rows.values_list("evaluation_id", "report_digest"):
        found.setdefault(pk, set()).add(digest)
    return found


def _check_judge(evaluation: Evaluation, matched: Matched) -> None:
    """An evaluation belongs to one version of the judge; a queued rerun of it is the fleet's to end."""
    if evaluation.judge_version != matched.judge_version:
        raise Conflict(
            "other_judge",
            f"Line {matched.number}: {matched.row.task_id} was judged by version {matched.judge_version}, but the"
            f" results that are here by version {evaluation.judge_version}. Import it for another entrant.",
            matched.number,
        )
    if evaluation.current_result_id is not None and evaluation.state != EvaluationState.DONE:
        words = f"Line {matched.number}: a rerun of {matched.row.task_id} is under way. Wait for it, then import again."
        raise Conflict("rerun_under_way", words, matched.number)


def _conclude(
    user: Any, submission: Submission, place: ImportTarget, matched: Sequence[Matched], n_stored: int
) -> None:
    track = place.track
    provenances = [one.provenance for one in matched if one.provenance]
    Submission.objects.filter(pk=submission.pk).update(measured_where=where_measured(provenances))
    submission.refresh_from_db()
    note_peaks(user, track, next((p["peaks"] for p in reversed(provenances) if p.get("peaks")), {}))
    scores.rescore(submission, track)
    scores.finish_if_done(submission)
    submission.refresh_from_db()
    count.settle(submission, user)
    told = set(told_problems(place.release).values_list("task_id", flat=True))  # its team reads the audit
    verdicts = Counter(one.row.verdict for one in matched if one.row.task_id in told)
    record(user, "import results", submission, track=track.slug, results=n_stored, verdicts=dict(verdicts))
