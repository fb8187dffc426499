"""Answers 503 with words where a part of the site does not answer. The API words its own refusals."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from leaderboard.errors import Unavailable


class UnavailablePages:
    """Middleware for the pages whose view raises Unavailable."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The page; None for any other error."""
        if not isinstance(error, Unavailable):
            return None
        return render(request, "503.html", {"message": error.message}, status=error.status)
