"""PODIUM_STAFF_MFA: an organiser without a second factor may do nothing but set one up."""

from collections.abc import Callable
from typing import Any

from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect

NEEDED = "On this site organisers need a second factor. Set up an authenticator app or a security key first."
_OPEN = ("/accounts/", "/account/sign-in/", "/static/", "/livez", "/readyz", "/metrics")


def lacks_second_factor(user: Any) -> bool:
    """Whether the setting asks the user for a second factor that is not set up. At most one query, for organisers."""
    return bool(settings.STAFF_MFA and getattr(user, "is_staff", False) and not is_mfa_enabled(user))


class StaffNeedSecondFactor:
    """Leads such an organiser to the page that sets one up. The API answers 403."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not settings.STAFF_MFA or request.path_info.startswith(_OPEN) or not lacks_second_factor(request.user):
            return self.get_response(request)
        if request.path_info.startswith("/api/"):
            return JsonResponse({"code": "second_factor_needed", "message": NEEDED}, status=403)
        messages.warning(request, NEEDED)
        return redirect("sign_in_methods")
