"""Finds the row that an address names, or answers 404, also to users who may not see it."""

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from leaderboard import visibility
from leaderboard.errors import refuse_unknown
from leaderboard.models import Entrant, Evaluation, Submission, Track
from leaderboard.visibility import SubmissionView
from problems.models import Problem, Release


def release_or_404(request: HttpRequest, slug: str) -> Release:
    return get_object_or_404(Release.objects.visible_to(request.user), slug=slug)


def problem_or_404(request: HttpRequest, release: str, slug: str) -> Problem:
    found = release_or_404(request, release)
    problem = get_object_or_404(found.problems, slug=slug)
    problem.release = found
    return problem


def entrant_or_404(request: HttpRequest, slug: str) -> Entrant:
    return get_object_or_404(visibility.visible_entrants(request.user), slug=slug)


def own_entrant_or_404(request: HttpRequest, slug: str) -> Entrant:
    """One that the user manages; a member of its team submits for it but does not edit it."""
    return get_object_or_404(Entrant.objects.managed_by(request.user).select_related("owner", "team"), slug=slug)


def submission_or_404(request: HttpRequest, pk: int) -> tuple[Submission, SubmissionView]:
    rows = Submission.objects.select_related("entrant", "release", "submitted_by").prefetch_related("tracks")
    return _seen(request, get_object_or_404(rows, pk=pk))


def evaluation_or_404(request: HttpRequest, pk: int) -> tuple[Evaluation, SubmissionView]:
    rows = visibility.visible_evaluations(request.user).select_related(
        "submission__entrant", "submission__release", "problem", "track", "sample", "current_result"
    )
    evaluation = get_object_or_404(rows, pk=pk)
    evaluation.problem.release = evaluation.submission.release
    _, view = _seen(request, evaluation.submission)
    return view.hide(evaluation), view


def _seen(request: HttpRequest, submission: Submission) -> tuple[Submission, SubmissionView]:
    view = visibility.view_of(request.user, submission)
    if not view.is_visible:
        raise Http404(f"There is no submission #{submission.pk} that you may see.")
    return submission, view


def tracks_of(release: Release) -> list[Track]:
    return list(Track.objects.filter(on_releases__release=release).order_by("slug"))


def chosen_track(request: HttpRequest, tracks: list[Track]) -> Track | None:
    """The track that the URL names, else the first; None where the release has none. Raises BadQuery."""
    asked = request.GET.get("track", "")
    refuse_unknown("track", asked, (track.slug for track in tracks))
    return next((track for track in tracks if track.slug == asked), tracks[0] if tracks else None)
