"""Pages that other sites show or read. Everybody gets the same answer as a stranger, so that caches may keep it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page, require_safe

from problems.models import Release, ReleaseState

STRANGER = AnonymousUser()
FRESH_SECONDS = 300

View = Callable[..., HttpResponseBase]


def shareable(view: View) -> View:
    """Wraps a view: GET and HEAD alone, an ETag, fresh for five minutes. The view must not read the session."""

    @require_safe
    @conditional_page
    @cache_control(public=True, max_age=FRESH_SECONDS)
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return view(request, *args, **kwargs)

    return wrapped


def public_releases() -> QuerySet[Release]:
    """The published releases whose boards a stranger may see."""
    return Release.objects.visible_to(STRANGER).exclude(state=ReleaseState.DRAFT)


def public_release_or_404(slug: str) -> Release:
    return get_object_or_404(public_releases(), slug=slug)


def absolute(path: str) -> str:
    """The address with the site's scheme and host, for other sites."""
    return f"{settings.SITE_URL}{path}"
