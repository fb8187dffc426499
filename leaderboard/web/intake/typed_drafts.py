"""Drafts of a problem's editor: saved while a user types, by the button without scripts, and discarded."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from leaderboard.actions.intake.keep_typed_draft import discard_typed_draft, keep_typed_draft
from leaderboard.errors import NotAllowed, Refused
from leaderboard.models import TypedDraft
from leaderboard.web.intake.submit_forms import TypedForm, refuse, typed_form
from leaderboard.web.problems.problem import problem_context
from leaderboard.web.shared.lookups import problem_or_404
from problems.models import Problem

UNPROCESSABLE = 422


@login_required
@require_POST
def save_draft(request: HttpRequest, slug: str, problem_slug: str) -> HttpResponse:
    """Keep what is typed, bad paths included: it is a draft.

    A script gets JSON: `saved_at` (ISO 8601, UTC; null where no draft is left) and `faults`, why a path would be
    refused by the number of its field; or `message` with the status of a refusal.
    """
    problem = problem_or_404(request, slug, problem_slug)
    form = typed_form(request, problem, request.POST)
    if not isinstance(form, TypedForm):
        raise Http404(f"{problem.task_id} is a question: there is no draft of its answer.")
    try:
        kept = _act(request, problem, form)
    except NotAllowed as refusal:
        raise Http404(refusal.message) from refusal
    except Refused as refusal:
        if _is_script(request):
            return JsonResponse({"message": refusal.message}, status=UNPROCESSABLE)
        return _page_with_refusal(request, problem, form, refusal)
    if _is_script(request):
        faults = {} if "discard" in request.POST else form.path_faults
        return JsonResponse({"saved_at": kept.saved_at.isoformat() if kept else None, "faults": faults})
    messages.info(request, _words(kept, form))
    query = urlencode({"language": form.language, "track": request.POST.get("tracks", "")})
    return redirect(f"{reverse('problem', args=[slug, problem_slug])}?{query}#try")


def _act(request: HttpRequest, problem: Problem, form: TypedForm) -> TypedDraft | None:
    if "discard" in request.POST:
        discard_typed_draft(request.user, problem, form.language)
        return None
    return keep_typed_draft(request.user, problem, form.language, form.typed)


def _page_with_refusal(request: HttpRequest, problem: Problem, form: TypedForm, refusal: Refused) -> HttpResponse:
    form.is_valid()
    refuse(form, None, refusal)
    context: dict[str, Any] = problem_context(request, problem) | {"form": form}
    return render(request, "podium/problems/problem.html", context, status=UNPROCESSABLE)


def _words(kept: TypedDraft | None, form: TypedForm) -> str:
    if kept is None:
        return "The draft is discarded."
    saved = f"Draft saved at {kept.saved_at:%H:%M} UTC."
    return " ".join([saved, *(f"It would not be graded yet: {reason}." for reason in form.path_faults.values())])


def _is_script(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")
