"""A submission's page, its table of samples as htmx refreshes it, and what its team can do with it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from leaderboard.actions.submissions.cancel import cancel
from leaderboard.actions.submissions.choose import choose, counts_on, offered_tracks
from leaderboard.actions.submissions.rerun import rerun, why_not_here
from leaderboard.entrants.declared import facts_of
from leaderboard.errors import Refused
from leaderboard.models import AuditEntry, Decision, Evaluation, Submission
from leaderboard.models.submissions.submission import IMPORT
from leaderboard.submissions.sample_packs import pack_of
from leaderboard.visibility import SubmissionView
from leaderboard.web.results.verdicts import VERDICTS, to_choose_from
from leaderboard.web.shared.lookups import chosen_track, submission_or_404
from leaderboard.web.shared.paging import other_parameters, page_of
from leaderboard.web.submissions.matrix import matrix
from leaderboard.web.submissions.outcome import awaits_rank, first_failure_of, outcome_of, seals_part
from problems.models import Problem
from problems.spec.numbered import numbered

THROUGH = {
    "web": "on the site's pages",
    "cli": "by the command podium",
    "api": "through the API",
    "site": "by the site itself",
    IMPORT: "as results that an organiser imported",
}
"""Words for the ways by which a submission came."""


@require_safe
def submission(request: HttpRequest, pk: int) -> HttpResponse:
    found, view = submission_or_404(request, pk)
    decisions = Decision.objects.filter(submission=found).select_related("decided_by")
    history = AuditEntry.objects.filter(target=f"submission {found}"[:200]) if view.may_change else []
    context = {"view": view, "decisions": decisions, "history": history, "verdicts": to_choose_from(view)}
    context |= {"facts": facts_of(found), "counts_on": counts_on(found)}
    context |= {"why_no_rerun": why_not_here(found), "through": THROUGH[found.submitted_through]}
    context |= {"offered": offered_tracks(request.user, found)}
    context |= _samples_context(request, found, view)
    return render(request, "podium/submissions/submission.html", context)


@require_safe
@never_cache
def submission_samples(request: HttpRequest, pk: int) -> HttpResponse:
    """The table of samples alone; the page fetches it every two seconds while work is open."""
    found, view = submission_or_404(request, pk)
    return render(request, "podium/submissions/submission_samples.html", _samples_context(request, found, view))


def _samples_context(request: HttpRequest, found: Submission, view: SubmissionView) -> dict[str, Any]:
    tracks = list(found.tracks.all())
    track = chosen_track(request, tracks)
    page = page_of(request, problems_of(found))
    rows = matrix(found, track, list(page.object_list), view) if track else []
    is_live = found.has_open_work()
    return {
        "submission": found, "view": view, "is_live": is_live or awaits_rank(found, track),
        "outcome": outcome_of(request.user, found, track), "has_times": any(row.time_ms is not None for row in rows),
        "has_speedups": any(row.speedup is not None for row in rows),
        "first": None if is_live else first_failure_of(found, track, view), "is_over": not is_live,
        "seals_part": seals_part(found, view), "tracks": tracks, "track": track, "matrix": rows,
        "page": page, "parameters": other_parameters(request),
        "n_columns": found.n_samples_per_problem,
    }  # fmt: skip


def problems_of(found: Submission) -> Any:
    """The problems of its matrix, in the release's order: all of the release, or those that it answers."""
    rows = Problem.objects.filter(release=found.release_id).defer("record").order_by("position")
    if found.is_full:
        return rows
    return rows.filter(pk__in=found.samples.order_by().values("problem_id"))


@login_required
@require_POST
def cancel_submission(request: HttpRequest, pk: int) -> HttpResponse:
    found, _ = submission_or_404(request, pk)
    try:
        withdrawn = cancel(request.user, found, request.POST.get("reason", ""))
        messages.success(
            request, f"Cancelled. {numbered(withdrawn, 'evaluation', 'was')} withdrawn; what was done stays."
        )
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect(found)


@login_required
@require_POST
def choose_submission(request: HttpRequest, pk: int) -> HttpResponse:
    """Count it on the tracks named, which are one for each button."""
    found, _ = submission_or_404(request, pk)
    tracks = [track for track in found.tracks.all() if track.slug in request.POST.getlist("track")]
    try:
        fresh = ", ".join(track.slug for track in choose(request.user, found, tracks))
        words = (
            f"Submission #{pk} counts on {fresh} from now on." if fresh else "Nothing changed: it was chosen already."
        )
        messages.success(request, words)
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect(found)


@login_required
@require_POST
def rerun_submission(request: HttpRequest, pk: int) -> HttpResponse:
    """Run the evaluations with the verdict named (all when none is named) again."""
    found, view = submission_or_404(request, pk)
    rows = Evaluation.objects.live().filter(submission=found).select_related("submission__entrant", "current_result")
    verdict = request.POST.get("verdict")
    if verdict in VERDICTS:
        rows = view.told(rows).filter(told=verdict)
    try:
        queued = rerun(request.user, list(rows), request.POST.get("reason", ""))
        messages.success(
            request, f"{numbered(queued, 'evaluation', 'is')} queued again; old results stay until new ones land."
        )
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect(found)


@require_safe
def download(request: HttpRequest, pk: int) -> HttpResponse:
    """The samples as a solutions pack, as far as the user may read them."""
    found, view = submission_or_404(request, pk)
    if not view.solution:
        raise Http404(f"The code of submission #{pk} is not published.")
    stored = _stored(found, view)
    if not stored:
        raise Http404(f"Submission #{pk} holds no sample that you may read now.")
    response = HttpResponse(pack_of(found.release, stored, view), content_type="application/gzip")
    response["Content-Disposition"] = f'attachment; filename="{found.entrant.slug}-{found.pk}-solutions.tar.gz"'
    return response


def _stored(found: Submission, view: SubmissionView) -> list[str]:
    rows = found.samples.exclude(solution_sha256="").order_by("problem__position", "index")
    shown = [one.pk for one in found.release.problems.only("kind", "do_not_release") if view.shows(one)]
    return list(rows.filter(problem__in=shown).values_list("solution_sha256", flat=True))
