"""Answers the node API before the middleware for people: a node has no session, no form and no page."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.urls import Resolver404, resolve

from leaderboard.site.bounded_requests import NODE_API


class NodeCalls:
    """Middleware that stands before sessions and sign-in. Each view of the node API checks the node's own token."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(NODE_API):
            return self._get_response(request)
        try:
            match = resolve(request.path_info)
        except Resolver404:
            return self._get_response(request)
        request.resolver_match = match
        answer: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
        return answer
