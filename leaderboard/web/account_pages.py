"""A person's own page: entrants and their teams, and API tokens, each shown once and revocable."""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from leaderboard import quotas
from leaderboard.models import ApiToken, Entrant
from leaderboard.models.audit import record
from leaderboard.web.account_forms import EntrantForm, TeamForm, TokenForm
from leaderboard.web.lookups import own_entrant_or_404


def _account_context(request: HttpRequest) -> dict[str, Any]:
    return {
        "entrants": Entrant.objects.submittable_by(request.user).select_related("owner").prefetch_related("team"),
        "tokens": ApiToken.objects.filter(user__username=request.user.get_username()),
        "token_form": TokenForm(label_suffix=""),
        "now": timezone.now(),
        "today": quotas.of_today(request.user),
    }


@login_required
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    return render(request, "podium/account.html", _account_context(request))


@login_required
@require_POST
@never_cache
def new_token(request: HttpRequest) -> HttpResponse:
    """The secret is in this one answer and nowhere else."""
    form = TokenForm(request.POST, label_suffix="")
    if not form.is_valid():
        return render(request, "podium/account.html", _account_context(request) | {"token_form": form}, status=422)
    said = form.cleaned_data
    expires_at = timezone.now() + timedelta(days=said["days"])
    token, secret = ApiToken.issue(request.user, said["name"], said["scopes"], expires_at)
    record(request.user, "issue_token", token, scopes=token.scopes, expires=expires_at.isoformat())
    context = _account_context(request) | {"new_token": token, "secret": secret}
    return render(request, "podium/account.html", context, status=201)


@login_required
@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(ApiToken, pk=pk, user_id=request.user.pk)
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        record(request.user, "revoke_token", token)
        messages.success(request, f"Token “{token.name}” is revoked.")
    return redirect("account")


@login_required
def new_entrant(request: HttpRequest) -> HttpResponse:
    form = EntrantForm(request.POST or None, user=request.user)
    if form.is_valid():
        entrant = form.create_for(request.user)
        messages.success(request, f"{entrant.name} is here. You may submit for it now.")
        return redirect("submit") if request.GET.get("next") == "submit" else redirect("edit_entrant", entrant.slug)
    return render(request, "podium/entrant_form.html", {"form": form}, status=422 if form.is_bound else 200)


@login_required
def edit_entrant(request: HttpRequest, slug: str) -> HttpResponse:
    entrant = own_entrant_or_404(request, slug)
    form = EntrantForm(request.POST or None, instance=entrant, user=request.user)
    if form.is_valid():
        changed = list(form.changed_data)
        form.save()
        record(request.user, "edit", entrant, fields=changed)
        messages.success(request, "Saved.")
        return redirect("edit_entrant", slug)
    context = {"form": form, "entrant": entrant, "team": entrant.team.all(), "team_form": TeamForm(label_suffix="")}
    return render(request, "podium/entrant_form.html", context, status=422 if form.is_bound else 200)


@login_required
@require_POST
def add_teammate(request: HttpRequest, slug: str) -> HttpResponse:
    entrant = own_entrant_or_404(request, slug)
    form = TeamForm(request.POST, label_suffix="")
    if form.is_valid():
        member = User.objects.get(username=form.cleaned_data["username"])
        entrant.team.add(member)
        record(request.user, "add_teammate", entrant, username=member.username)
        messages.success(request, f"{member.username} may now submit for {entrant.name}.")
        return redirect("edit_entrant", slug)
    context = {
        "form": EntrantForm(instance=entrant, user=request.user), "entrant": entrant, "team": entrant.team.all(),
        "team_form": form,
    }  # fmt: skip
    return render(request, "podium/entrant_form.html", context, status=422)


@login_required
@require_POST
def remove_teammate(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    entrant = own_entrant_or_404(request, slug)
    member = get_object_or_404(entrant.team, pk=pk)
    entrant.team.remove(member)
    record(request.user, "remove_teammate", entrant, username=member.username)
    messages.success(request, f"{member.username} may no longer submit for {entrant.name}.")
    return redirect("edit_entrant", slug)
