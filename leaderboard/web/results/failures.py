"""Failures clustered by their first message: of a submission, and for organisers of a whole release."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard import visibility
from leaderboard.models import Evaluation, Submission, SubmissionState
from leaderboard.results.failures import MAX_BLOBS, MAX_FAILURES, Cluster, Failures, clusters_of, read_failures
from leaderboard.web.boards.tabs import release_context
from leaderboard.web.shared.lookups import chosen_track, release_or_404, submission_or_404, tracks_of
from problems.models import Problem, Release

MAX_CLUSTERS = 200
MAX_NAMED = 5
"""Problems and entrants that a row names; the rest is counted."""


@dataclass(frozen=True)
class ClusterRow:
    """A cluster with the problems and submissions that it names, each with its number of failures."""

    cluster: Cluster
    problems: Sequence[tuple[Problem, int]]
    submissions: Sequence[tuple[Submission, int]]
    n_more_problems: int
    n_more_submissions: int


@require_safe
def submission_failures(request: HttpRequest, pk: int) -> HttpResponse:
    """The page of failures, for users who may read why samples failed."""
    found, view = submission_or_404(request, pk)
    if not view.reasons:
        raise Http404(f"Why samples of submission #{pk} failed is its team's to read.")
    tracks = list(found.tracks.order_by("slug"))
    track = chosen_track(request, tracks)
    rows = Evaluation.objects.live().filter(submission=found, track=track)
    failures = read_failures(rows, view, of_one_submission=True)
    context = {"submission": found, "view": view, "tracks": tracks, "track": track, "is_organiser": view.notes}
    return render(request, "podium/results/submission_failures.html", context | _table(found.release, failures))


@require_safe
def release_failures(request: HttpRequest, slug: str) -> HttpResponse:
    """Across entrants, for organisers. Cancelled submissions and the site's own are left out."""
    release = release_or_404(request, slug)
    view = visibility.view_of_all(request.user)
    if view is None:
        raise Http404("The failures of all entrants are organisers' to read.")
    tracks = tracks_of(release)
    track = chosen_track(request, tracks)
    counted = visibility.visible_submissions(request.user, release).exclude(state=SubmissionState.CANCELLED)
    rows = Evaluation.objects.live().filter(submission__in=counted, track=track)
    context = release_context(request, release, "release_submissions") | {"tracks": tracks, "track": track}
    context |= {"across": True, "is_organiser": True} | _table(release, read_failures(rows, view))
    return render(request, "podium/results/release_failures.html", context)


def _table(release: Release, failures: Failures) -> dict[str, Any]:
    """Two queries."""
    clusters = clusters_of(failures.rows)
    named = [(one, one.by_problem[:MAX_NAMED], one.by_submission[:MAX_NAMED]) for one in clusters[:MAX_CLUSTERS]]
    problems = release.problems.defer("record").in_bulk({pk for _, places, _ in named for pk, _ in places})
    for problem in problems.values():
        problem.release = release
    owned = Submission.objects.select_related("entrant")
    submissions = owned.in_bulk({pk for _, _, places in named for pk, _ in places})
    rows = [
        ClusterRow(
            cluster=one,
            problems=[(problems[pk], n) for pk, n in by_problem],
            submissions=[(submissions[pk], n) for pk, n in by_submission],
            n_more_problems=len(one.by_problem) - len(by_problem),
            n_more_submissions=len(one.by_submission) - len(by_submission),
        )
        for one, by_problem, by_submission in named
    ]
    return {
        "rows": rows, "failures": failures, "n_clusters": len(clusters), "max_failures": MAX_FAILURES,
        "max_blobs": MAX_BLOBS, "max_clusters": MAX_CLUSTERS,
    }  # fmt: skip
