"""Accounts and groups in the admin, registered in place of the framework's own once those are (leaderboard/apps.py)."""

from typing import Any, ClassVar

from allauth.account.admin import EmailAddressAdmin
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django import forms
from django.contrib import admin
from django.contrib.auth import admin as framework
from django.contrib.auth.models import Group, User
from django.db import models, transaction
from django.http import HttpRequest

from leaderboard.actions.accounts.end_tokens import end_tokens, n_tokens_of
from leaderboard.admin.audited import AuditedAdmin
from leaderboard.admin.base import Act, Outcome
from leaderboard.models.audit import record

# Secrets of providers and of second factors are in no page of the admin.
admin.site.unregister([User, Group, EmailAddress, Authenticator, SocialApp, SocialToken, SocialAccount])


def _remove_factors(request: HttpRequest, user: User, _said: dict[str, Any]) -> Outcome:
    with transaction.atomic():
        removed = Authenticator.objects.filter(user=user).delete()[0]
        record(request.user, "remove_second_factors", user, removed=removed)
    return [f"{user} signs in without a second factor until a new one is set up."]


def _end_tokens(request: HttpRequest, user: User, _said: dict[str, Any]) -> Outcome:
    return [f"{end_tokens(request.user, user)} tokens of {user} are revoked."]


@admin.register(User)
class AccountAdmin(AuditedAdmin, framework.UserAdmin):  # type: ignore[type-arg]  # not subscriptable when Django runs
    """Edits are audited, by field. An account is made inactive, not deleted: what it did names it."""

    acts = (
        Act(
            "remove_factors", "Remove second factors",
            "Authenticator app, keys and recovery codes go: for somebody who has lost them. Make sure who is asking.",
            _remove_factors, offered=lambda user: Authenticator.objects.filter(user=user).exists(),
        ),
        Act(
            "end_tokens", "End tokens", "All API and PMPP tokens stop working. A new password alone ends none.",
            _end_tokens, offered=lambda user: n_tokens_of(user) > 0,
        ),
    )  # fmt: skip

    list_display = ("username", "email", "is_staff", "is_superuser", "is_active", "last_login", "date_joined")
    list_filter = ("is_staff", "is_superuser", "is_active", "groups")
    search_fields = ("username", "email", "first_name", "last_name")
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined")
    formfield_overrides: ClassVar = {models.ManyToManyField: {"widget": forms.CheckboxSelectMultiple}}
    fieldsets = (
        (None, {"fields": ("username", "password", "email", "first_name", "last_name")}),
        ("Rights", {"fields": ("is_active", "is_staff", "is_superuser", "groups")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )


@admin.register(Group)
class GroupAdmin(AuditedAdmin, framework.GroupAdmin):
    filter_horizontal = ()
    formfield_overrides: ClassVar = {models.ManyToManyField: {"widget": forms.CheckboxSelectMultiple}}


@admin.register(EmailAddress)
class AddressAdmin(AuditedAdmin, EmailAddressAdmin):
    """Edits are audited as edits of the account, because the audit keeps no address."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)

    def audited(self, row: EmailAddress) -> Any:
        return row.user
