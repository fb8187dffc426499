"""Bases of the endpoints: scopes, bounded pages, and look-ups that fail with words."""

from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from rest_framework import exceptions, generics
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.views import APIView

from leaderboard.api.site.permissions import HasScope

Row = TypeVar("Row", bound=Model)


class Pages(LimitOffsetPagination):
    """`?limit=` and `?offset=`; at most 500 rows at once."""

    default_limit = 100
    max_limit = 500


class NamedNotFound(exceptions.NotFound):
    """A row that the request's body names is not there. `pointer` is the JSON pointer of the name."""

    def __init__(self, words: str, pointer: str | None) -> None:
        super().__init__(words)
        self.pointer = pointer


class ApiView(APIView):
    """One endpoint."""

    permission_classes = [HasScope]


class ApiList(generics.ListAPIView[Any]):
    """One endpoint that lists rows."""

    permission_classes = [HasScope]
    pagination_class = Pages


def found(rows: QuerySet[Row], what: str, *, pointer: str | None = None, **lookup: Any) -> Row:
    """The one row among those the asker may see; raises NotFound. `pointer`: where the body names the row."""
    row = rows.filter(**lookup).first()
    if row is None:
        raise not_found(what, next(iter(lookup.values())), pointer)
    return row


def not_found(what: str, name: Any, pointer: str | None = None) -> exceptions.NotFound:
    """Does not tell hidden from absent."""
    return NamedNotFound(f"There is no {what} {name!r} that you may see.", pointer)
