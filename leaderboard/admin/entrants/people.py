"""Entrants, API tokens and invitations in the admin; a stored secret is nowhere to be shown."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils import timezone

from leaderboard.actions.accounts.invite import invite
from leaderboard.admin.audited import AuditedAdmin
from leaderboard.admin.base import Act, Outcome, ReadOnlyAdmin
from leaderboard.models import ApiToken, Entrant, Invitation
from leaderboard.models.audit import record


@admin.register(Entrant)
class EntrantAdmin(AuditedAdmin):
    list_display = ("name", "kind", "organisation", "owner", "team", "is_verified", "publishes_code", "page")
    list_filter = ("kind", "is_verified", "open_weights", "publishes_code")
    search_fields = ("name", "slug", "organisation", "owner__username", "team__name")
    list_select_related = ("owner", "team")
    prepopulated_fields = {"slug": ("name",)}
    autocomplete_fields = ("owner", "team")
    readonly_fields = ("created_at",)
    formfield_overrides: ClassVar = {models.URLField: {"assume_scheme": "https"}}

    def save_model(self, request: HttpRequest, obj: Entrant, form: Any, change: bool) -> None:
        """A new holder has an entry of its own, which names the old one."""
        was = Entrant.objects.select_related("owner", "team").get(pk=obj.pk).holder if change else ""
        super().save_model(request, obj, form, change)
        if change and {"owner", "team"} & set(form.changed_data):
            record(request.user, "set_holder", obj, was=was, now=obj.holder)


def _revoke(request: HttpRequest, token: ApiToken, _said: dict[str, Any]) -> Outcome:
    ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
    record(request.user, "revoke", token, owner=token.user.get_username())
    return [f"{token} of {token.user} is revoked."]


class InvitationAdminForm(forms.Form):
    note = forms.CharField(required=False, max_length=200, help_text="Whom it is for; organisers alone see it.")
    email = forms.EmailField(required=False, help_text="Only an account with this address may use it; empty: any.")
    days = forms.IntegerField(min_value=1, max_value=365, initial=14, help_text="How long it may be used.")


def _invite(request: HttpRequest, _row: None, said: dict[str, Any]) -> Outcome:
    _, secret = invite(request.user, days=said["days"], email=said["email"], note=said["note"])
    return ["Copy it now; it is not shown again. It is entered on the page that signs up:", secret]


def _withdraw(request: HttpRequest, invitation: Invitation, _said: dict[str, Any]) -> Outcome:
    Invitation.objects.filter(pk=invitation.pk, used_at=None).update(expires_at=timezone.now())
    record(request.user, "withdraw", invitation)
    return [f"{invitation} can no longer be used."]


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ("hint", "note", "email", "invited_by", "created_at", "expires_at", "used_at", "used_by")
    list_select_related = ("invited_by", "used_by")
    list_filter = ("created_at", ("used_at", admin.EmptyFieldListFilter))
    search_fields = ("note", "email", "used_by__username")
    exclude = ("digest",)
    list_acts = (
        Act("invite", "Invite", "An invitation to sign up, used once; shown once.", _invite,
            form=lambda _row: InvitationAdminForm),
    )  # fmt: skip
    acts = (
        Act("withdraw", "Withdraw", "It stops working at once.", _withdraw, offered=lambda one: one.used_at is None),
    )  # fmt: skip


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = ("hint", "name", "user", "scopes", "expires_at", "last_used_at", "revoked_at")
    list_select_related = ("user",)
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "last_used_at")
    search_fields = ("user__username", "name", "hint")
    exclude = ("digest",)
    acts = (
        Act("revoke", "Revoke", "It stops working at once.", _revoke, offered=lambda token: token.revoked_at is None),
    )  # fmt: skip
