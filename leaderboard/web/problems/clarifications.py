"""Asking about a problem, by the form on its page."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from leaderboard.actions.curation.clarify import ask
from leaderboard.errors import Refused
from leaderboard.web.problems.clarification_forms import AskForm
from leaderboard.web.problems.problem import problem_context
from leaderboard.web.shared.lookups import problem_or_404


@login_required
@require_POST
def ask_about(request: HttpRequest, slug: str, problem_slug: str) -> HttpResponse:
    """Keep what was asked, and go back to the problem; a refusal shows the form again."""
    problem = problem_or_404(request, slug, problem_slug)
    form, status = AskForm(request.POST, label_suffix=""), 422
    if form.is_valid():
        try:
            asked = ask(request.user, problem, form.cleaned_data["kind"], form.cleaned_data["text"])
        except Refused as refusal:
            form.add_error(None, refusal.message)
            status = refusal.status
        else:
            messages.success(request, "The organisers have it. Their answer will stand on this page.")
            return redirect(asked)
    return render(
        request, "podium/problems/problem.html", problem_context(request, problem) | {"ask_form": form}, status=status
    )
