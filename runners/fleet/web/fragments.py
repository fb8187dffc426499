"""The fleet's parts of other pages, which htmx fetches to refresh a page.

The first copy of each part comes with its page, from the template tags in `runners.fleet.templatetags.fleet`.
"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard.web.shared.lookups import evaluation_or_404, submission_or_404
from runners.fleet.web.fleet_state import fleet_state_context
from runners.fleet.web.progress import progress_context
from runners.fleet.web.track_state import track_states as states_of
from runners.fleet.web.work import work_context


@require_safe
@never_cache
def fleet_state(request: HttpRequest) -> HttpResponse:
    """On the home page: nodes online, jobs running and queued."""
    return render(request, "fleet/state.html", fleet_state_context())


@require_safe
@never_cache
def track_states(request: HttpRequest) -> HttpResponse:
    """On the form to submit: how busy the tracks are that `track` names; each part replaces the one of its id."""
    return render(request, "fleet/track_states.html", {"states": states_of(request.GET.getlist("track"))})


@require_safe
@never_cache
def submission_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """On a submission's page: its progress, its places in the queues, the nodes at work, and one sample's cases."""
    found, view = submission_or_404(request, pk)
    return render(request, "fleet/submission_progress.html", progress_context(view, found))


@require_safe
@never_cache
def evaluation_work(request: HttpRequest, pk: int) -> HttpResponse:
    """On an evaluation's page: its state, the running attempt, its cases and its log. Once it has ended, htmx reloads
    the page."""
    found, view = evaluation_or_404(request, pk)
    context = work_context(request.user, view, found) | {"is_refresh": True}
    response = render(request, "fleet/evaluation_work.html", context)
    if not found.is_open:
        response["HX-Refresh"] = "true"
    return response
