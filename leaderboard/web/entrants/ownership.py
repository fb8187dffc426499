"""Pages by which entrants change hands: offers of a transfer and their answers, claims, requests for verification."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.actions.entrants import entrant_requests, transfers
from leaderboard.errors import Refused
from leaderboard.models import Transfer
from leaderboard.models.entrants.ownership import RequestKind, TransferState
from leaderboard.web.accounts.account import entrant_page
from leaderboard.web.accounts.account_forms import RequestReasonForm, TransferForm
from leaderboard.web.shared.lookups import entrant_or_404, own_entrant_or_404


@login_required
@require_POST
def offer_entrant(request: HttpRequest, slug: str) -> HttpResponse:
    entrant = own_entrant_or_404(request, slug)
    form = TransferForm(request.POST, label_suffix="")
    if form.is_valid():
        to = form.cleaned_data["to"]
        try:
            transfers.offer(request.user, entrant, to)
        except Refused as refused:
            form.add_error(None, refused.message)
        else:
            entrant.refresh_from_db()
            done = entrant.team == to
            words = f"{entrant.name} belongs to {to} now." if done else f"{entrant.name} is offered to {to}."
            messages.success(request, words)
            return redirect("edit_entrant", slug)
    return entrant_page(request, entrant, 422, transfer_form=form)


@login_required
@require_POST
def withdraw_offer(request: HttpRequest, slug: str) -> HttpResponse:
    entrant = own_entrant_or_404(request, slug)
    offer = get_object_or_404(Transfer, entrant=entrant, state=TransferState.OFFERED)
    _say(request, transfers.withdraw, offer, "The offer is withdrawn.")
    return redirect("edit_entrant", slug)


@login_required
@require_POST
def answer_offer(request: HttpRequest, pk: int) -> HttpResponse:
    offer = get_object_or_404(transfers.open_to(request.user), pk=pk)
    if request.POST.get("answer") == "accept":
        _say(request, transfers.accept, offer, f"{offer.entrant.name} belongs to {offer.to_team or 'you'} now.")
    else:
        _say(request, transfers.decline, offer, f"You declined {offer.entrant.name}.")
    return redirect("account")


@login_required
@require_POST
def ask_verification(request: HttpRequest, slug: str) -> HttpResponse:
    entrant = own_entrant_or_404(request, slug)
    form = RequestReasonForm(request.POST, label_suffix="")
    if _asked(request, form, RequestKind.VERIFY, entrant):
        return redirect("edit_entrant", slug)
    return entrant_page(request, entrant, 422, verify_form=form)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def claim_entrant(request: HttpRequest, slug: str) -> HttpResponse:
    entrant = entrant_or_404(request, slug)
    form = RequestReasonForm(request.POST or None, label_suffix="")
    if request.method == "POST" and _asked(request, form, RequestKind.CLAIM, entrant):
        return redirect("account")
    may_ask = entrant_requests.may_ask(request.user, RequestKind.CLAIM, entrant)
    context = {"entrant": entrant, "form": form, "may_ask": may_ask}
    return render(request, "podium/entrants/claim.html", context, status=422 if form.is_bound else 200)


def _asked(request: HttpRequest, form: RequestReasonForm, kind: str, entrant: Any) -> bool:
    if not form.is_valid():
        return False
    try:
        entrant_requests.ask(request.user, kind, entrant, form.cleaned_data["reason"])
    except Refused as refused:
        form.add_error(None, refused.message)
        return False
    messages.success(request, "Asked. An organiser rules on it; your account page shows the answer.")
    return True


def _say(request: HttpRequest, act: Any, row: Any, done: str) -> None:
    try:
        act(request.user, row)
    except Refused as refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, done)
