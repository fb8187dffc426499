"""The address a request comes from, for the limits on sign-in: behind a proxy, the one that the proxy saw."""

from django.conf import settings
from django.http import HttpRequest


def of(request: HttpRequest) -> str:
    """The last entry of X-Forwarded-For where there is a proxy in front, which appends it; whatever stands before it,
    and the whole header where there is no proxy, is the visitor's own word."""
    forwarded = request.headers.get("X-Forwarded-For", "") if settings.BEHIND_PROXY else ""
    return forwarded.rpartition(",")[2].strip() or str(request.META.get("REMOTE_ADDR", ""))
