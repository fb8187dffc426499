"""Trials from a problem's page: its form starts one, and what came of it is shown beside the form."""

import hashlib
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST, require_safe

from leaderboard.actions.intake.try_solution import try_solution
from leaderboard.errors import Refused
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import Trial
from leaderboard.models.submissions.trial import OPEN_TRIALS
from leaderboard.results.listings import build_log, kernels_of
from leaderboard.results.logs import SHOWN_BYTES, log_text
from leaderboard.results.shown_cases import shown_trial_cases
from leaderboard.visibility import visible_trials
from leaderboard.web.intake.submit_forms import AnswerForm, TypedForm, keep_typed, refuse, typed_form
from leaderboard.web.problems.problem import problem_context
from leaderboard.web.shared.lookups import problem_or_404
from problems.formats.submission import PackRefused, single_solution
from problems.models import Problem
from runners.wire.protocol import Verdict


@login_required
@require_POST
def run_typed(request: HttpRequest, slug: str, problem_slug: str) -> HttpResponse:
    """Try what is typed on the first track chosen. A refusal has its words beside the form."""
    problem = problem_or_404(request, slug, problem_slug)
    form = typed_form(request, problem, request.POST)
    keep_typed(request.user, problem, form)
    trial = _attempt(request, problem, form) if form.is_valid() else None
    if _is_fragment(request):
        context = _context(request, trial) if trial else {"errors": form.errors}
        return render(request, "podium/intake/trial.html", context)
    if trial:
        return redirect("trial", trial.pk)
    context = problem_context(request, problem) | {"form": form}
    return render(request, "podium/problems/problem.html", context, status=form.refused_status)


def _attempt(request: HttpRequest, problem: Problem, form: TypedForm | AnswerForm) -> Trial | None:
    try:
        draft = single_solution(problem.task_id, form.typed, catalogue_of(problem.release))
        return try_solution(request.user, problem, form.cleaned_data["tracks"][0], draft.samples[0], form.sizes)
    except (PackRefused, Refused) as refusal:
        refuse(form, None, refusal)
        return None


@require_safe
def trial(request: HttpRequest, pk: int) -> HttpResponse:
    """One of the user's trials: a page of its own, or the part that a problem's page asks for again and again."""
    rows = visible_trials(request.user).select_related("problem__release", "track")
    context = _context(request, get_object_or_404(rows, pk=pk))
    if not _is_fragment(request):
        return render(request, "podium/intake/trial_page.html", context)
    if request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=204)  # htmx then leaves the page as it is, and nothing is read out again
    return render(request, "podium/intake/trial.html", context)


def _context(request: HttpRequest, found: Trial) -> dict[str, Any]:
    """The context of `podium/intake/trial.html`: `content` is what the user sees, and `seen` is its digest."""
    content = render_to_string("podium/intake/trial_content.html", _facts(request, found), request)
    seen = hashlib.sha256(content.encode()).hexdigest()[:16]
    return {"trial": found, "is_open": found.state in OPEN_TRIALS, "content": content, "seen": seen}


def _facts(request: HttpRequest, found: Trial) -> dict[str, Any]:
    outcome = found.outcome or {}
    cases = shown_trial_cases(request.user, outcome.get("cases", ()))
    failed = [one for one in cases if one.verdict != Verdict.PASSED]
    return {
        "trial": found,
        "is_open": found.state in OPEN_TRIALS,
        "verdict": outcome.get("verdict", ""),
        "reason": outcome.get("reason", ""),
        "sizes": ", ".join(f"{name} = {length}" for name, length in found.sizes.items()),
        "kernels": kernels_of(build_log(outcome.get("steps", ()))),
        "has_listing": bool(outcome.get("listing")),
        "cases": failed[:1] or cases,
        "n_cases": len(cases),
        "n_failed": len(failed),
        "steps": [
            {"name": step["name"], "text": log_text(step.get("log") or {}, SHOWN_BYTES)}
            for step in outcome.get("steps", ())
        ],
    }


def _is_fragment(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"
