"""The addresses for PMPP's client: each shown once and revocable; and the runs that were asked for over one."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models.fields.json import KT
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from leaderboard.actions.intake import pmpp_runs
from leaderboard.errors import Refused
from leaderboard.models import PmppRun, PmppToken
from leaderboard.web.accounts.pmpp_forms import PmppTokenForm
from leaderboard.web.shared.paging import other_parameters, page_of

MAX_RUNS = 1000
"""The newest that are listed."""


def _context(request: HttpRequest, form: PmppTokenForm | None = None) -> dict[str, Any]:
    visible = PmppToken.objects.visible_to(request.user)
    return {
        "page": page_of(request, visible.select_related("user", "entrant", "release", "track")),
        "parameters": other_parameters(request),
        "form": form or PmppTokenForm(user=request.user),
        "now": timezone.now(),
    }


@login_required
@require_safe
def tokens(request: HttpRequest) -> HttpResponse:
    return render(request, "podium/accounts/pmpp.html", _context(request))


@login_required
@require_POST
@never_cache
def new_token(request: HttpRequest) -> HttpResponse:
    """The address is in this one answer and nowhere else."""
    form = PmppTokenForm(request.POST, user=request.user)
    if not form.is_valid():
        return render(request, "podium/accounts/pmpp.html", _context(request, form), status=422)
    try:
        token, secret = pmpp_runs.issue_token(request.user, form.asked)
    except Refused as refusal:
        form.add_error(None, refusal.message)
        return render(request, "podium/accounts/pmpp.html", _context(request, form), status=422)
    shown = {"new_token": token, "address": f"{settings.PMPP_URL}/compat/pmpp/{secret}"}
    return render(request, "podium/accounts/pmpp.html", _context(request) | shown, status=201)


@login_required
@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(PmppToken.objects.visible_to(request.user), pk=pk)
    if pmpp_runs.revoke_token(request.user, token):
        messages.success(request, f"“{token.name}” is revoked.")
    return redirect("pmpp_tokens")


@login_required
@require_safe
def runs(request: HttpRequest, pk: int) -> HttpResponse:
    """The runs of a token in the last week, with their verdicts; those without one are not graded."""
    visible = PmppToken.objects.visible_to(request.user).select_related("user", "entrant", "release", "track")
    token = get_object_or_404(visible, pk=pk)
    rows = PmppRun.objects.filter(token=token).select_related("problem").defer("problem__record", "outcome")
    rows = rows.annotate(verdict=KT("outcome__verdict"), reason=KT("outcome__reason"))
    page = page_of(request, rows[:MAX_RUNS])
    context = {"token": token, "page": page, "parameters": other_parameters(request), "limit": MAX_RUNS}
    return render(request, "podium/accounts/pmpp_runs.html", context)
