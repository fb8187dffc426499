"""A hundred rows a page, with the rest of the URL kept."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest

PAGE_ROWS = 100


def page_of(request: HttpRequest, rows: Any) -> Page[Any]:
    """The page that the URL asks for; one beyond the last is the last."""
    return Paginator(rows, PAGE_ROWS).get_page(request.GET.get("page"))


def other_parameters(request: HttpRequest) -> str:
    """The query string without its page, ready for `page=` to follow."""
    kept = request.GET.copy()
    kept.pop("page", None)
    return f"{kept.urlencode()}&" if kept else ""
