"""Answers with words where an address asks for what does not exist, or a part of the site does not answer.

The API words its own refusals.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from leaderboard.errors import BadQuery, Unavailable


class RefusedPages:
    """Middleware for the pages whose view raises BadQuery (400) or Unavailable (503)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The page; None for any other error."""
        if not isinstance(error, BadQuery | Unavailable):
            return None
        context = {"message": error.message, "address": request.path}
        return render(request, f"{error.status}.html", context, status=error.status)
