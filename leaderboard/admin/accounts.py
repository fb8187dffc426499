"""Accounts and groups in the admin, registered in place of the framework's own once those are (leaderboard/apps.py)."""

from typing import ClassVar

from django import forms
from django.contrib import admin
from django.contrib.auth import admin as framework
from django.contrib.auth.models import Group, User
from django.db import models

from leaderboard.admin.base import AuditedAdmin

admin.site.unregister([User, Group])


@admin.register(User)
class AccountAdmin(AuditedAdmin, framework.UserAdmin):  # type: ignore[type-arg]  # not subscriptable when Django runs
    """Edits are audited, by field. An account is made inactive, not deleted: what it did names it."""

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
