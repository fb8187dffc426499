"""Teams, and what users ask about entrants: claims and verifications, each with a ruling."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from leaderboard.actions.entrants.entrant_requests import rule
from leaderboard.actions.entrants.teams import put_in_charge
from leaderboard.admin import dashboard
from leaderboard.admin.base import Act, Outcome, ReadOnlyAdmin, admin_link
from leaderboard.admin.dashboard import SHOWN_LINES, Panel, PanelLine
from leaderboard.models import EntrantRequest, Membership, Team
from leaderboard.models.entrants.ownership import REASON_CHARACTERS, RequestState


class RulingForm(forms.Form):
    ruling = forms.CharField(
        max_length=REASON_CHARACTERS, widget=forms.Textarea(attrs={"rows": 3}), help_text="The asker reads it."
    )


def _grant(request: HttpRequest, asked: EntrantRequest, said: dict[str, Any]) -> Outcome:
    rule(request.user, asked, granted=True, words=said["ruling"])
    return [f"Granted: {asked}."]


def _refuse(request: HttpRequest, asked: EntrantRequest, said: dict[str, Any]) -> Outcome:
    rule(request.user, asked, granted=False, words=said["ruling"])
    return [f"Refused: {asked}."]


def _is_open(asked: EntrantRequest) -> bool:
    return asked.state == RequestState.OPEN


@admin.register(EntrantRequest)
class EntrantRequestAdmin(ReadOnlyAdmin):
    list_display = ("what", "kind", "entrant_link", "asked_by", "asked_at", "state", "ruled_by", "ruled_at")
    list_filter = ("state", "kind")
    search_fields = ("entrant__name", "asked_by__username", "reason")
    list_select_related = ("entrant", "asked_by", "ruled_by")
    acts = (
        Act("grant", "Grant", "A claim hands the entrant over to the asker. A verification gives it the badge.",
            _grant, form=lambda _row: RulingForm, offered=_is_open),
        Act("refuse", "Refuse", "Nothing changes but the answer.",
            _refuse, form=lambda _row: RulingForm, offered=_is_open),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[EntrantRequest]:
        return super().get_queryset(request).select_related("entrant", "asked_by")

    @admin.display(description="reason")
    def what(self, asked: EntrantRequest) -> str:
        return asked.reason[:100]

    @admin.display(description="entrant")
    def entrant_link(self, asked: EntrantRequest) -> str:
        return admin_link(asked.entrant)


class OwnerForm(forms.Form):
    username = forms.CharField(max_length=150, help_text="They become an owner, and join if they are not in the team.")


def _put_in_charge(request: HttpRequest, team: Team, said: dict[str, Any]) -> Outcome:
    put_in_charge(request.user, team, said["username"].strip())
    return [f"{said['username']} is an owner of {team}."]


class MembershipInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Membership
    fields = readonly_fields = ("user", "role", "joined_at")
    extra = 0
    can_delete = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        return super().get_queryset(request).select_related("user", "team")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


@admin.register(Team)
class TeamAdmin(ReadOnlyAdmin):
    list_display = ("name", "slug", "created_at")
    search_fields = ("name", "slug", "memberships__user__username")
    inlines = (MembershipInline,)
    acts = (
        Act("owner", "Put in charge", "For a team whose owners have gone.", _put_in_charge,
            form=lambda _row: OwnerForm),
    )  # fmt: skip


@dashboard.register("leaderboard.view_entrantrequest")
def _to_rule() -> Panel:
    rows = EntrantRequest.objects.filter(state=RequestState.OPEN)
    return Panel(
        "Claims and verification",
        "What users ask about entrants, oldest first.",
        reverse("admin:leaderboard_entrantrequest_changelist", query={"state__exact": "open"}),
        dashboard.bounded_count(rows),
        [
            PanelLine(
                f"{one.get_kind_display()} of {one.entrant}",
                reverse("admin:leaderboard_entrantrequest_change", args=[one.pk]),
                f"{one.asked_by}, {dashboard.ago(one.asked_at)} ago: {one.reason[:100]}",
            )
            for one in rows.select_related("entrant", "asked_by").order_by("id")[:SHOWN_LINES]
        ],
        "Nobody waits for a ruling.",
    )
