"""The account's data: all of it as one file, and the deletion of the account. Both ask for a recent sign-in."""

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard.accounts.kept_data import export_of
from leaderboard.actions.accounts.delete_account import delete_account
from leaderboard.errors import Refused
from leaderboard.models.audit import record
from leaderboard.web.accounts.account_forms import DeleteForm


@login_required
@require_safe
def account_data(request: HttpRequest) -> HttpResponse:
    return render(request, "podium/accounts/account_data.html", {"current": "account_data"})


@login_required
@require_safe
@never_cache
@reauthentication_required
def export_account(request: HttpRequest) -> HttpResponse:
    name = f"podium-{request.user.get_username()}-{timezone.now():%Y-%m-%d}.json"
    answer = JsonResponse(export_of(request.user), json_dumps_params={"indent": 1, "ensure_ascii": False})
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    record(request.user, "export_account", request.user)
    return answer


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@reauthentication_required
def remove_account(request: HttpRequest) -> HttpResponse:
    form = DeleteForm(request.POST or None, user=request.user)
    if request.method == "POST" and form.is_valid():
        try:
            delete_account(request.user)
        except Refused as refused:
            form.add_error(None, refused.message)
        else:
            logout(request)
            messages.success(request, "Your account is deleted.")
            return redirect("home")
    context = {"current": "account_data", "form": form}
    return render(request, "podium/accounts/account_delete.html", context, status=422 if form.is_bound else 200)
