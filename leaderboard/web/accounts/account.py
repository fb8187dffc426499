"""A person's own pages: entrants; API tokens, each shown once and revocable; sign-in methods; quota."""

from datetime import timedelta
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialAccount
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from leaderboard.accounts import quotas
from leaderboard.actions.entrants import transfers
from leaderboard.errors import Refused
from leaderboard.models import ApiToken, DailyUse, Entrant, EntrantRequest, Transfer
from leaderboard.models.audit import record
from leaderboard.models.audit_values import edit_detail
from leaderboard.models.entrants.ownership import TransferState
from leaderboard.site import stale_forms
from leaderboard.web.accounts.account_forms import EntrantForm, RequestReasonForm, TokenForm, TransferForm
from leaderboard.web.shared.lookups import own_entrant_or_404

SHOWN_REQUESTS = 20
SHOWN_DAYS = 30
VERIFIED_FIELDS = frozenset({"name", "kind", "organisation", "url"})
"""The fields that an organiser has verified. A change of one ends the verification."""
NO_LONGER_VERIFIED = " The entrant is no longer verified, because who it is has changed. You can ask for it again."


@login_required
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """The entrants that are the user's to read, and what is offered or asked."""
    user: Any = request.user
    asked = EntrantRequest.objects.filter(asked_by=user).select_related("entrant")
    context = {
        "current": "account",
        "entrants": Entrant.objects.readable_by(user).select_related("owner", "team"),
        "managed": set(Entrant.objects.managed_by(user).values_list("pk", flat=True)),
        "offers": transfers.open_to(user),
        "requests": asked[:SHOWN_REQUESTS],
    }
    return render(request, "podium/accounts/account.html", context)


def _tokens(request: HttpRequest, status: int = 200, **more: Any) -> HttpResponse:
    user: Any = request.user
    context = {
        "current": "tokens",
        "tokens": ApiToken.objects.filter(user=user),
        "token_form": TokenForm(label_suffix=""),
        "now": timezone.now(),
    }
    return render(request, "podium/accounts/account_tokens.html", context | more, status=status)


@login_required
@require_safe
def tokens(request: HttpRequest) -> HttpResponse:
    return _tokens(request)


@login_required
@require_POST
@never_cache
def new_token(request: HttpRequest) -> HttpResponse:
    """The secret is in this one answer and nowhere else."""
    form = TokenForm(request.POST, label_suffix="")
    if not form.is_valid():
        return _tokens(request, 422, token_form=form)
    said = form.cleaned_data
    expires_at = timezone.now() + timedelta(days=said["days"])
    token, secret = ApiToken.issue(request.user, said["name"], said["scopes"], expires_at)
    record(request.user, "issue_token", token, scopes=token.scopes, expires=expires_at.isoformat())
    return _tokens(request, 201, new_token=token, secret=secret)


@login_required
@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(ApiToken, pk=pk, user_id=request.user.pk)
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        record(request.user, "revoke_token", token)
        messages.success(request, f"Token “{token.name}” is revoked.")
    return redirect("tokens")


@login_required
@require_safe
def sign_in_methods(request: HttpRequest) -> HttpResponse:
    """The user's ways to sign in; each is changed on the pages of allauth."""
    user: Any = request.user
    factors = list(Authenticator.objects.filter(user=user).order_by("created_at"))
    context = {
        "current": "sign_in_methods",
        "emails": EmailAddress.objects.filter(user=user).order_by("-primary", "email"),
        "totp": next((one for one in factors if one.type == Authenticator.Type.TOTP), None),
        "keys": [one for one in factors if one.type == Authenticator.Type.WEBAUTHN],
        "codes": next((one for one in factors if one.type == Authenticator.Type.RECOVERY_CODES), None),
        "linked": SocialAccount.objects.filter(user=user),
        "providers": get_adapter().list_providers(request),
    }
    return render(request, "podium/accounts/account_sign_in.html", context)


@login_required
@require_safe
def quota(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    since = timezone.now().date() - timedelta(days=SHOWN_DAYS)
    days = DailyUse.objects.filter(user=user, day__gt=since)
    context = {"current": "quota", "today": quotas.of_today(request.user), "days": days, "n_days": SHOWN_DAYS}
    return render(request, "podium/accounts/account_quota.html", context)


@login_required
def new_entrant(request: HttpRequest) -> HttpResponse:
    form = EntrantForm(request.POST or None, user=request.user)
    entrant = form.is_valid() and _created(form, request.user)
    if entrant:
        messages.success(request, f"{entrant.name} is here. You may submit for it now.")
        return redirect("submit") if request.GET.get("next") == "submit" else redirect("edit_entrant", entrant.slug)
    return render(request, "podium/entrants/entrant_form.html", {"form": form}, status=422 if form.is_bound else 200)


def _created(form: EntrantForm, user: Any) -> Entrant | None:
    """The new row; None if it is refused. The form then says why."""
    try:
        return form.create_for(user)
    except Refused as refusal:
        form.add_error(None, refusal.message)
        return None


@login_required
def edit_entrant(request: HttpRequest, slug: str) -> HttpResponse:
    """The row is locked before the form reads it, so that two who manage it do not overwrite each other's edits."""
    with transaction.atomic():
        entrant = own_entrant_or_404(request, slug)
        if request.method == "POST":
            stale_forms.lock(entrant)
            entrant.refresh_from_db()
        form = EntrantForm(request.POST or None, instance=entrant, user=request.user)
        if form.is_valid():
            ended = _save_entrant(request, form)
            messages.success(request, f"Saved.{NO_LONGER_VERIFIED if ended else ''}")
            return redirect("edit_entrant", slug)
    return entrant_page(request, entrant, 422 if form.is_bound else 200, form=form)


def _save_entrant(request: HttpRequest, form: EntrantForm) -> bool:
    """Save what the form changed. Returns whether that ended the entrant's verification."""
    changed, entrant = list(form.changed_data), form.instance
    was = {name: form.initial.get(name) for name in changed}
    ended = entrant.is_verified and bool(VERIFIED_FIELDS & set(changed))
    if ended:
        entrant.is_verified = False
    if changed:
        entrant.save(update_fields=[*changed, *(["is_verified"] if ended else [])])
        detail = edit_detail(was, {name: form.cleaned_data[name] for name in changed})
        record(request.user, "edit", entrant, **detail, is_verified=entrant.is_verified)
    return ended


def entrant_page(request: HttpRequest, entrant: Entrant, status: int = 200, **more: Any) -> HttpResponse:
    """The page that edits an entrant, with its offer and its verification."""
    user: Any = request.user
    asked = EntrantRequest.objects.filter(entrant=entrant, asked_by=user, kind="verify").first()
    context = {
        "form": EntrantForm(instance=entrant, user=request.user),
        "entrant": entrant,
        "offer": Transfer.objects.filter(entrant=entrant, state=TransferState.OFFERED)
        .select_related("to_user", "to_team")
        .first(),
        "transfer_form": TransferForm(label_suffix=""),
        "verify_form": RequestReasonForm(label_suffix=""),
        "verification": asked,
    }
    return render(request, "podium/entrants/entrant_form.html", context | more, status=status)
