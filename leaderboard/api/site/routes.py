"""Addresses of endpoints: each answers with and without a slash at its end, and is documented once."""

from collections.abc import Sequence

from django.urls import URLPattern, path
from rest_framework.views import APIView

Route = tuple[str, type[APIView]]


def documented(routes: Sequence[Route]) -> list[URLPattern]:
    """The addresses that the OpenAPI description lists."""
    return [path(route, view.as_view(), name=f"api-{view.__name__.lower()}") for route, view in routes]


def with_slash(routes: Sequence[Route]) -> list[URLPattern]:
    """The same endpoints at addresses that end with a slash."""
    return [path(f"{route}/", view.as_view(schema=None)) for route, view in routes]
