"""Two samples line by line: `/compare/code/?a=<evaluation>&b=<evaluation>`, and the form that chooses them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from leaderboard import blobs, visibility
from leaderboard.models import Evaluation, Sample, Track
from leaderboard.site import numerals
from leaderboard.submissions.rollouts import READ_BYTES, SampleUnreadable, read_sample
from leaderboard.submissions.side_by_side import compare_files
from leaderboard.web.shared.lookups import chosen_track, evaluation_or_404, problem_or_404, submission_or_404, tracks_of
from problems.models import Problem
from problems.spec.solution import SourceFile

MAX_OFFERED = 100
"""Samples of other submissions that the form offers, the fastest first."""
_SAMPLE = "sample-"


@dataclass(frozen=True)
class Side:
    """One of the two: a sample, by an evaluation of it where the address names one."""

    key: str
    """The name in the address."""
    title: str
    sample: Sample
    problem: Problem
    evaluation: Evaluation | None
    files: Sequence[SourceFile]
    fault: str
    """The reason why there are no files, or ""."""


@require_safe
def compare_code(request: HttpRequest) -> HttpResponse:
    """The page. `a` and `b` are an evaluation's number, or `sample-` and a sample's number.

    Unless both are given it has the form alone. Users who may not read a sample's code get 404.
    """
    left, right = _side(request, request.GET.get("a", "")), _side(request, request.GET.get("b", ""))
    problem, track = _place(request, left or right)
    offered = _offered(request.user, problem, track, left)
    files = compare_files(left.files, right.files) if left and right else []
    context = {
        "left": left, "right": right, "problem": problem, "release": problem.release, "track": track,
        "offered": offered, "files": files, "sides": [left, right],
        "is_same": bool(files) and all(row.kind == "same" for pair in files for row in pair.rows),
        "faults": [side.fault for side in (left, right) if side and side.fault],
    }  # fmt: skip
    return render(request, "podium/submissions/compare_code.html", context)


def _side(request: HttpRequest, key: str) -> Side | None:
    """The sample that the address names; None where it names none. Raises Http404."""
    if not key:
        return None
    number = key.removeprefix(_SAMPLE)
    if not (number.isascii() and number.isdecimal() and len(number) < 19):
        raise Http404(f"{key!r} names no sample: give an evaluation's number, or sample- and a sample's number.")
    return _of_sample(request, int(number)) if key.startswith(_SAMPLE) else _of_evaluation(request, int(number))


def _of_evaluation(request: HttpRequest, pk: int) -> Side:
    found, view = evaluation_or_404(request, pk)
    if not view.shows(found.problem):
        raise Http404(f"There is no code of evaluation {pk} that you may read.")
    found.sample.submission = found.submission
    return _with_files(str(pk), found.sample, found.problem, found)


def _of_sample(request: HttpRequest, pk: int) -> Side:
    sample = get_object_or_404(Sample.objects.select_related("problem"), pk=pk)
    sample.submission, view = submission_or_404(request, sample.submission_id)
    if not view.shows(sample.problem):
        raise Http404(f"There is no code of sample {pk} that you may read.")
    sample.problem.release = sample.submission.release
    return _with_files(f"{_SAMPLE}{pk}", sample, sample.problem, None)


def _with_files(key: str, sample: Sample, problem: Problem, evaluation: Evaluation | None) -> Side:
    title = f"{sample.submission.entrant.name}, submission #{sample.submission_id}, sample {sample.index + 1}"
    files: Sequence[SourceFile] = []
    fault = ""
    if sample.solution_bytes > READ_BYTES:
        return Side(key, title, sample, problem, evaluation, files, f"{title}: longer than {READ_BYTES >> 20} MiB.")
    try:
        files = read_sample(sample).files
    except SampleUnreadable as why:
        fault = f"{title}: {why}"
    except blobs.BlobsUnavailable:
        fault = f"{title}: the record cannot be read now; please try again in a while."
    return Side(key, title, sample, problem, evaluation, files, fault)


def _place(request: HttpRequest, side: Side | None) -> tuple[Problem, Track | None]:
    """The problem and track whose samples the form offers: the chosen sample's, else those that the address names."""
    if side is None:
        asked = request.GET
        problem = problem_or_404(request, asked.get("release", ""), asked.get("problem", ""))
        return problem, chosen_track(request, tracks_of(problem.release))
    if side.evaluation:
        return side.problem, side.evaluation.track
    return side.problem, chosen_track(request, tracks_of(side.problem.release))


def _offered(user: Any, problem: Problem, track: Track | None, left: Side | None) -> list[tuple[str, str]]:
    """Key and words of the samples that may be chosen: each submission's best, and all of the left one's submission."""
    best = (
        visibility.scores_with_readable_code(user, problem)
        .filter(track=track, best_evaluation__isnull=False)
        .select_related("submission__entrant", "best_evaluation__sample")
        .order_by(F("best_ms").asc(nulls_last=True), "submission_id")[:MAX_OFFERED]
    )
    rows = {
        str(one.best_evaluation_id): _words(one.submission, one.best_evaluation.sample, one.best_speedup)
        for one in best
        if one.best_evaluation
    }
    return list((_siblings(left) | rows).items())


def _siblings(left: Side | None) -> dict[str, str]:
    if left is None or left.evaluation is None:
        return {}
    found = left.evaluation
    rows = Evaluation.objects.filter(submission=found.submission_id, problem=found.problem_id, track=found.track_id)
    shown = rows.filter(purpose=found.purpose).select_related("sample", "current_result").order_by("sample__index")
    return {
        str(one.pk): _words(found.submission, one.sample, one.current_result.speedup if one.current_result else None)
        for one in shown[:MAX_OFFERED]
    }


def _words(submission: Any, sample: Sample, speedup: float | None) -> str:
    words = f"{submission.entrant.name}, submission #{submission.pk}, sample {sample.index + 1}"
    return f"{words}, {numerals.ratio(speedup)}" if speedup is not None else words
