"""Answers with words where an address asks for what does not exist, or a part of the site does not answer.

The API words its own refusals.
"""

import logging
from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from leaderboard.errors import BadQuery, DatabaseUnavailable, Unavailable

logger = logging.getLogger(__name__)


def meant_by(error: Exception) -> Exception:
    """The refusal that an error of the database means, which is logged; any other error as it is."""
    if not isinstance(error, OperationalError | InterfaceError):
        return error
    logger.error("the database does not answer: %s", error)
    return DatabaseUnavailable()


class RefusedPages:
    """Middleware for the pages whose view raises BadQuery (400) or Unavailable (503), or whose database is too slow."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The page; None for any other error."""
        refusal = meant_by(error)
        if not isinstance(refusal, BadQuery | Unavailable):
            return None
        context = {"message": refusal.message, "address": request.path}
        return render(request, f"{refusal.status}.html", context, status=refusal.status)
