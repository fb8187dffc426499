"""Refuses requests of any address that are larger than the site takes, or that have a NUL in their address."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse

SLACK = 2
"""Up to so many times the bound a page may answer in its own words; beyond, nothing is read."""
NODE_API = "/api/node/"
"""Has bounds of its own, and asks for the node's token before it reads."""


class BoundedRequests:
    """Refuses by the announced length, before anything reads the body: Django would write any file to disk, and the
    check for CSRF reads the whole form of every sender. A body without a length is empty to the server."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if _is_too_large(request):
            bound = f"{settings.UPLOAD_MAX_BYTES / 1024 / 1024:.0f} MiB"
            words = f"The upload is larger than {bound}, the most that this site takes. Send fewer samples at a time."
            return _refusal(request, 413, "too_large", words)
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return _refusal(request, 400, "bad_address", "The address holds a NUL, which no name here has.")
        return self._get_response(request)


def _is_too_large(request: HttpRequest) -> bool:
    length = request.META.get("CONTENT_LENGTH") or "0"
    if request.path.startswith(NODE_API):
        return False
    return not length.isdigit() or int(length) > SLACK * settings.UPLOAD_MAX_BYTES


def _refusal(request: HttpRequest, status: int, code: str, words: str) -> HttpResponse:
    if request.path.startswith("/api/"):
        return JsonResponse({"code": code, "message": words}, status=status)
    return HttpResponse(f"{words}\n", status=status, content_type="text/plain; charset=utf-8")
