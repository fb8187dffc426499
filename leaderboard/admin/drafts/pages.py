"""The common parts of the pages of drafts."""

from typing import Any

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse

from leaderboard.admin.base import ActingAdmin
from problems.models import Release

PER_PAGE = 100


def page(
    admin: ActingAdmin, request: HttpRequest, template: str, title: str, status: int = 200, **context: Any
) -> TemplateResponse:
    shared = {**admin.admin_site.each_context(request), "opts": admin.opts, "title": title}
    return TemplateResponse(request, f"admin/drafts/{template}.html", shared | context, status=status)


def draft_or_404(pk: int) -> Release:
    found = get_object_or_404(Release, pk=pk)
    if not found.is_draft:
        raise Http404(f"{found.slug} is {found.state}: its problems never change. Start its next revision.")
    return found
