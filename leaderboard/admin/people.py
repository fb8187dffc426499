"""Entrants and API tokens in the admin; a token's secret is nowhere to be shown."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils import timezone

from leaderboard.admin.base import Act, AuditedAdmin, Outcome, ReadOnlyAdmin
from leaderboard.models import ApiToken, Entrant
from leaderboard.models.audit import record


@admin.register(Entrant)
class EntrantAdmin(AuditedAdmin):
    list_display = ("name", "kind", "organisation", "owner", "is_verified", "publishes_code")
    list_filter = ("kind", "is_verified", "open_weights")
    search_fields = ("name", "organisation")
    list_select_related = ("owner",)
    prepopulated_fields = {"slug": ("name",)}
    autocomplete_fields = ("owner",)
    filter_horizontal = ("team",)
    readonly_fields = ("created_at",)
    formfield_overrides: ClassVar = {models.URLField: {"assume_scheme": "https"}}


def _revoke(request: HttpRequest, token: ApiToken, _said: dict[str, Any]) -> Outcome:
    ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
    record(request.user, "revoke", token, owner=token.user.get_username())
    return [f"{token} of {token.user} is revoked."]


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = ("hint", "name", "user", "scopes", "expires_at", "last_used_at", "revoked_at")
    list_select_related = ("user",)
    search_fields = ("user__username", "name", "hint")
    exclude = ("digest",)
    acts = (
        Act("revoke", "Revoke", "It stops working at once.", _revoke, offered=lambda token: token.revoked_at is None),
    )  # fmt: skip
