"""Podium's admin site: navigation by task, a dashboard as its home, and a page for the tables nobody needs daily."""

from functools import cache
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import admin
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from leaderboard.admin import dashboard, first_run, navigation


class PodiumAdminSite(admin.AdminSite):
    site_title = site_header = "Podium administration"
    index_title = "Dashboard"
    empty_value_display = "–"

    def get_urls(self) -> list[Any]:
        own: list[URLPattern] = [path("more/", self.admin_view(self.more), name="more_tables")]
        return own + super().get_urls()

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Django's context with the navigation; its list of apps is left out, because no template of ours shows it."""
        return {
            "site_title": self.site_title,
            "site_header": self.site_header,
            "site_url": self.site_url,
            "has_permission": self.has_permission(request),
            "is_popup": False,
            "is_nav_sidebar_enabled": False,
            "log_out_url": "account_logout",
            "tasks": navigation.tasks(self, request) if self.has_permission(request) else [],
        }

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Organisers sign in as everybody does, so that a second factor, once set up, is always asked for."""
        if self.has_permission(request):
            return redirect("admin:index")
        if request.user.is_authenticated:
            context = {**self.each_context(request), "title": "Not yours to open", **(extra_context or {})}
            return TemplateResponse(request, "admin/login.html", context, status=403)
        wanted = request.GET.get(REDIRECT_FIELD_NAME) or reverse("admin:index")
        return redirect(f"{resolve_url(settings.LOGIN_URL)}?{urlencode({REDIRECT_FIELD_NAME: wanted})}")

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """The start page: one panel for each thing that waits for an organiser."""
        context = {
            **self.each_context(request),
            "title": self.index_title,
            "panels": dashboard.panels(request),
            "steps": first_run.steps() if request.user.has_perm("problems.view_release") else (),
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/podium/dashboard.html", context)

    def app_index(
        self,
        request: HttpRequest,
        app_label: str,  # noqa: ARG002 - the base class's signature
        extra_context: dict[str, Any] | None = None,
    ) -> TemplateResponse:
        """Django's page of one app's tables, to which its own templates link: the dashboard stands for it."""
        return self.index(request, extra_context)

    def more(self, request: HttpRequest) -> HttpResponse:
        """Every table that the navigation leaves out."""
        tables = navigation.other_tables(self, request)
        context = {**self.each_context(request), "title": "More tables", "tables": tables}
        return TemplateResponse(request, "admin/podium/more.html", context)


@cache
def podium_site() -> PodiumAdminSite:
    """The one site. Importing it registers models, which asks for it again: both must get the same one."""
    return PodiumAdminSite()
