"""Pages of a demo alone: the one-time links that its terminal prints, and the guide on its front page."""

from typing import Any

from allauth.account.utils import url_str_to_user_pk
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from problems.models import Problem, Release, ReleaseState

BACKEND = "django.contrib.auth.backends.ModelBackend"


@require_GET
@never_cache
def sign_in(request: HttpRequest, uidb64: str, key: str) -> HttpResponse:
    """Sign in by a link that works once: signing in changes what its key was made of."""
    if not settings.DEMO:
        raise Http404
    with transaction.atomic():
        user = _user_of(uidb64)
        if user is None or not default_token_generator.check_token(user, key):
            return render(request, "podium/site/demo_link_used.html", status=410)
        login(request, user, BACKEND)
    return redirect("admin:index" if user.is_staff else "home")


def _user_of(uidb64: str) -> User | None:
    """Held until the transaction ends, so that a link opened twice at once signs in once."""
    try:
        pk = int(url_str_to_user_pk(uidb64))  # type: ignore[no-untyped-call]
    except (ValueError, ValidationError):
        return None
    return User.objects.select_for_update().filter(pk=pk, is_active=True).first()


def guide() -> dict[str, Any]:
    """Where the front page's three paths begin; empty where this site is no demo."""
    if not settings.DEMO:
        return {}
    releases = Release.objects.exclude(state=ReleaseState.DRAFT)
    graded_here = releases.filter(on_tracks__track__device="cpu").order_by("published_at", "pk").first()
    browsed = releases.order_by("-published_at", "-pk").first()
    problem = Problem.objects.filter(release=graded_here).order_by("position").first() if graded_here else None
    return {"browsed": browsed, "graded_here": graded_here, "problem": problem}
