"""Teams: the list of one's own, the page of one with its members and invitations, and joining."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.actions.entrants import teams as acts
from leaderboard.errors import Refused
from leaderboard.models import Membership, Team, TeamInvitation
from leaderboard.models.entrants.team import TeamRole
from leaderboard.web.accounts.account_forms import JoinForm, TeamForm, TeamInvitationForm


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def teams(request: HttpRequest) -> HttpResponse:
    form = TeamForm(request.POST or None, label_suffix="")
    if request.method == "POST" and form.is_valid():
        try:
            made = acts.create_team(request.user, form.cleaned_data["name"].strip())
        except Refused as refused:
            form.add_error("name", refused.message)
        else:
            return redirect("team", made.slug)
    user: Any = request.user
    mine = Membership.objects.filter(user=user).select_related("team").order_by("team__name")
    context = {"current": "teams", "memberships": mine, "form": form}
    return render(request, "podium/entrants/teams.html", context, status=422 if form.is_bound else 200)


@login_required
@require_safe
def team(request: HttpRequest, slug: str) -> HttpResponse:
    return _page(request, _own_team_or_404(request, slug))


@login_required
@require_POST
@never_cache
def invite(request: HttpRequest, slug: str) -> HttpResponse:
    """An invitation that is not mailed is in this one answer and nowhere else."""
    found = _own_team_or_404(request, slug)
    form = TeamInvitationForm(request.POST)
    if not form.is_valid():
        return _page(request, found, 422, invitation_form=form)
    email, join_url = form.cleaned_data.get("email", ""), settings.SITE_URL + reverse("join_team")
    try:
        _, secret = acts.invite_to_team(request.user, found, form.cleaned_data["role"], email=email, join_url=join_url)
    except Refused as refused:
        form.add_error(None, refused.message)
    except OSError:  # and what smtplib raises
        form.add_error("email", "The mail could not be sent just now. Try again later, or leave the address empty.")
    else:
        if not email:
            return _page(request, found, 201, secret=secret, link=f"{join_url}#{secret}")
        messages.success(request, f"An invitation is on its way to {email}.")
        return redirect("team", slug)
    return _page(request, found, 422, invitation_form=form)


@login_required
@require_POST
def withdraw_team_invitation(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = _own_team_or_404(request, slug)
    invitation = get_object_or_404(TeamInvitation.objects.select_related("team"), team=found, pk=pk)
    return _act(request, slug, lambda: acts.withdraw_invitation(request.user, invitation), "It is withdrawn.")


@login_required
@require_POST
def change_role(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = _own_team_or_404(request, slug)
    member = get_object_or_404(found.memberships.select_related("user", "team"), pk=pk)
    role = request.POST.get("role", "")
    words = f"{member.user.username} is {role} of {found}."
    was = request.POST.get("was", "")
    return _act(request, slug, lambda: acts.set_role(request.user, member, role, was), words)


@login_required
@require_POST
def remove_member(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = _own_team_or_404(request, slug)
    member = get_object_or_404(found.memberships.select_related("user", "team"), pk=pk)
    words = f"{member.user.username} is no longer in {found}."
    answer = _act(request, slug, lambda: acts.remove_member(request.user, member), words)
    still_in = Team.objects.of(request.user).filter(pk=found.pk).exists()
    return answer if still_in else redirect("teams")


@login_required
@require_POST
def dissolve_team(request: HttpRequest, slug: str) -> HttpResponse:
    found = _own_team_or_404(request, slug)
    answer = _act(request, slug, lambda: acts.dissolve(request.user, found), f"{found} is dissolved.")
    return answer if Team.objects.filter(slug=slug).exists() else redirect("teams")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def join_team(request: HttpRequest) -> HttpResponse:
    """The invitation is typed or comes from the address's fragment, which browsers do not send (join.js)."""
    form = JoinForm(request.POST or None, label_suffix="")
    if request.method == "POST" and form.is_valid():
        try:
            joined = acts.join(request.user, form.cleaned_data["invitation"])
        except Refused as refused:
            form.add_error("invitation", refused.message)
        else:
            messages.success(request, f"You are in {joined} now.")
            return redirect("team", joined.slug)
    return render(request, "podium/entrants/join_team.html", {"form": form}, status=422 if form.is_bound else 200)


def _own_team_or_404(request: HttpRequest, slug: str) -> Team:
    return get_object_or_404(Team.objects.of(request.user), slug=slug)


def _page(request: HttpRequest, found: Team, status: int = 200, **more: Any) -> HttpResponse:
    members = list(found.memberships.select_related("user"))
    mine = next(one for one in members if one.user_id == request.user.pk)
    is_owner = mine.role == TeamRole.OWNER
    context = {
        "current": "teams", "team": found, "members": members, "mine": mine, "is_owner": is_owner,
        "roles": TeamRole.choices, "entrants": found.entrants.all(),
        "invitations": TeamInvitation.usable().filter(team=found).select_related("invited_by") if is_owner else [],
        "invitation_form": TeamInvitationForm(),
    }  # fmt: skip
    return render(request, "podium/entrants/team.html", context | more, status=status)


def _act(request: HttpRequest, slug: str, run: Any, done: str) -> HttpResponse:
    try:
        run()
    except Refused as refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, done)
    return redirect("team", slug)
